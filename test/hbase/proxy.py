#!/usr/bin/env python3
"""test/hbase/proxy.py PORT METHOD [lose N | hold N | single | count FILE]: passes connections on to a gateway.

Prints its own port, and goes on in the background, for two minutes at most.

    (no word)       the first call of METHOD still reaches the gateway; when the answer comes, the proxy closes the
                    client's connection instead of passing the answer on, and ends
    lose N          it does so with each N-th call of METHOD, and goes on
    hold N          answers to METHOD stay in the proxy until N connections wait for such an answer; then all pass
    single          the proxy takes one connection, and refuses all others
    count FILE      writes a line into FILE for each call of METHOD
"""
import os
import selectors
import signal
import socket
import sys


class Proxy:
    def __init__(self, listener, port, method):
        self.listener = listener
        self.port = port
        self.method = method
        self.ready = selectors.DefaultSelector()
        self.ready.register(listener, selectors.EVENT_READ)
        self.peers = {}         # of each socket of a connection the other one
        self.clients = set()

    def called(self, server):
        """METHOD has been called over a connection; server: its gateway's side."""

    def answers(self, server):
        """Something has come from the gateway; false: it is not to be passed on, and the proxy ends."""
        return True

    def accept(self):
        client, server = self.listener.accept()[0], socket.create_connection(('127.0.0.1', self.port))
        self.peers[client], self.peers[server] = server, client
        self.clients.add(client)
        for end in (client, server):
            self.ready.register(end, selectors.EVENT_READ)

    def close(self, end):
        for each in (end, self.peers[end]):
            if each in self.ready.get_map():
                self.ready.unregister(each)
            each.close()

    def pass_on(self, end):
        """Returns false when the proxy ends."""
        try:
            piece = end.recv(65536)
            if end not in self.clients and not self.answers(end):
                return False
            self.peers[end].sendall(piece)
        except ConnectionError:
            piece = b''
        if not piece:
            self.close(end)
        elif end in self.clients and self.method in piece:
            self.called(self.peers[end])
        return True

    def serve(self):
        while True:
            for key, _ in self.ready.select():
                if key.fileobj is self.listener:
                    self.accept()
                # the event may be of a connection that another event has closed, or that is held since
                elif key.fileobj.fileno() >= 0 and key.fileobj in self.ready.get_map() and not self.pass_on(key.fileobj):
                    return


class Lose(Proxy):
    server = None

    def called(self, server):
        self.server = server

    def answers(self, server):
        return server is not self.server


class LoseEach(Proxy):
    def __init__(self, listener, port, method, number):
        super().__init__(listener, port, method)
        self.number = int(number)
        self.calls = 0
        self.lost = set()

    def called(self, server):
        self.calls += 1
        if self.calls % self.number == 0:
            self.lost.add(server)

    def answers(self, server):
        if server in self.lost:
            self.lost.discard(server)
            raise ConnectionError
        return True


class Hold(Proxy):
    def __init__(self, listener, port, method, number):
        super().__init__(listener, port, method)
        self.number = int(number)
        self.held = []

    def called(self, server):
        if self.number == 0:
            return
        self.ready.unregister(server)
        self.held.append(server)
        self.held = [s for s in self.held if s.fileno() >= 0]
        if len(self.held) >= self.number:
            self.number = 0
            for each in self.held:
                self.ready.register(each, selectors.EVENT_READ)


class Single(Proxy):
    def accept(self):
        super().accept()
        self.ready.unregister(self.listener)
        self.listener.close()


class Count(Proxy):
    def __init__(self, listener, port, method, file):
        super().__init__(listener, port, method)
        self.file = open(file, 'w', encoding='ascii', buffering=1)

    def called(self, server):
        self.file.write(self.method.decode() + '\n')


def main():
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(8)
    port, method, *how = sys.argv[1:]
    proxy = {'': Lose, 'lose': LoseEach, 'hold': Hold, 'single': Single, 'count': Count}[how[0] if how else ''](listener, int(port), method.encode(), *how[1:])
    if os.fork():
        print(listener.getsockname()[1])
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    signal.alarm(120)
    proxy.serve()


main()
