#!/usr/bin/env python3
"""test/hbase/tls.py PORT CERTIFICATE KEY [CA]: passes what comes over TLS on to a gateway's PORT, without TLS.

With CA, clients must have a certificate that CA has signed.  Prints its own port, and goes on in the background, for
five minutes at most.
"""
import os
import signal
import socket
import ssl
import sys
import threading


def passing_on(source, target):
    try:
        while True:
            piece = source.recv(65536)
            if not piece:
                break
            target.sendall(piece)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client, context, port):
    try:
        client = context.wrap_socket(client, server_side=True)
        server = socket.create_connection(('127.0.0.1', port))
    except OSError:             # also what goes wrong with TLS: the client does not trust the certificate
        client.close()
        return
    threading.Thread(target=passing_on, args=(server, client), daemon=True).start()
    passing_on(client, server)


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 4:
        context.load_verify_locations(sys.argv[4])
        context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(8)
    if os.fork():
        print(listener.getsockname()[1])
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    signal.alarm(300)
    while True:
        client = listener.accept()[0]
        threading.Thread(target=serve, args=(client, context, int(sys.argv[1])), daemon=True).start()


main()
