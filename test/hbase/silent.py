#!/usr/bin/env python3
"""test/hbase/silent.py: prints a port, takes connections there, and never answers."""
import socket
import time

listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(64)
print(listener.getsockname()[1], flush=True)
while True:
    time.sleep(3600)
