#!/usr/bin/env python3
"""YCSB's core workloads A to F, widecol beside a heap table.

100,000 records of ten fields of 100 bytes, keys that are not equally popular (zipfian), two
clients.  As bench.py: the medians of several rounds, in which heap and both packings take
turns; only the ratios mean anything.  Before the rounds workload C runs once on the tables as
they were loaded, and then each record is read once by its key; not with --cold.
"""

import argparse
import glob
import os
import statistics
import subprocess
import sys
import tempfile

from bench import KINDS, psql, read_each
from ratios import keep

FIELDS = 10

# Keys of equal popularity are spread over all of the table.
POPULAR = "\\set id permute(random_zipfian(1, :rows, 1.01) - 1, :rows)\n"
READ = "SELECT * FROM {t} WHERE id = :id;\n"
UPDATE = "\\set v random(0, 1000000000)\nUPDATE {t} SET f3 = lpad(:v::text, 100, 'v') WHERE id = :id;\n"
# A client's new records: those before it are known to be there.
INSERT = ("\\set i :i + 1\n\\set new :first + :i * :clients + :client_id\n"
          "INSERT INTO {t} VALUES (:new, " + ", ".join(f"lpad('{i}', 100, 'x')" for i in range(FIELDS)) + ");\n")
LATEST = "\\set id :first + :i * :clients + :client_id - (random_zipfian(1, :rows / :clients, 1.01) - 1) * :clients\n"
SCAN = "\\set n random(1, 100)\nSELECT * FROM {t} WHERE id >= :id ORDER BY id LIMIT :n;\n"
CHANGE = "BEGIN;\nSELECT * FROM {t} WHERE id = :id FOR UPDATE;\n" + UPDATE + "END;\n"

# Scripts and how often each of a hundred.
WORKLOADS = {
    "A: half reads, half updates": ((POPULAR + READ, 50), (POPULAR + UPDATE, 50)),
    "B: reads, one of 20 updates": ((POPULAR + READ, 95), (POPULAR + UPDATE, 5)),
    "C: reads": ((POPULAR + READ, 100),),
    "D: reads of the latest": ((LATEST + READ, 95), (INSERT, 5)),
    "E: short scans": ((POPULAR + SCAN, 95), (INSERT, 5)),
    "F: reads, read-modify-writes": ((POPULAR + READ, 50), (POPULAR + CHANGE, 50)),
}
FIRST = "C, as the table was loaded"
MUST = 0.9       # the least ratio of transactions a second to heap
MUST_P99 = 1.3   # the greatest ratio of the 99th percentile of latency to heap's


class Ycsb:
    def __init__(self, args):
        self.args = args
        self.first = args.rows - 1   # the greatest id, of any run so far
        self.results = {}            # (workload, kind) -> [(transactions a second, p99 in ms)]

    def load(self):
        columns = ", ".join(f"f{i} text" for i in range(FIELDS))
        values = ", ".join(f"lpad((i * {i + 7} % 1000003)::text, 100, 'abcdefg')" for i in range(FIELDS))
        psql(f"CREATE TABLE y_heap (id bigint PRIMARY KEY, {columns})")
        for kind in KINDS[1:]:
            psql(f"CREATE FOREIGN TABLE y_{kind} (id bigint OPTIONS (rowkey '1'), {columns}) SERVER widecol "
                 f"OPTIONS (families '{{\"cf\": {{\"packing\": \"{kind}\"}}}}')")
        for kind in KINDS:
            psql(f"INSERT INTO y_{kind} SELECT i, {values} FROM generate_series(0::bigint, {self.args.rows - 1}) i")
        psql("VACUUM ANALYZE y_heap")
        for kind in KINDS[1:]:
            psql(f"SELECT widecol.flush('y_{kind}')")
            psql(f"ANALYZE y_{kind}")

    def run(self, workload, kind):
        args = self.args
        with tempfile.TemporaryDirectory() as directory:
            command = ["pgbench", "-n", "-M", "prepared", "-T", str(args.seconds), "-c", str(args.clients), "-j", str(args.clients),
                       "-l", "--log-prefix", os.path.join(directory, "log")]
            variables = {"rows": args.rows, "clients": args.clients, "first": self.first, "i": 0}
            for name, value in variables.items():
                command += ["-D", f"{name}={value}"]
            for n, (script, weight) in enumerate(WORKLOADS["C: reads" if workload == FIRST else workload]):
                path = os.path.join(directory, f"{n}.sql")
                with open(path, "w", encoding="ascii") as file:
                    file.write(script.format(t=f"y_{kind}"))
                command += ["-f", f"{path}@{weight}"]
            os.sync()   # what the run before has written is not this run's
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0:
                sys.exit("pgbench failed:\n" + done.stdout + done.stderr)
            latencies = []
            for name in glob.glob(os.path.join(directory, "log*")):
                with open(name, encoding="ascii") as file:
                    latencies += [int(line.split()[2]) for line in file]
        latencies.sort()
        tps = len(latencies) / args.seconds
        p99 = latencies[len(latencies) * 99 // 100] / 1000
        self.results.setdefault((workload, kind), []).append((tps, p99))
        print(f"  {workload:32s} {kind:5s} {tps:10,.0f} a second, 99 of 100 within {p99:8.3f} ms", flush=True)

    def forget_inserts(self):
        """The tables are as they were loaded, but for updates; the next ids are new ones."""
        for kind in KINDS:
            psql(f"DELETE FROM y_{kind} WHERE id > {self.args.rows - 1}")

    def report(self):
        args = self.args
        print(f"\nYCSB, {args.rows:,} records of {FIELDS} fields of 100 bytes, {args.clients} clients, medians of {args.rounds} rounds")
        print("transactions a second: ratio to heap, above 1 is better; 99th percentile of latency: ratio to heap, below 1 is better\n")
        print(f"{'workload':32s} {'heap':>9s} {'row':>6s} {'cell':>6s} {'must':>5s}   {'heap, ms':>9s} {'row':>6s} {'cell':>6s} {'must':>5s}")
        for workload in (*WORKLOADS, *(() if args.cold else (FIRST,))):
            tps, p99 = ([statistics.median(r[i] for r in self.results[workload, kind]) for kind in KINDS] for i in (0, 1))
            must, must_p99 = ("", "") if workload == FIRST else (MUST, MUST_P99)
            keep("YCSB, 2 clients", workload, tps[1] / tps[0], must or None)
            print(f"{workload:32s} {tps[0]:9,.0f} {tps[1] / tps[0]:6.2f} {tps[2] / tps[0]:6.2f} {must:5}   "
                  f"{p99[0]:9.3f} {p99[1] / p99[0]:6.2f} {p99[2] / p99[0]:6.2f} {must_p99:5}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100000, help="records")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="of one run")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--cold", action="store_true", help="the rounds begin with the tables as they were loaded")
    ycsb = Ycsb(parser.parse_args())
    os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
    print("loading", flush=True)
    ycsb.load()
    if not ycsb.args.cold:
        for kind in KINDS:
            ycsb.run(FIRST, kind)
        print("reading each record once", flush=True)
        for kind in KINDS:
            read_each(f"y_{kind}", ycsb.args.rows)
    for _ in range(ycsb.args.rounds):
        for workload in WORKLOADS:
            for kind in KINDS:
                ycsb.run(workload, kind)
            ycsb.forget_inserts()
    ycsb.report()


if __name__ == "__main__":
    main()
