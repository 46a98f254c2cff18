#!/usr/bin/env python3
"""Changes of rows: UPDATE, DELETE, row locks and pgbench's TPC-B, widecol beside heap tables.

As bench.py: the medians of several rounds, in which heap and both packings take turns; only
the ratios mean anything.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

from bench import COLUMNS, KINDS, create, pgbench, psql
from ratios import keep

RANGE = 100000
LOOP = 20000

# The reported benchmarks, and the least ratio to heap that packing row must have.
TARGETS = {
    "UPDATE of one row": 0.8,
    "UPDATE of one row, computed": 0.8,
    "DELETE of one row": 0.8,
    "UPDATE of 100 k rows": 0.8,
    "UPDATE of 100 k rows, computed": 0.8,
    "DELETE of 100 k rows": 0.8,
    "SELECT FOR UPDATE of one row": None,
    "SELECT FOR UPDATE of 20 k rows": None,
    "a loop of UPDATE and SELECT": None,
    "read, modify, write": None,
    "queue": 0.7,
    "TPC-B": None,
}

ANY = "\\set id random(0, :rows - 1)\n"
BY_KEY = {
    "UPDATE of one row": ANY + "UPDATE {t} SET c3 = :id WHERE id = :id;\n",
    "UPDATE of one row, computed": ANY + "UPDATE {t} SET c3 = c3 + 1 WHERE id = :id;\n",
    "SELECT FOR UPDATE of one row": ANY + "SELECT * FROM {t} WHERE id = :id FOR UPDATE;\n",
    # as YCSB's workload F: keys are not equally popular
    "read, modify, write": "\\set id random_zipfian(0, :rows - 1, 1.01)\nBEGIN;\nSELECT c3 FROM {t} WHERE id = :id FOR UPDATE;\n"
                           "UPDATE {t} SET c3 = :id WHERE id = :id;\nEND;\n",
    # every row once: the step has no divisor in common with any number of rows
    "DELETE of one row": "\\set i :i + 1\n\\set id (:i * 999983 + :client_id * (:rows / :clients)) % :rows\nDELETE FROM {t} WHERE id = :id;\n",
}
BY_RANGE = {
    "UPDATE of 100 k rows": "UPDATE {t} SET c3 = 7 WHERE id >= {first} AND id < {last}",
    "UPDATE of 100 k rows, computed": "UPDATE {t} SET c3 = c3 + 1 WHERE id >= {first} AND id < {last}",
    "DELETE of 100 k rows": "DELETE FROM {t} WHERE id >= {first} AND id < {last}",
}

# Rows that one transaction locks, or changes and reads again, one after the other.
ONE_BY_ONE = {
    "SELECT FOR UPDATE of 20 k rows": "SELECT count(c3) FROM (SELECT * FROM {t} WHERE id >= {first} AND id < {last} FOR UPDATE) x",
    "a loop of UPDATE and SELECT": "DO $$ BEGIN FOR i IN {first} .. {last} - 1 LOOP UPDATE {t} SET c3 = c3 + 1 WHERE id = i; "
                                   "PERFORM c3 FROM {t} WHERE id = i; END LOOP; END $$",
}

# A job is taken from the front, another one comes to the end.
QUEUE = ("WITH job AS (SELECT id FROM {t} ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) DELETE FROM {t} t USING job WHERE t.id = job.id;\n"
         "INSERT INTO {t} (id, c0) VALUES (nextval('jobs'), 1);\n")

TPCB = {
    "pgbench_branches": "bid int OPTIONS (rowkey '1'), bbalance int, filler char(88)",
    "pgbench_tellers": "tid int OPTIONS (rowkey '1'), bid int, tbalance int, filler char(84)",
    "pgbench_accounts": "aid int OPTIONS (rowkey '1'), bid int, abalance int, filler char(84)",
    "pgbench_history": "id bigint OPTIONS (rowkey '1') DEFAULT widecol.snowflake_id(), tid int, bid int, aid int, delta int, "
                       "mtime timestamp, filler char(22)",
}
SUMS = ("SELECT count(DISTINCT s) FROM (SELECT sum(bbalance) FROM pgbench_branches UNION ALL SELECT sum(tbalance) FROM pgbench_tellers "
        "UNION ALL SELECT sum(abalance) FROM pgbench_accounts UNION ALL SELECT coalesce(sum(delta), 0) FROM pgbench_history) x (s)")


def together(scripts):
    """Seconds until sessions that run a statement each have ended, after the slowest has begun."""
    script = "\\timing on\n{};\n"
    running = [subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True) for _ in scripts]
    for process, sql in zip(running, scripts):
        process.stdin.write(script.format(sql))
        process.stdin.close()
    times = []
    for process, sql in zip(running, scripts):
        match = re.search(r"Time: ([0-9.]+) ms", process.stdout.read())
        if process.wait() != 0 or not match:
            sys.exit("failed: " + sql)
        times.append(float(match.group(1)))
    return max(times) / 1000


def clients_of(n):
    return f"{n} client{'s'[:n - 1]}"


class Changes:
    def __init__(self, args):
        self.args = args
        self.results = {}   # (what, clients) -> kind -> [figures]

    def note(self, what, clients, kind, figure):
        self.results.setdefault((what, clients), {}).setdefault(kind, []).append(figure)
        print(f"  {what:32s} {clients_of(clients):10s} {kind:5s} {figure:14,.1f}", flush=True)

    def load(self):
        names = ", ".join(f"(i * 7919 + {i} * 104729) % 1000000007" for i in range(COLUMNS))
        for kind in KINDS:
            create(kind, f"b_{kind}")
            psql(f"INSERT INTO b_{kind} SELECT i, {names} FROM generate_series(0::bigint, {self.args.rows - 1}) i")
        self.settle()

    @staticmethod
    def settle():
        """Without the dead rows of the statements before: VACUUM and a major compaction remove them."""
        psql("VACUUM ANALYZE b_heap")
        for kind in KINDS[1:]:
            psql(f"SELECT widecol.flush('b_{kind}'), widecol.major_compact('b_{kind}')")
            psql(f"ANALYZE b_{kind}")
        os.sync()  # some systems free the blocks of removed files with the next sync, which then takes long

    def refill(self):
        """The rows that were deleted come back."""
        names = ", ".join(f"(i * 7919 + {i} * 104729) % 1000000007" for i in range(COLUMNS))
        for kind in KINDS:
            psql(f"INSERT INTO b_{kind} SELECT i, {names} FROM generate_series(0::bigint, {self.args.rows - 1}) i "
                 f"WHERE NOT EXISTS (SELECT FROM b_{kind} b WHERE b.id = i)")
        self.settle()

    def warm_up(self):
        """A server's first statements touch memory for the first time, which some virtual machines make slow."""
        for what in ("UPDATE of one row", "SELECT FOR UPDATE of one row"):
            for kind in KINDS:
                pgbench(BY_KEY[what].format(t=f"b_{kind}"), 2, 2, {"rows": self.args.rows})

    def by_key(self):
        for what, script in BY_KEY.items():
            for clients in (1, 2):
                for kind in KINDS:
                    self.note(what, clients, kind, pgbench(script.format(t=f"b_{kind}"), clients, self.args.seconds,
                                                           {"rows": self.args.rows, "i": 0, "clients": clients}))
        self.refill()

    def at_once(self, what, statement, rows, afterwards):
        """A statement of so many rows, by one session, and by two at once on rows of their own."""
        for clients in (1, 2):
            n = min(rows, self.args.rows // clients)
            for kind in KINDS:
                scripts = [statement.format(t=f"b_{kind}", first=i * n, last=(i + 1) * n) for i in range(clients)]
                self.note(what, clients, kind, clients * n / together(scripts))
            afterwards()

    def by_range(self):
        for what, statement in BY_RANGE.items():
            self.at_once(what, statement, RANGE, self.refill if what.startswith("DELETE") else self.settle)

    def one_by_one(self):
        for what, statement in ONE_BY_ONE.items():
            self.at_once(what, statement, LOOP, self.settle)

    def load_tpcb(self):
        for kind in KINDS:
            psql(f"CREATE DATABASE tpcb_{kind}")
            if kind != "heap":
                psql("CREATE EXTENSION widecol", f"tpcb_{kind}")
                for name, columns in TPCB.items():
                    psql(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER widecol OPTIONS (families '{{\"cf\": {{\"packing\": \"{kind}\"}}}}')",
                         f"tpcb_{kind}")
        done = subprocess.run(["pgbench", "-i", "-q", "-s", str(self.args.scale), "tpcb_heap"], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit("pgbench -i failed:\n" + done.stderr)
        scale = self.args.scale
        for kind in KINDS[1:]:
            psql(f"INSERT INTO pgbench_branches SELECT i, 0 FROM generate_series(1, {scale}) i;"
                 f"INSERT INTO pgbench_tellers SELECT i, (i - 1) / 10 + 1, 0 FROM generate_series(1, {10 * scale}) i;"
                 f"INSERT INTO pgbench_accounts SELECT i, (i - 1) / 100000 + 1, 0, '' FROM generate_series(1, {100000 * scale}) i;"
                 "ANALYZE pgbench_branches; ANALYZE pgbench_tellers; ANALYZE pgbench_accounts", f"tpcb_{kind}")

    def queue(self):
        """Steady: as many jobs as before, with the deleted rows before them."""
        psql("CREATE SEQUENCE IF NOT EXISTS jobs")
        for clients in (1, 2):
            for kind in KINDS:
                psql("ALTER SEQUENCE jobs RESTART 10001")
                create(kind, f"q_{kind}")
                psql(f"INSERT INTO q_{kind} (id, c0) SELECT i, 1 FROM generate_series(1, 10000) i")
                self.note("queue", clients, kind, pgbench(QUEUE.format(t=f"q_{kind}"), clients, 3 * self.args.seconds, {}))

    def tpcb(self):
        """pgbench's own script; the sums of all four tables stay the same."""
        for clients in (1, 4, 8):
            for kind in KINDS:
                done = subprocess.run(["pgbench", "-n", "-M", "prepared", "-b", "tpcb-like", "-T", str(int(self.args.seconds)), "-c", str(clients),
                                       "-j", str(min(clients, 2)), f"tpcb_{kind}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
                match = re.search(r"tps = ([0-9.]+) \(without", done.stdout)
                if done.returncode != 0 or not match or "number of failed transactions: 0 " not in done.stdout:
                    sys.exit("pgbench failed:\n" + done.stdout + done.stderr)
                if psql(SUMS, f"tpcb_{kind}") != "1":
                    sys.exit(f"TPC-B, {kind}, {clients_of(clients)}: the sums differ")
                self.note("TPC-B", clients, kind, float(match.group(1)))

    def report(self):
        print(f"\n{self.args.rows:,} rows, {COLUMNS} columns of 8 bytes, TPC-B with scale {self.args.scale}, medians of {self.args.rounds} rounds")
        print("ratio to heap: above 1 is better than heap\n")
        print(f"{'what':32s} {'clients':>7s} {'heap':>14s} {'row':>7s} {'cell':>7s} {'must':>6s}")
        for (what, clients), got in sorted(self.results.items(), key=lambda r: (list(TARGETS).index(r[0][0]), r[0][1])):
            heap = statistics.median(got["heap"])
            ratios = [statistics.median(got[kind]) / heap for kind in KINDS[1:]]
            must = f"{TARGETS[what]:6.2f}" if TARGETS[what] else ""
            print(f"{what:32s} {clients:7d} {heap:14,.0f} {ratios[0]:7.2f} {ratios[1]:7.2f} {must}".rstrip())
            keep("changes", f"{what}, {clients_of(clients)}", ratios[0], TARGETS[what])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of one pgbench run")
    parser.add_argument("--scale", type=int, default=8, help="of TPC-B")
    changes = Changes(parser.parse_args())
    os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
    print("loading", flush=True)
    changes.load()
    changes.load_tpcb()
    changes.warm_up()
    for _ in range(changes.args.rounds):
        changes.by_key()
        changes.by_range()
        changes.one_by_one()
        changes.queue()
        changes.tpcb()
    changes.report()


if __name__ == "__main__":
    main()
