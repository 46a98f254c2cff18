#!/usr/bin/env python3
"""test/hbase/status.py STATUS [HEADER | endless]: answers each request over HTTP with STATUS, and with a header line, or with
a page that has no end.

Prints its own port, and goes on in the background, for five minutes at most.
"""
import http.server
import os
import signal
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        body = b'<p>This page is for people.'
        self.send_response(int(sys.argv[1]))
        if sys.argv[2:] == ['endless']:
            self.endless(body)
            return
        for header in sys.argv[2:]:
            self.send_header(*header.split(': ', 1))
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def endless(self, body):
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(body * 1000)
        except ConnectionError:
            pass


def main():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    if os.fork():
        print(server.server_address[1])
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    signal.alarm(300)
    server.serve_forever()


main()
