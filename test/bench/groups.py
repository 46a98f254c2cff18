#!/usr/bin/env python3
"""Counts, sums, groups and conditions on members of maps, widecol beside heap tables.

One table of ten declared columns, one of a key of two parts, one of ten members a row: a map,
beside jsonb.  Heap and widecol take turns, widecol also with widecol.enable_pushdown off, which
sends each row; a ratio is heap's median time to widecol's: above 1 widecol is faster.  All
give the same rows, or the benchmark stops.
"""

import argparse
import re
import statistics
import subprocess
import sys

from bench import psql
from ratios import keep

# name: key, other columns, row i
TABLES = {
    "things": ("k int", "g int, c1 int, c2 int, c3 int8, c4 int8, c5 text, c6 text, c7 float8, c8 int",
               "i, i % 20, i * 7 % 1000, i, i, i * 10::int8, 'text ' || i, 'n' || i % 100, i * 0.5, i"),
    "series": ("a int, b int", "v int", "i / 1000, i, i % 1000"),
    "docs": ("k int", "d jsonb",
             "i, jsonb_build_object(" + ", ".join(f"'m{m}', (i * {m} % 1000)::text" for m in range(1, 10)) + ", 'q', 'v' || i % 100)"),
}

QUERIES = {
    "count(*)": "SELECT count(*) FROM {things}",
    "sum of a column": "SELECT sum(c1) FROM {things}",
    "five sums": "SELECT sum(c1), sum(c2), sum(c3), sum(c4), sum(c8) FROM {things}",
    "sum and avg of bigint, max of text": "SELECT sum(c3), avg(c4), max(c6 COLLATE \"C\") FROM {things}",
    "count where a column = 5": "SELECT count(*) FROM {things} WHERE c1 = 5",
    "sum over a tenth of the keys": "SELECT sum(c1) FROM {things} WHERE k BETWEEN {rows} / 2 AND {rows} / 2 + {rows} / 10",
    "20 groups by a column": "SELECT g, count(*), sum(c1) FROM {things} GROUP BY g ORDER BY g",
    "groups of 1,000 by the key": "SELECT a, count(*), sum(v) FROM {series} GROUP BY a ORDER BY a",
    "count where a member = 'v7'": "SELECT count(*) FROM {docs} WHERE d ->> 'q' = 'v7'",
    "count where a member::int > 990": "SELECT count(*) FROM {docs} WHERE (d ->> 'm3')::int > 990",
    "count where a map has a member": "SELECT count(*) FROM {docs} WHERE d ? 'm9'",
    "keys where a member = 'v7'": "SELECT sum(k) FROM (SELECT k FROM {docs} WHERE d ->> 'q' = 'v7' OFFSET 0) x",
}


def load(rows):
    for name, (key, others, row) in TABLES.items():
        parts = key.split(", ")
        rowkey = ", ".join(f"{part} OPTIONS (rowkey '{i}')" for i, part in enumerate(parts, 1))
        wide = others + " OPTIONS (family 'm')" if name == "docs" else others
        psql(f"CREATE TABLE heap_{name} ({key}, {others}, PRIMARY KEY ({', '.join(p.split()[0] for p in parts)}))")
        psql(f"CREATE FOREIGN TABLE wide_{name} ({rowkey}, {wide}) SERVER widecol")
        psql(f"INSERT INTO heap_{name} SELECT {row} FROM generate_series(0, {rows - 1}) i")
        psql(f"INSERT INTO wide_{name} SELECT * FROM heap_{name}")
        psql(f"VACUUM ANALYZE heap_{name}")
        psql(f"ANALYZE wide_{name}")
        psql(f"SELECT widecol.flush('wide_{name}'), widecol.major_compact('wide_{name}')")


def run(kind, query, rows, settings):
    """Milliseconds of one run, and the answer."""
    script = "".join(f"SET {s};\n" for s in settings) + "\\timing on\n" + \
        query.format(rows=rows, **{name: f"{kind}_{name}" for name in TABLES}) + ";\n"
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"],
                          input=script, stdout=subprocess.PIPE, text=True, check=False)
    time = re.search(r"Time: ([0-9.]+) ms", done.stdout)
    if done.returncode != 0 or not time:
        sys.exit("failed: " + script)
    return float(time.group(1)), done.stdout[:time.start()]


SIDES = {
    "heap": ("heap", ["max_parallel_workers_per_gather = 0"]),
    "engine": ("wide", ["max_parallel_workers_per_gather = 0"]),
    "session": ("wide", ["max_parallel_workers_per_gather = 0", "widecol.enable_pushdown = off"]),
    "workers": ("heap", ["max_parallel_workers_per_gather = 2"]),
    "engine_workers": ("wide", ["max_parallel_workers_per_gather = 2"]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    print(f"loading three tables of {args.rows} rows", flush=True)
    load(args.rows)
    print("\n| query | heap, ms | widecol, ms | without pushdown, ms | ratio | heap with 2 workers, ms "
          "| widecol with 2 workers, ms | ratio |\n|---|---|---|---|---|---|---|---|")
    for name, query in QUERIES.items():
        times = {side: [] for side in SIDES}
        for _ in range(args.rounds + 1):
            answers = set()
            for side, (kind, settings) in SIDES.items():
                time, answer = run(kind, query, args.rows, settings)
                times[side].append(time)
                answers.add(answer)
            if len(answers) > 1:
                sys.exit(f"{name}: the answers differ\n" + "\n".join(answers))
        # the first round warms caches up
        heap, engine, session, workers, shared = (statistics.median(times[side][1:]) for side in SIDES)
        keep("counts, sums and groups, with two workers", name, workers / shared)
        print(f"| {name} | {heap:.0f} | {engine:.0f} | {session:.0f} | {heap / engine:.2f} | {workers:.0f} | {shared:.0f} | "
              f"{workers / shared:.2f} |", flush=True)


if __name__ == "__main__":
    main()
