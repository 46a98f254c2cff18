#!/usr/bin/env python3
"""test/hbase/proxy.py PORT METHOD [lose N | hold N | keep | stop PID | single | again FILE | replace FROM TO | count FILE]: passes
connections on to a gateway.

Prints its own port, and goes on in the background, for two minutes at most.

    (no word)       the first call of METHOD still reaches the gateway; when the answer comes, the proxy closes the
                    client's connection instead of passing the answer on, and ends
    lose N          it does so with each N-th call of METHOD, and goes on
    hold N          answers to METHOD stay in the proxy until N connections wait for such an answer; then all pass
    keep            the answer to the first call of METHOD never leaves the proxy
    stop PID        the process PID is stopped for three seconds when the first answer to METHOD comes, which it then gets
    single          the proxy takes one connection, and refuses all others
    again FILE      so it does until FILE exists; then it takes all, and does as `hold 2`
    replace FROM TO     in what comes over a connection, FROM becomes TO, which is as long
    count FILE      writes a line into FILE for each call of METHOD
"""
import os
import selectors
import signal
import socket
import sys
import time


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

    def passed(self, piece):
        """What the proxy makes of bytes that it passes on."""
        return piece

    def pause(self):
        """Is called ten times a second, and before each event."""

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
            self.peers[end].sendall(self.passed(piece))
        except ConnectionError:
            piece = b''
        if not piece:
            self.close(end)
        elif end in self.clients and self.method in piece:
            self.called(self.peers[end])
        return True

    def serve(self):
        while True:
            events = self.ready.select(0.1)
            self.pause()
            for key, _ in events:
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


class Keep(Proxy):
    kept = None

    def called(self, server):
        if self.kept is None:
            self.kept = server
            self.ready.unregister(server)


class Stop(Proxy):
    server = None

    def __init__(self, listener, port, method, pid):
        super().__init__(listener, port, method)
        self.pid = int(pid)

    def called(self, server):
        self.server = self.server or server

    def answers(self, server):
        if server is self.server and self.pid:
            os.kill(self.pid, signal.SIGSTOP)
            if not os.fork():
                time.sleep(3)
                os.kill(self.pid, signal.SIGCONT)
                os._exit(0)
            self.pid = 0
        return True


class Single(Proxy):
    def accept(self):
        super().accept()
        self.ready.unregister(self.listener)
        self.listener.close()


class Again(Hold):
    def __init__(self, listener, port, method, file):
        super().__init__(listener, port, method, 0)
        self.file = file
        self.address = listener.getsockname()

    def accept(self):
        super().accept()
        if self.address is None:
            return
        self.ready.unregister(self.listener)
        self.listener.close()

    def pause(self):
        if self.address is None or not os.path.exists(self.file):
            return
        self.listener = socket.create_server(self.address)
        self.ready.register(self.listener, selectors.EVENT_READ)
        self.address = None
        self.number = 2


class Replace(Proxy):
    def __init__(self, listener, port, method, old, new):
        super().__init__(listener, port, method)
        self.words = old.encode(), new.encode()

    def passed(self, piece):
        return piece.replace(*self.words)


class Count(Proxy):
    def __init__(self, listener, port, method, file):
        super().__init__(listener, port, method)
        self.file = open(file, 'w', encoding='ascii', buffering=1)

    def called(self, server):
        self.file.write(self.method.decode() + '\n')


def main():
    listener = socket.create_server(('127.0.0.1', 0), backlog=8)
    port, method, *how = sys.argv[1:]
    proxies = {
        '': Lose, 'lose': LoseEach, 'hold': Hold, 'keep': Keep, 'stop': Stop, 'single': Single, 'again': Again,
        'replace': Replace, 'count': Count
    }
    proxy = proxies[how[0] if how else ''](listener, int(port), method.encode(), *how[1:])
    if os.fork():
        print(listener.getsockname()[1])
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    signal.alarm(120)
    proxy.serve()


main()
