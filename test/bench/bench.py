#!/usr/bin/env python3
"""The measuring stick: widecol beside a heap table with a primary key.

Runs against the server that PGHOST, PGPORT, PGUSER and PGDATABASE name (bench.sh
makes one).  Every figure is the median of several rounds; in a round heap and
both packings take turns, so that what the machine does meanwhile hits all alike.
Only the ratios mean anything; README.md says how to read them.
"""

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

from ratios import keep

COLUMNS = 10
KINDS = ("heap", "row", "cell")  # a heap table, and widecol's two packings

# The reported ratios to heap, and the design's limits: (must, aim).
TARGETS = {
    "point read, 1 client": (0.90, 1.0),
    "point read, 2 clients": (0.75, 1.0),
    "from the engine, 1 client": None,
    "from the engine, 2 clients": None,
    "page of ten by key": (0.75, 1.0),
    "sum over a range of 100 k": (0.60, 1.0),
    "full scan, sum of a column": (0.50, 1.0),
    "merge join with itself": (0.33, 1.0),
    "count(*)": (0.25, 0.5),
    "100 k range, with workers": (0.80, 1.0),
    "ten sums, with workers": (0.50, 1.0),
    "count(*), with workers": (0.35, 0.5),
    "COPY, random order": (0.70, 1.0),
    "COPY, key order": (1.50, 3.0),
    "new keys, COPY": None,
    "new keys, INSERT … SELECT": None,
    "new keys, ON CONFLICT DO NOTHING": None,
    "INSERT of one row, 1 client": (0.90, 1.2),
    "INSERT of one row, 2 clients": (0.90, 1.2),
    "bytes on disk": (0.35, 0.2),
}

# Loads, in key order, whose keys must not be there: on_duplicate 'error', a primary key.
NEW_KEYS = {
    "new keys, COPY": "COPY {t} FROM '{path}'",
    "new keys, INSERT … SELECT": "INSERT INTO {t} SELECT * FROM b_heap ORDER BY id",
    "new keys, ON CONFLICT DO NOTHING": "INSERT INTO {t} SELECT * FROM b_heap ORDER BY id ON CONFLICT DO NOTHING",
}

# Pages of ten by the last key seen: the first one and one deep in the table cost
# the same, forward and backward.  By OFFSET every row before the page is read.
PAGE = 10000
PAGES = {
    "by key, forward": "SELECT id, c0 FROM {t} WHERE id > {seen} ORDER BY id LIMIT 10",
    "by key, backward": "SELECT id, c0 FROM {t} WHERE id < {last} - {seen} ORDER BY id DESC LIMIT 10",
    "by OFFSET, forward": "SELECT id, c0 FROM {t} ORDER BY id LIMIT 10 OFFSET {seen} + 1",
    "by OFFSET, backward": "SELECT id, c0 FROM {t} ORDER BY id DESC LIMIT 10 OFFSET {seen} + 1",
}


def psql(sql, database=None):
    """Runs sql, returns its output; stops the benchmark when it fails."""
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]
    if database:
        command += ["-d", database]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("failed: " + sql)
    return done.stdout.strip()


def timed(statements, repeat=1):
    """Seconds of the last of the statements, run in one session; the best of repeat."""
    script = "".join(s + ";\n" for s in statements[:-1])
    script += "\\timing on\n" + (statements[-1] + ";\n") * repeat
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"],
                          input=script, stdout=subprocess.PIPE, text=True, check=False)
    times = re.findall(r"Time: ([0-9.]+) ms", done.stdout)
    if done.returncode != 0 or len(times) < repeat:
        sys.exit("failed: " + statements[-1])
    return min(float(t) for t in times[-repeat:]) / 1000


def pgbench(script, clients, seconds, variables, options=""):
    """Transactions a second of a script in prepared mode; options: of the server.

    What was written before is on the disk when it begins: else each side would wait for the writes of the one before.
    """
    os.sync()
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as f:
        f.write(script)
        f.flush()
        command = ["pgbench", "-n", "-M", "prepared", "-f", f.name, "-T", str(int(seconds)),
                   "-c", str(clients), "-j", str(clients)]
        for name, value in variables.items():
            command += ["-D", f"{name}={value}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "PGOPTIONS": options}, text=True, check=False)
    match = re.search(r"tps = ([0-9.]+) \(without", done.stdout)
    if done.returncode != 0 or not match:
        sys.exit("pgbench failed:\n" + done.stdout + done.stderr)
    return float(match.group(1))


def read_each(table, rows):
    """Each row is read once by its key."""
    psql(f"""DO $$
        DECLARE r record;
        BEGIN
            FOR i IN 0 .. {rows - 1} LOOP
                SELECT * INTO r FROM {table} WHERE id = i::bigint;
                IF i % 1000 = 999 THEN COMMIT; END IF;
            END LOOP;
        END $$""")


def columns(prefix="", suffix=""):
    return ", ".join(f"{prefix}c{i}{suffix}" for i in range(COLUMNS))


def create(kind, name):
    """Makes an empty table; DROP FOREIGN TABLE alone would leave the rows of the round before in the stored table."""
    psql(f"DROP FOREIGN TABLE IF EXISTS {name}" if kind != "heap" else f"DROP TABLE IF EXISTS {name}")
    if kind == "heap":
        psql(f"CREATE TABLE {name} (id bigint PRIMARY KEY, {columns(suffix=' bigint')})")
    else:
        psql(f"SELECT widecol.drop_table('{name}') WHERE widecol.exists('{name}')")
        psql(f"""CREATE FOREIGN TABLE {name} (id bigint OPTIONS (rowkey '1'), {columns(suffix=' bigint')})
                 SERVER widecol OPTIONS (families '{{"cf": {{"packing": "{kind}"}}}}')""")


def write_data(directory, rows):
    """The same rows twice: in key order and shuffled."""
    ordered = os.path.join(directory, "ordered")
    shuffled = os.path.join(directory, "shuffled")
    rng = random.Random(42)
    keys = list(range(rows))
    for path in (ordered, shuffled):
        with open(path, "w", encoding="ascii") as f:
            for k in keys:
                values = "\t".join(str((k * 7919 + i * 104729) % 1000000007) for i in range(COLUMNS))
                f.write(f"{k}\t{values}\n")
        os.chmod(path, 0o644)
        rng.shuffle(keys)
    return ordered, shuffled


def load_rate(table, statement, rows):
    psql(f"TRUNCATE {table}")
    start = time.monotonic()
    psql(statement)
    return rows / (time.monotonic() - start)


def directory_bytes(directory):
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith(".sst"):
                total += os.path.getsize(os.path.join(folder, name))
    return total


class Bench:
    def __init__(self, args):
        self.args = args
        self.results = {}  # what -> kind -> [figures]
        self.directory = tempfile.mkdtemp(prefix="wcbench")
        os.chmod(self.directory, 0o755)

    def note(self, what, kind, figure):
        self.results.setdefault(what, {}).setdefault(kind, []).append(figure)
        print(f"  {what:32s} {kind:5s} {figure:14,.1f}", flush=True)

    def load(self, ordered, shuffled):
        for kind in KINDS:
            create(kind, f"b_{kind}")
        for _ in range(self.args.rounds):
            for what, path in (("COPY, random order", shuffled), ("COPY, key order", ordered)):
                for kind in KINDS:
                    self.note(what, kind, load_rate(f"b_{kind}", f"COPY b_{kind} FROM '{path}'", self.args.rows))
        psql("VACUUM ANALYZE b_heap")
        for kind in KINDS[1:]:
            psql(f"SELECT widecol.flush('b_{kind}')")
            psql(f"SELECT widecol.major_compact('b_{kind}')")
            psql(f"ANALYZE b_{kind}")

    def load_new_keys(self, path):
        for kind in KINDS:
            create(kind, f"n_{kind}")
        for kind in KINDS[1:]:
            psql(f"ALTER FOREIGN TABLE n_{kind} OPTIONS (ADD on_duplicate 'error')")
        for _ in range(self.args.rounds):
            for what, statement in NEW_KEYS.items():
                for kind in KINDS:
                    self.note(what, kind, load_rate(f"n_{kind}", statement.format(t=f"n_{kind}", path=path), self.args.rows))
        for kind in KINDS:
            psql(f"TRUNCATE n_{kind}")

    def disk(self):
        self.note("bytes on disk", "heap", float(psql("SELECT pg_total_relation_size('b_heap')")))
        where = psql("SHOW widecol.data_directory")
        if not where.startswith("/"):
            where = os.path.join(psql("SHOW data_directory"), where)
        for kind in KINDS[1:]:
            bytes_ = psql(f"SELECT coalesce(sum(bytes), 0) FROM widecol.regions('b_{kind}')")
            self.note("bytes on disk", kind, float(bytes_))
        print(f"  (all of the store's files: {directory_bytes(where):,} bytes)")

    def warm(self):
        for kind in KINDS:
            read_each(f"b_{kind}", self.args.rows)

    def point_reads(self, seconds):
        rows = self.args.rows
        script = "\\set id random(0, :rows - 1)\nSELECT * FROM {t} WHERE id = :id;\n"
        for clients in (1, 2):
            what = f"{clients} client{'s'[:clients - 1]}"
            for kind in KINDS:
                self.note(f"point read, {what}", kind,
                          pgbench(script.format(t=f"b_{kind}"), clients, seconds, {"rows": rows}))
            # a clock of one's own is for the engine alone to see
            for kind in KINDS:
                self.note(f"from the engine, {what}", kind,
                          pgbench(script.format(t=f"b_{kind}"), clients, seconds, {"rows": rows},
                                  "-c widecol.debug_clock_offset=1ms"))

    def reads(self):
        rows, seconds = self.args.rows, self.args.seconds
        span = min(100000, rows // 2)
        page = "\\set id random(0, :rows - 100)\nSELECT id, c0 FROM {t} WHERE id > :id ORDER BY id LIMIT 10;\n"
        self.warm()
        for _ in range(self.args.rounds):
            self.point_reads(seconds)
            for kind in KINDS:
                self.note("page of ten by key", kind,
                          pgbench(page.format(t=f"b_{kind}"), 1, seconds, {"rows": rows}))
            part = f"WHERE id >= {rows // 3} AND id < {rows // 3 + span}"
            sums = ", ".join(f"sum(c{i})" for i in range(COLUMNS))
            scans = (("sum over a range of 100 k", part, "sum(c4)", span),
                     ("full scan, sum of a column", "", "sum(c4)", rows),
                     ("count(*)", "", "count(*)", rows),
                     ("100 k range, with workers", part, "sum(c4)", span),
                     ("ten sums, with workers", "", sums, rows),
                     ("count(*), with workers", "", "count(*)", rows))
            for kind in KINDS:
                seconds_ = timed(["SET max_parallel_workers_per_gather = 0", "SET enable_hashjoin = off", "SET enable_nestloop = off",
                                  f"SELECT sum(a.c4 - b.c5) FROM b_{kind} a JOIN b_{kind} b USING (id)"], 2)
                self.note("merge join with itself", kind, rows / seconds_)
            for what, where, target, n in scans:
                for kind in KINDS:
                    seconds_ = timed([f"SET max_parallel_workers_per_gather = {2 if 'workers' in what else 0}",
                                      f"SELECT {target} FROM b_{kind} {where}"], 3)
                    self.note(what, kind, n / seconds_)

    def pages(self):
        """Pages a second, of the first and of a far page, of each way to page."""
        for _ in range(self.args.rounds):
            for way, query in PAGES.items():
                for number in (1, self.far_page()):
                    for kind in KINDS:
                        sql = query.format(t=f"b_{kind}", seen=(number - 1) * 10 - 1, last=self.args.rows)
                        self.note(f"page {number:,} {way}", kind, pgbench(sql + ";\n", 1, self.args.seconds / 2, {}))

    def far_page(self):
        return min(PAGE, self.args.rows // 20)

    def inserts(self):
        script = ("\\set id random(1, 9000000000000000)\nINSERT INTO {t} VALUES (:id, " +
                  ", ".join(str(i) for i in range(COLUMNS)) + ");\n")
        for kind in KINDS:
            create(kind, f"i_{kind}")
        for _ in range(self.args.rounds):
            for clients in (1, 2):
                for kind in KINDS:
                    self.note(f"INSERT of one row, {clients} client{'s'[:clients - 1]}", kind,
                              pgbench(script.format(t=f"i_{kind}"), clients, self.args.seconds, {}))

    def report(self):
        print(f"\n{self.args.rows:,} rows, {COLUMNS} columns of 8 bytes, medians of {self.args.rounds} rounds")
        print("ratio to heap: above 1 is better than heap (bytes on disk: below 1)\n")
        print(f"{'what':30s} {'heap':>14s} {'row':>7s} {'cell':>7s} {'must':>6s} {'aim':>5s}")
        for what, target in TARGETS.items():
            got = self.results.get(what)
            if not got:
                continue
            heap = statistics.median(got["heap"])
            ratios = [statistics.median(got[k]) / heap if heap else float("nan") for k in KINDS[1:]]
            asked = f"{target[0]:6.2f} {target[1]:5.2f}" if target else ""
            print(f"{what:30s} {heap:14,.0f} {ratios[0]:7.2f} {ratios[1]:7.2f} {asked}".rstrip())
            must = target[0] if target else None
            if what.startswith("bytes"):  # the less, the better
                keep("reads, scans, loads", what, 1 / ratios[0], 1 / must)
            else:
                keep("reads, scans, loads", what, ratios[0], must)
        self.report_pages()

    def report_pages(self):
        far = self.far_page()
        print(f"\npages of ten a second, page {far:,} to page 1: 1.00 is the same cost\n")
        print(f"{'what':30s} {'heap':>14s} {'row':>7s} {'cell':>7s}")
        for way in PAGES:
            first, deep = ({kind: statistics.median(figures) for kind, figures in self.results[f"page {number:,} {way}"].items()}
                           for number in (1, far))
            ratios = [deep[kind] / first[kind] for kind in KINDS]
            print(f"{way:30s} {ratios[0]:14.3f} {ratios[1]:7.3f} {ratios[2]:7.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of one pgbench run")
    bench = Bench(parser.parse_args())
    print("writing the data", flush=True)
    ordered, shuffled = write_data(bench.directory, bench.args.rows)
    bench.load(ordered, shuffled)
    bench.load_new_keys(ordered)
    os.unlink(ordered)
    os.unlink(shuffled)
    os.rmdir(bench.directory)
    bench.disk()
    bench.reads()
    bench.pages()
    bench.inserts()
    bench.report()


if __name__ == "__main__":
    main()
