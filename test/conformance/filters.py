#!/usr/bin/env python3
"""Replays scans with filters in HBase's language (filters.jsonl, README.md) through
widecol.scan and widecol.get, and compares the results with those that a real HBase has
given; prints TAP, a test a table.

usage: filters.py [-v] [--hbase PORT]
    -v              every scan that differs, else the first three of a table
    --hbase PORT    over tables in the HBase cluster of this gateway, which gets the part of a filter that it can decide
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "@@scan"
DELETES = {"version": "delete_version", "column": "delete", "family": "delete_family",
           "familyversion": "delete_family_version"}
CELL = ("convert_from(\"row\", 'UTF8') || '/' || family || ':' || convert_from(qualifier, 'UTF8') || '@' || ts || "
        "CASE WHEN type <> 'Put' THEN '!' || type ELSE '' END || '=' || encode(value, 'hex')")


def text(s):
    return "'" + s.replace("'", "''") + "'"


def bytea(s):
    return "'\\x" + s.encode().hex() + "'::bytea"


def server(port):
    """Timestamps are numbers, as those of the stored tables."""
    return (f"DROP SERVER IF EXISTS filters CASCADE; CREATE SERVER filters FOREIGN DATA WRAPPER widecol "
            f"OPTIONS (engine 'hbase', host '127.0.0.1', port '{port}', timestamps 'raw');")


def create(name, table, hbase):
    families = {f: {"versions": v, "packing": "cell"} for f, v in table["families"].items()}
    if hbase:
        yield (f"CREATE FOREIGN TABLE {name} (\"row\" bytea, family text, qualifier bytea, ts bigint, value bytea) "
               f"SERVER filters OPTIONS (layout 'cell', families {text(json.dumps(families))})")
    else:
        yield f"SELECT widecol.create_table('{name}', {text(json.dumps(families))})"
    for row, family, qualifier, ts, value in table["puts"]:
        yield f"SELECT widecol.put('{name}', {bytea(row)}, {text(family + ':' + qualifier)}, {bytea(value)}, {ts})"
    for kind, row, family, qualifier, ts in table["deletes"]:
        column = family if kind.startswith("family") else family + ":" + qualifier
        yield f"SELECT widecol.{DELETES[kind]}('{name}', {bytea(row)}, {text(column)}, {ts})"


def query(name, q):
    arguments = [f"'{name}'", f"versions => {q['versions']}", f"filter => {text(q['filter'])}"]
    for key, argument in (("row", '"row"'), ("start", "start_row"), ("stop", "stop_row")):
        if key in q:
            arguments.append(f"{argument} => {bytea(q[key])}")
    for key, argument in (("limit", "row_limit"), ("column_limit", "column_limit"), ("column_offset", "column_offset")):
        if key in q:
            arguments.append(f"{argument} => {q[key]}")
    for key in ("reversed", "raw"):
        if q.get(key):
            arguments.append(f"{key} => true")
    if "columns" in q:
        arguments.append("columns => ARRAY[" + ", ".join(text(c) for c in q["columns"]) + "]")
    return f"SELECT coalesce(string_agg({CELL}, ' '), '') FROM widecol.{q['op']}({', '.join(arguments)})"


def drop(name, hbase):
    return f"SELECT widecol.drop_table('{name}', cascade => true, server => 'filters')" if hbase else f"SELECT widecol.drop_table('{name}')"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--hbase", type=int, metavar="PORT")
    args = parser.parse_args()
    with open(os.path.join(HERE, "filters.jsonl"), encoding="utf-8") as f:
        tables = [json.loads(line) for line in f]
    lines = ["\\set VERBOSITY terse", "SET client_min_messages = warning;", "CREATE EXTENSION IF NOT EXISTS widecol;"]
    lines += [server(args.hbase)] if args.hbase else []
    for n, table in enumerate(tables):
        name = f"filters_{n}"
        lines += ["BEGIN;"] + [s + " \\g /dev/null" for s in create(name, table, args.hbase)] + ["COMMIT;"]
        for i, q in enumerate(table["queries"]):
            lines += [f"\\echo {MARK} {n} {i}", query(name, q) + ";"]
        lines.append(drop(name, args.hbase) + " \\g /dev/null")
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-f", "-"], input="\n".join(lines) + "\n", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    answers = {}
    current = None
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            current = tuple(line.split()[1:])
            answers[current] = ""
        elif current is not None:
            answers[current] += line
        elif line:
            print("# " + line)
    bad = 0
    for n, table in enumerate(tables):
        differing = [q | {"got": answers.get((str(n), str(i)), "nothing")} for i, q in enumerate(table["queries"])
                     if answers.get((str(n), str(i))) != q["answer"]]
        bad += bool(differing)
        print(f"{'not ok' if differing else 'ok'} {n + 1} - {len(table['queries'])} scans with filters, as HBase answers them")
        for q in differing if args.verbose else differing[:3]:
            print("#   " + json.dumps({k: v for k, v in q.items() if k not in ("answer", "got")}))
            print("#     HBase:   " + q["answer"])
            print("#     widecol: " + q["got"][:2000])
    print(f"1..{len(tables)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
