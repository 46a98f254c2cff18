#!/usr/bin/env python3
"""test/hbase/proxy.py PORT METHOD [N]: passes connections on to a gateway, until METHOD is called.

Prints its own port, and goes on in the background.  The call of METHOD still reaches the gateway; when the
answer comes, the proxy closes the client's connection instead of passing the answer on, and ends.  With N it does
so with each N-th call, and does not end.
"""
import os
import selectors
import signal
import socket
import sys


def serve(listener, port, method, each):
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    peers = {}                  # of each socket of a connection the other one
    clients = set()
    doomed = set()              # the gateway's sides of connections that have called METHOD
    calls = 0
    while True:
        for key, _ in waiting.select():
            end = key.fileobj
            if end is listener:
                client, server = listener.accept()[0], socket.create_connection(('127.0.0.1', port))
                peers[client], peers[server] = server, client
                clients.add(client)
                waiting.register(client, selectors.EVENT_READ)
                waiting.register(server, selectors.EVENT_READ)
                continue
            if end not in peers:
                continue        # closed by what came before in this list
            try:
                piece = end.recv(65536)
            except OSError:
                piece = b''
            if end in doomed and not each:
                return
            if end in clients and method in piece:
                calls += 1
                if calls % (each or 1) == 0:
                    doomed.add(peers[end])
            if end not in doomed:
                peers[end].sendall(piece)
            if not piece or end in doomed:
                for one in (end, peers[end]):
                    waiting.unregister(one)
                    peers.pop(one)
                    doomed.discard(one)
                    clients.discard(one)
                    one.close()


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
    serve(listener, int(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3]) if len(sys.argv) > 3 else 0)


main()
