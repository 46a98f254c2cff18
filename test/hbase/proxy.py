#!/usr/bin/env python3
"""test/hbase/proxy.py PORT METHOD: passes connections on to a gateway, until METHOD is called.

Prints its own port, and goes on in the background.  The call of METHOD still reaches the gateway; when the
answer comes, the proxy closes the client's connection instead of passing the answer on, and ends.
"""
import os
import selectors
import signal
import socket
import sys


def serve(listener, port, method):
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    peers = {}                  # of each socket of a connection the other one
    clients = set()
    called = None               # the gateway's side of the connection that has called METHOD
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listener:
                client, server = listener.accept()[0], socket.create_connection(('127.0.0.1', port))
                peers[client], peers[server] = server, client
                clients.add(client)
                waiting.register(client, selectors.EVENT_READ)
                waiting.register(server, selectors.EVENT_READ)
                continue
            piece = key.fileobj.recv(65536)
            if key.fileobj is called:
                return
            if key.fileobj in clients and method in piece:
                called = peers[key.fileobj]
            peers[key.fileobj].sendall(piece)
            if not piece:
                for end in (key.fileobj, peers[key.fileobj]):
                    waiting.unregister(end)
                    end.close()


def main():
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(8)
    if os.fork():
        print(listener.getsockname()[1])
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    signal.alarm(120)
    serve(listener, int(sys.argv[1]), sys.argv[2].encode())


main()
