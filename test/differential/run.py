#!/usr/bin/env python3
"""Random tables, data and queries, over widecol and over a heap copy: the answers must be the same.

    run.py [--seed N] [--tables N] [--queries N] [psql options ...]

Prints the seed; what differs is printed as SQL that shows it.  Exit status 1 if anything does.
"""
import argparse
import random
import subprocess
import sys

TYPES = {
    'int2': ['-32768', '-1', '0', '1', '2', '7', '32767'],
    'int4': ['-2147483648', '-5', '-1', '0', '1', '2', '3', '2147483647'],
    'int8': ['-9223372036854775808', '-1', '0', '1', '5', '9223372036854775807'],
    'float8': ['-Infinity', '-1.5', '-0', '0', '1e-10', '2', 'Infinity', 'NaN'],
    'float4': ['-Infinity', '-1.5', '-0', '0', '0.1', '2', 'Infinity', 'NaN'],
    'numeric': ['-100', '-1.50', '-0.001', '0', '0.0', '1', '1.10', '1.1', '1e20', 'NaN'],
    'bool': ['t', 'f'],
    'date': ['-infinity', '1999-12-31', '2000-01-01', '2026-02-28', 'infinity'],
    'timestamp': ['-infinity', '1999-12-31 23:59:59.999999', '2000-01-01', '2026-02-28 12:00', 'infinity'],
    'timestamptz': ['-infinity', '1999-12-31 23:59:59.999999+00', '2000-01-01 00:00+00', 'infinity'],
    'uuid': ['00000000-0000-0000-0000-000000000000', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
              'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    'bytea': ['', '\\x00', '\\x0000', '\\x00ff', '\\x01', '\\xff', '\\xffff', '\\x61'],
    'text': ['', 'a', 'A', 'ab', 'abc', 'b', 'B', 'z', 'é', '日本', ' ', 'a b', 'a%', 'a_'],
    'varchar': ['', 'a', 'A', 'ab', 'b', 'z'],
}
# Equal values are one key, and any of them may be the maximum: kept out of the data.
NOT_AS_KEY = {'-0', '-1.50', '0.0', '1.10', '1e20'}
INTS = ('int2', 'int4', 'int8')
OPS = ['=', '<', '<=', '>', '>=', '<>']


def lit(value, type_):
    return "'" + value.replace("'", "''") + "'::" + type_


class Table:
    def __init__(self, rnd, n):
        self.rnd = rnd
        self.n = n
        self.delimiter = rnd.random() < 0.15
        self.keys = []
        nkeys = rnd.choice([1, 1, 2, 2, 3, 3, 4])
        if self.delimiter:
            nkeys = max(nkeys, 2)
        for i in range(nkeys):
            type_ = rnd.choice(['text', 'varchar', 'int4'] if self.delimiter else list(TYPES))
            options = ["rowkey '%d'" % (i + 1)]
            collate = ''
            if type_ in ('text', 'varchar'):
                collate = rnd.choice(['COLLATE "C"', 'COLLATE "C"', '', 'COLLATE "en-x-icu"'])
            if not self.delimiter and rnd.random() < 0.35:
                options.append("sort 'desc'")
            if (type_ in INTS or (type_ in ('float8', 'float4', 'bool') and len(options) == 1)) and rnd.random() < 0.2:
                options.append("encoding 'binary'")
            elif type_ == 'text' and not self.delimiter and rnd.random() < 0.15:
                options.append("length '8'")
            self.keys.append(('k%d' % i, type_, options, collate))
        self.values = [('v%d' % i, rnd.choice(list(TYPES)), rnd.choice(['', "family 'f2'"]), '')
                       for i in range(rnd.choice([0, 1, 2, 3]))]

    def columns(self):
        return [(k[0], k[1]) for k in self.keys] + [(v[0], v[1]) for v in self.values]

    def create(self):
        cols, heap = [], []
        for name, type_, options, collate in self.keys:
            cols.append('%s %s OPTIONS (%s) %s' % (name, type_, ', '.join(options), collate))
            heap.append('%s %s %s' % (name, type_, collate))
        for name, type_, option, _ in self.values:
            cols.append('%s %s %s' % (name, type_, 'OPTIONS (%s)' % option if option else ''))
            heap.append('%s %s' % (name, type_))
        yield 'CREATE FOREIGN TABLE w%d (%s) SERVER widecol%s;' % (
            self.n, ', '.join(cols), " OPTIONS (delimiter '$')" if self.delimiter else '')
        yield 'CREATE TABLE h%d (%s, PRIMARY KEY (%s));' % (self.n, ', '.join(heap), ', '.join(k[0] for k in self.keys))

    def fill(self):
        r = self.rnd
        for _ in range(r.choice([5, 20, 60])):
            row = [lit(r.choice([x for x in TYPES[k[1]] if x not in NOT_AS_KEY and (x or len(self.keys) > 1)]), k[1])
                   for k in self.keys]
            row += [r.choice([lit(r.choice([x for x in TYPES[v[1]] if x not in NOT_AS_KEY]), v[1]), 'NULL']) if r.random() < 0.8 else 'NULL'
                    for v in self.values]
            yield 'INSERT INTO h%d VALUES (%s) ON CONFLICT DO NOTHING;' % (self.n, ', '.join(row))
        yield 'INSERT INTO w%d SELECT * FROM h%d;' % (self.n, self.n)
        if self.rnd.random() < 0.5:
            yield 'ANALYZE w%d;' % self.n

    def value(self, type_):
        return lit(self.rnd.choice(TYPES[type_]), type_)

    def atom(self):
        r = self.rnd
        column, type_ = r.choice(self.columns() + [(k[0], k[1]) for k in self.keys] * 2)
        kind = r.random()
        if type_ in INTS and r.random() < 0.3:
            other = r.choice(INTS)
            return '%s %s %s' % (column, r.choice(OPS), self.value(other))
        if kind < 0.45:
            return '%s %s %s' % (column, r.choice(OPS), self.value(type_))
        if kind < 0.55:
            return '%s %s %s' % (self.value(type_), r.choice(OPS), column)
        if kind < 0.65:
            return '%s IN (%s)' % (column, ', '.join(self.value(type_) for _ in range(r.randint(1, 4))))
        if kind < 0.72:
            return '%s BETWEEN %s AND %s' % (column, self.value(type_), self.value(type_))
        if kind < 0.76:
            return '%s IS %sNULL' % (column, r.choice(['', 'NOT ']))
        if kind < 0.86 and len(self.keys) > 1:
            start = r.randrange(len(self.keys) - 1)
            part = self.keys[start:start + r.randint(2, 3)]
            return '(%s) %s (%s)' % (', '.join(k[0] for k in part), r.choice(OPS[1:5]),
                                     ', '.join(self.value(k[1]) for k in part))
        if type_ in ('text', 'varchar'):
            return r.choice(["%s LIKE '%s'" % (column, r.choice(['a%', 'a', '%', 'a\\%', 'ab%', '_%', 'é%', 'b_', ''])),
                             "%s ^@ 'a'" % column, "starts_with(%s, '')" % column])
        return '%s = (SELECT %s)' % (column, self.value(type_))

    def where(self):
        r = self.rnd
        out = []
        # often: the first parts pinned
        for k in self.keys[:r.choice([0, 0, 1, 1, 2, 3])]:
            out.append('%s = %s' % (k[0], self.value(k[1])) if r.random() < 0.8 else
                       '%s IN (%s)' % (k[0], ', '.join(self.value(k[1]) for _ in range(3))))
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            atom = self.atom()
            if r.random() < 0.1:
                atom = 'NOT (%s)' % atom
            if r.random() < 0.12:
                atom = '(%s OR %s)' % (atom, self.atom())
            out.append(atom)
        return ' AND '.join(out) if out else 'true'

    def query(self):
        """The query, given a table's name."""
        r = self.rnd
        where = self.where()
        names = [c[0] for c in self.columns()]
        kind = r.random()
        if kind < 0.2:
            return lambda t: 'SELECT count(*), count(%s) FROM %s WHERE %s' % (names[-1], t, where)
        if kind < 0.3:
            agg = '%s(%s)' % (r.choice(['min', 'max']), r.choice([c[0] for c in self.columns() if c[1] not in ('bool', 'uuid', 'bytea')] or ['1']))
            return lambda t: 'SELECT %s FROM %s WHERE %s' % (agg, t, where)
        keys = [k[0] for k in self.keys]
        order = list(keys)
        if r.random() < 0.6:
            start = r.randrange(len(order))
            order = order[start:] + order[:start] if r.random() < 0.3 else order
        directions = r.choice(['', ' DESC', None])
        parts = []
        for i, o in enumerate(order):
            if directions is None:
                d = r.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])
                desc_part = any("desc" in x for x in self.keys[keys.index(o)][2])
                if r.random() < 0.5:
                    d = ' DESC' if desc_part else ''
            else:
                d = directions
            parts.append(o + d)
        limit = ''
        if r.random() < 0.5:
            limit = ' LIMIT %d' % r.choice([0, 1, 2, 5, 10])
            if r.random() < 0.4:
                limit += ' OFFSET %d' % r.choice([0, 1, 3])
        wanted = ', '.join(r.sample(names, r.randint(1, len(names))))
        # a unique order, so that LIMIT has one answer
        return lambda t: 'SELECT %s FROM %s WHERE %s ORDER BY %s%s' % (wanted, t, where, ', '.join(parts), limit)


def main():
    p = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    p.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    p.add_argument('--tables', type=int, default=20)
    p.add_argument('--queries', type=int, default=100)
    args, psql = p.parse_known_args()
    print('seed %d' % args.seed)
    rnd = random.Random(args.seed)
    sql = ['SET client_min_messages = warning;', 'CREATE SCHEMA IF NOT EXISTS differential;',
           'SET search_path = differential, public;', "SET timezone = 'UTC';"]
    queries = []
    for n in range(args.tables):
        t = Table(rnd, n)
        sql += list(t.create()) + list(t.fill())
        for _ in range(args.queries):
            q = t.query()
            for name in ('w%d' % n, 'h%d' % n):
                sql.append('\\echo ## %d %s' % (len(queries), name[0]))
                sql.append(q(name) + ';')
            queries.append((q('w%d' % n), q('h%d' % n), t))
        sql += ['DROP FOREIGN TABLE w%d;' % n, 'DROP TABLE h%d;' % n, "SELECT widecol.drop_table('w%d') IS NULL;" % n]
    sql.append('DROP SCHEMA differential CASCADE;')
    run = subprocess.run(['psql', '-X', '-q', '-A', '-t'] + psql, input='\n'.join(sql).encode(),
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    answers = {}
    current = None
    for line in run.stdout.decode('utf-8', 'replace').split('\n'):
        if line.startswith('## '):
            current = line[3:]
            answers[current] = []
        elif current is not None:
            answers[current].append(line)
        elif line:
            print(line)
    bad = 0
    for i, (qw, qh, t) in enumerate(queries):
        w, h = answers.get('%d w' % i), answers.get('%d h' % i)
        strip = lambda a: [x for x in (a or ['missing']) if not x.startswith('ERROR:  relation')]
        if i + 1 == len(queries) or queries[i + 1][2] is not t:
            h = (h or [])[:len(w or [])]
        if strip(w) != strip(h):
            bad += 1
            if bad <= 5:
                print('DIFFERS\n' + '\n'.join(t.create()) + '\n' + qw + ';\n  widecol: %.300s\n  heap:    %.300s' % (w, h))
    print('%d queries, %d differ' % (len(queries), bad))
    return 1 if bad else 0


sys.exit(main())
