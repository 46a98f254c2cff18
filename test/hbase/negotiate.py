#!/usr/bin/env python3
"""test/hbase/negotiate.py PORT PIDFILE: passes calls over HTTP on to a gateway, of clients who prove by Kerberos who they are.

Others are answered with 401, as HBase's gateway does.  The service's key is in the keytab KRB5_KTNAME.  Prints its own
port, and goes on in the background, for ten minutes at most.
"""
import base64
import http.client
import http.server
import os
import signal
import sys

import gssapi


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def answer(self, status, body, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        scheme, _, token = self.headers.get('Authorization', '').partition(' ')
        context = gssapi.SecurityContext(usage='accept')
        try:
            reply = context.step(base64.b64decode(token)) if scheme == 'Negotiate' else None
        except gssapi.exceptions.GSSError:
            reply = None
        if not reply or str(context.initiator_name) != 'widecol@WIDECOL.TEST':
            self.answer(401, b'', ('WWW-Authenticate', 'Negotiate'))
            return
        gateway = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))
        gateway.request('POST', self.path, body, {'Content-Type': self.headers['Content-Type']})
        answer = gateway.getresponse()
        self.answer(answer.status, answer.read(), ('WWW-Authenticate', 'Negotiate ' + base64.b64encode(reply).decode()))


def main():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    child = os.fork()
    if child:
        with open(sys.argv[2], 'w') as pid:
            print(child, file=pid)
        print(server.server_address[1])
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    signal.alarm(600)
    server.serve_forever()


main()
