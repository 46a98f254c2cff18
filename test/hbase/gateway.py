#!/usr/bin/env python3
"""test/hbase/gateway.py PORT < COMMANDS: makes and fills HBase tables, through a gateway.

One command a line, its words separated by blanks; %XX in a word is a byte:

    namespace NS                            makes it
    create NS:TABLE FAMILY[=VERSIONS]... [/SPLIT]...
    put NS:TABLE ROW FAMILY:QUALIFIER VALUE [TIMESTAMP]
    delete NS:TABLE ROW FAMILY:QUALIFIER KIND [TIMESTAMP]      KIND as in TDeleteType
    fill NS:TABLE N FAMILY:QUALIFIER [FIRST]     N rows: row00000 ... with values 0 ..., or from FIRST on
    drop NS:TABLE                           if it is there
    dropfamily NS:TABLE FAMILY
    dropnamespace NS                        likewise

Transport buffered, protocol binary.  It knows nothing of widecol.
"""
import socket
import struct
import sys
from urllib.parse import unquote_to_bytes

BOOL, I32, I64, STRING, STRUCT, LIST = 2, 8, 10, 11, 12, 15


class Refused(Exception):
    """The gateway has answered with an exception."""


def string(value):
    return struct.pack('>I', len(value)) + value


def field(kind, number, value):
    return struct.pack('>bh', kind, number) + value


def structure(*fields):
    return b''.join(fields) + b'\0'


def items(kind, values):
    return struct.pack('>bI', kind, len(values)) + b''.join(values)


class Gateway:
    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), 120)
        self.number = 0

    def receive(self, size):
        got = b''
        while len(got) < size:
            piece = self.socket.recv(size - len(got))
            if not piece:
                raise EOFError('the gateway has closed the connection')
            got += piece
        return got

    def call(self, method, *fields):
        """Calls what answers with nothing, or with something that nobody wants."""
        self.number += 1
        self.socket.sendall(struct.pack('>I', 0x80010001) + string(method.encode()) +
                            struct.pack('>i', self.number) + structure(*fields))
        version, length = struct.unpack('>II', self.receive(8))
        self.receive(length + 4)
        refused = version & 0xff == 3
        text = self.fields(lambda number: refused or number != 0)
        if text is not None:
            raise Refused('%s: %s' % (method, text.decode(errors='replace').split('\n')[0]))

    def fields(self, wanted):
        """Reads a struct; the bytes of the first string in a field that is wanted, or None."""
        found = None
        while True:
            kind, = struct.unpack('>b', self.receive(1))
            if kind == 0:
                return found
            number, = struct.unpack('>h', self.receive(2))
            value = self.value(kind)
            if wanted(number) and found is None:
                found = value if isinstance(value, bytes) else b''

    def value(self, kind):
        if kind in (BOOL, 3):
            return self.receive(1)
        if kind in (I32, I64):
            return self.receive(4 if kind == I32 else 8)
        if kind == STRING:
            return self.receive(struct.unpack('>I', self.receive(4))[0])
        if kind == STRUCT:
            return self.fields(lambda number: True)
        if kind == LIST:
            of, n = struct.unpack('>bI', self.receive(5))
            return [self.value(of) for _ in range(n)]
        raise ValueError('type %d' % kind)


def column(word):
    family, qualifier = word.split(':', 1)
    return unquote_to_bytes(family), unquote_to_bytes(qualifier)


def table_name(word):
    ns, name = word.split(':')
    return structure(field(STRING, 1, string(ns.encode())), field(STRING, 2, string(name.encode())))


def put(row, where, value, timestamp=None):
    family, qualifier = column(where)
    cell = [field(STRING, 1, string(family)), field(STRING, 2, string(qualifier)), field(STRING, 3, string(value))]
    if timestamp is not None:
        cell.append(field(I64, 4, struct.pack('>q', int(timestamp))))
    return structure(field(STRING, 1, string(row)), field(LIST, 2, items(STRUCT, [structure(*cell)])))


def create(gateway, name, *words):
    families = []
    for word in words:
        if not word.startswith('/'):
            family, _, versions = word.partition('=')
            families.append(structure(field(STRING, 1, string(family.encode())),
                                      field(I32, 10, struct.pack('>i', int(versions or 1)))))
    splits = [string(unquote_to_bytes(word[1:])) for word in words if word.startswith('/')]
    arguments = [field(STRUCT, 1, structure(field(STRUCT, 1, table_name(name)), field(LIST, 2, items(STRUCT, families))))]
    if splits:
        arguments.append(field(LIST, 2, items(STRING, splits)))
    gateway.call('createTable', *arguments)


def delete(gateway, name, row, where, kind, timestamp=None):
    family, qualifier = column(where)
    named = [field(STRING, 1, string(family))]
    if int(kind) < 2:
        named.append(field(STRING, 2, string(qualifier)))
    if timestamp is not None:
        named.append(field(I64, 3, struct.pack('>q', int(timestamp))))
    gateway.call('deleteSingle', field(STRING, 1, string(name.encode())),
                 field(STRUCT, 2, structure(field(STRING, 1, string(unquote_to_bytes(row))),
                                            field(LIST, 2, items(STRUCT, [structure(*named)])),
                                            field(I32, 4, struct.pack('>i', int(kind))))))


def fill(gateway, name, n, where, begin=0):
    end = int(begin) + int(n)
    for first in range(int(begin), end, 1000):
        puts = [put(b'row%05d' % i, where, b'%d' % i) for i in range(first, min(first + 1000, end))]
        gateway.call('putMultiple', field(STRING, 1, string(name.encode())), field(LIST, 2, items(STRUCT, puts)))


def drop(gateway, name):
    try:
        gateway.call('disableTable', field(STRUCT, 1, table_name(name)))
        gateway.call('deleteTable', field(STRUCT, 1, table_name(name)))
    except Refused:
        pass


def drop_family(gateway, name, family):
    gateway.call('deleteColumnFamily', field(STRUCT, 1, table_name(name)), field(STRING, 2, string(family.encode())))


def drop_namespace(gateway, name):
    try:
        gateway.call('deleteNamespace', field(STRING, 1, string(name.encode())))
    except Refused:
        pass


def run(gateway, words):
    command, arguments = words[0], words[1:]
    if command == 'namespace':
        gateway.call('createNamespace', field(STRUCT, 1, structure(field(STRING, 1, string(arguments[0].encode())))))
    elif command == 'put':
        name, row, where, value = arguments[:4]
        gateway.call('put', field(STRING, 1, string(name.encode())),
                     field(STRUCT, 2, put(unquote_to_bytes(row), where, unquote_to_bytes(value), *arguments[4:])))
    else:
        {'create': create, 'delete': delete, 'fill': fill, 'drop': drop, 'dropfamily': drop_family, 'dropnamespace': drop_namespace}[command](gateway, *arguments)


def main():
    gateway = Gateway(int(sys.argv[1]))
    for line in sys.stdin:
        words = line.split('#')[0].split()
        if words:
            run(gateway, words)


if __name__ == '__main__':
    main()
