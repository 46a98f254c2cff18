#!/usr/bin/env python3
"""Foreign tables over a real HBase, beside HBase's own Java clients.

bench.sh starts HBase, and a PostgreSQL server that PGHOST, PGPORT and PGUSER name.  HBASE_CLASSES is the
folder of HBaseBench, HBASE_JAVA is hbase.sh, HBASE_GATEWAY and HBASE_ZOOKEEPER are ports.  In a round the two Java clients and widecol take turns.  The
client of the gateway does nothing but call the gateway and look at the answer, so its figures are the gateway's limit.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

from bench import COLUMNS, pgbench, psql, timed
from ratios import keep

MUST = 0.9
# Two hand-offs between processes and a statement's parts that have nothing to do with HBase, which the Java clients do not have.
UNEQUAL = ("get of one row, a statement of pgbench",)
SQL = {
    "get": "\\set id random(0, :rows - 1)\nSELECT * FROM b_rows WHERE id = :id;\n",
    "page": "\\set id random(0, :rows - 1)\nSELECT * FROM b_rows WHERE id >= :id ORDER BY id LIMIT 10;\n",
}
SCAN = "SELECT " + ", ".join(f"max(c{i})" for i in range(COLUMNS)) + " FROM b_rows"
TITLES = {
    "get": "get of one row, a statement of pgbench",
    "loop": "get of one row, in a function's loop",
    "empty": "for comparison: SELECT 1, a statement of pgbench",
    "page": "page of ten rows",
    "scan": "scan, rows",
    "load": "load, rows",
    "kept": "load, kept for COMMIT",
}


class Java:
    """The program with the Java clients; it stays, so its code is compiled once."""

    def __init__(self, rows):
        self.process = subprocess.Popen(
            ["bash", os.environ["HBASE_JAVA"], "java", os.environ["HBASE_CLASSES"], "HBaseBench",
             os.environ["HBASE_ZOOKEEPER"], os.environ["HBASE_GATEWAY"], str(rows)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, client, what, seconds=0):
        self.process.stdin.write(f"{client} {what} {seconds}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("= "):  # others are HBase's log
                return float(line[2:])
        sys.exit(f"the Java client has failed: {client} {what}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def make_tables(rows):
    """The foreign tables, and a heap table with the rows to load."""
    columns = ", ".join(f"c{i} bigint OPTIONS (family 'cf', encoding 'binary')" for i in range(COLUMNS))
    values = ", ".join(f"(k * 7919 + {i} * 104729) % 1000000007 AS c{i}" for i in range(COLUMNS))
    psql(f"""
        CREATE SERVER hbase FOREIGN DATA WRAPPER widecol
          OPTIONS (engine 'hbase', host '127.0.0.1', port '{os.environ["HBASE_GATEWAY"]}');
        CREATE FOREIGN TABLE b_rows (id bigint OPTIONS (rowkey '1', encoding 'ordered'), {columns})
          SERVER hbase OPTIONS ("table" 'wc_bench:rows');
        CREATE FOREIGN TABLE b_load (id bigint OPTIONS (rowkey '1', encoding 'ordered'), {columns})
          SERVER hbase OPTIONS ("table" 'wc_bench:load', write_mode 'stream');
        CREATE FOREIGN TABLE b_kept (id bigint OPTIONS (rowkey '1', encoding 'ordered'), {columns})
          SERVER hbase OPTIONS ("table" 'wc_bench:load');
        CREATE FUNCTION b_gets(seconds float8) RETURNS float8 LANGUAGE plpgsql AS $$
        DECLARE
          began timestamptz := clock_timestamp();
          n bigint := 0;
          key bigint;
          got b_rows;
        BEGIN
          WHILE clock_timestamp() < began + make_interval(secs => seconds) LOOP
            key := floor(random() * {rows});
            SELECT * INTO STRICT got FROM b_rows WHERE id = key;
            n := n + 1;
          END LOOP;
          RETURN n / extract(epoch FROM clock_timestamp() - began);
        END $$;
        CREATE TABLE b_source AS SELECT k AS id, {values} FROM generate_series(0::bigint, {rows} - 1) k;
        ANALYZE b_rows, b_source""")
    if psql("SELECT md5(string_agg(b::text, ',' ORDER BY id)) FROM b_rows b") != \
            psql("SELECT md5(string_agg(b::text, ',' ORDER BY id)) FROM b_source b"):
        sys.exit("the rows of the Java client are not those of SQL")


def load_rate(java, table, rows):
    java.ask("java", "empty")
    psql("SELECT count(*) FROM b_load")  # a session notices then that its connection is of before
    start = time.monotonic()
    psql(f"SET client_min_messages = warning; INSERT INTO {table} SELECT * FROM b_source")
    return rows / (time.monotonic() - start)


def measure(java, what, args):
    """The rates of a measurement: of both Java clients, and of widecol."""
    rates = {}
    for client in ("java", "gateway"):
        if what == "load":
            java.ask("java", "empty")
        rates[client] = java.ask(client, what, args.seconds)
    if what == "scan":
        rates["widecol"] = args.rows / timed(["SET enable_async_append = off", SCAN])
    elif what == "load":
        rates["widecol"] = load_rate(java, "b_load", args.rows)
        rates["kept"] = load_rate(java, "b_kept", args.rows)
    else:
        rates["widecol"] = pgbench(SQL[what], 1, args.seconds, {"rows": args.rows})
        if what == "get":
            rates["loop"] = float(psql(f"SELECT b_gets({args.seconds})"))
            rates["empty"] = pgbench("SELECT 1;\n", 1, args.seconds, {})
    return rates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", default="get page scan load")
    args = parser.parse_args()
    java = Java(args.rows)
    java.ask("java", "make")
    make_tables(args.rows)
    figures = {}
    for number in range(args.rounds + 1):
        for what in args.only.split():
            for client, rate in measure(java, what, args).items():
                print(f"  {what:6s} {client:8s} {rate:12,.1f}{'  (warm-up)' if number == 0 else ''}", flush=True)
                if number > 0:
                    figures.setdefault(what, {}).setdefault(client, []).append(rate)
    java.close()
    print(f"\n| a second, one client, {COLUMNS} cells a row | HBase's Java client | the gateway's limit | widecol | ratio | must |")
    print("|---|---|---|---|---|---|")
    for what, clients in figures.items():
        rate = {client: statistics.median(some) for client, some in clients.items()}
        for client, title in (("widecol", TITLES[what]), ("loop", TITLES["loop"]), ("kept", TITLES["kept"])):
            if client not in rate:
                continue
            ratio = rate[client] / rate["gateway"]
            must = None if title in UNEQUAL else MUST
            keep("HBase", title, ratio, must)
            print(f"| {title} | {rate['java']:,.0f} | {rate['gateway']:,.0f} | {rate[client]:,.0f} | {ratio:.2f} | {must or ''} |")
        if "empty" in rate:
            print(f"| {TITLES['empty']} | | | {rate['empty']:,.0f} | | |")


if __name__ == "__main__":
    main()
