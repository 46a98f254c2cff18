#!/usr/bin/env python3
"""Dynamic columns: a map of widecol beside a heap table with jsonb, and the rows of an
entity-attribute-value table.

Rows of 10 members and rows of 1,000.  The sides take turns; a figure is the median of the
rounds, a ratio that of widecol's speed (bytes: of its size) to jsonb's, and to the
entity-attribute-value table's: above 1 (bytes: below 1) widecol is better.  What all sides answer
is compared first.
"""

import argparse
import statistics
import sys
import time

from bench import pgbench, psql, timed
from ratios import keep

SIDES = ["jsonb", "eav", "wide"]

# The least ratio to jsonb that the project asks for, by members of a row; of bytes, jsonb's to widecol's.
MUST = {
    10: {"load": 0.6, "bytes": 1 / 0.3, "row by key, 2 clients": 0.9, "one member by key": 1.2, "page of ten rows": 0.6,
         "set one member": 1.0, "one member of all rows": 0.8, "count where a member = 'x'": 1.0},
    1000: {"row by key, 2 clients": 0.6, "one member by key": 1.5, "set one member": 3.0},
}
ENGINE = "-c widecol.debug_clock_offset=1ms"  # a session with a clock of its own: nothing is kept for it

# What a client does with a key k, or one of which some are asked for often, p: jsonb and widecol alike, then the
# entity-attribute-value table.
CLIENT = {
    "row by key, 2 clients": (
        "SELECT d FROM {t} WHERE k = :k",
        "SELECT jsonb_object_agg(m, v) FROM {t} WHERE k = :k", ""),
    "row by key, from the engine": (
        "SELECT d FROM {t} WHERE k = :k",
        "SELECT jsonb_object_agg(m, v) FROM {t} WHERE k = :k", ENGINE),
    "one member by key": (
        "SELECT d ->> 'm3' FROM {t} WHERE k = :k",
        "SELECT v FROM {t} WHERE k = :k AND m = 'm3'", ""),
    "page of ten rows": (
        "SELECT k, d FROM {t} WHERE k >= :k ORDER BY k LIMIT 10",
        "SELECT k, jsonb_object_agg(m, v) FROM {t} WHERE k BETWEEN :k AND :k + 9 GROUP BY k ORDER BY k", ""),
    "popular pages of ten rows": (
        "SELECT k, d FROM {t} WHERE k >= :p ORDER BY k LIMIT 10",
        "SELECT k, jsonb_object_agg(m, v) FROM {t} WHERE k BETWEEN :p AND :p + 9 GROUP BY k ORDER BY k", ""),
    "set one member": (
        "UPDATE {t} SET d = d || jsonb_build_object('m3', :v::text) WHERE k = :k",
        "UPDATE {t} SET v = :v::text WHERE k = :k AND m = 'm3'", ""),
}

# Reads that are warm on all sides.  (ENGINE's sessions read rows of which shared memory keeps no answers.)
WARM = ["row by key, 2 clients", "one member by key"]

# What goes through all rows.
SCAN = {
    "one member of all rows": (
        "SELECT sum(length(d ->> 'm4')) FROM {t}",
        "SELECT sum(length(v)) FROM {t} WHERE m = 'm4'"),
    "sum of a member": (
        "SELECT sum((d ->> 'm4')::int) FROM {t}",
        "SELECT sum(v::int) FROM {t} WHERE m = 'm4'"),
    "count where a member = 'x'": (
        "SELECT count(*) FROM {t} WHERE d ->> 'm5' = '5003'",
        "SELECT count(*) FROM {t} WHERE m = 'm5' AND v = '5003'"),
    "members of all rows": (
        "SELECT sum(length(d::text)) FROM {t}",
        "SELECT sum(length(d::text)) FROM (SELECT jsonb_object_agg(m, v) AS d FROM {t} GROUP BY k) x"),
}


def of(queries, side, table):
    return queries[1 if side == "eav" else 0].format(t=table)


class Maps:
    def __init__(self, args, members, rows):
        self.args, self.members, self.rows = args, members, rows
        self.figures = {}

    def table(self, side):
        return f"{side}_{self.members}"

    def note(self, what, side, figure):
        self.figures.setdefault(what, {}).setdefault(side, []).append(figure)

    def create(self, side):
        name = self.table(side)
        if psql(f"SELECT to_regclass('{name}') IS NOT NULL") == "t":
            psql(f"DROP {'FOREIGN ' if side == 'wide' else ''}TABLE {name}")
            if side == "wide":
                psql(f"SELECT widecol.drop_table('{name}')")
        if side == "jsonb":
            psql(f"CREATE TABLE {name} (k bigint PRIMARY KEY, d jsonb)")
        elif side == "eav":
            psql(f"CREATE TABLE {name} (k bigint, m text, v text, PRIMARY KEY (k, m))")
        else:
            options = f""" OPTIONS (families '{{"d": {{"packing": "{self.args.packing}"}}}}')""" if self.args.packing else ""
            psql(f"CREATE FOREIGN TABLE {name} (k bigint OPTIONS (rowkey '1'), d jsonb OPTIONS (family 'd')) "
                 f"SERVER widecol{options}")

    def load(self):
        source = f"source_{self.members}"
        psql(f"CREATE TABLE {source} AS SELECT k::bigint, (SELECT jsonb_object_agg('m' || m, (k * m % 10007)::text) "
             f"FROM generate_series(1, {self.members}) m) AS d FROM generate_series(0, {self.rows - 1}) k")
        for _ in range(self.args.rounds):
            for side in SIDES:
                self.create(side)
                rows = f"SELECT k, (jsonb_each_text(d)).* FROM {source}" if side == "eav" else f"SELECT k, d FROM {source}"
                start = time.monotonic()
                psql(f"INSERT INTO {self.table(side)} {rows}")
                self.note("load", side, self.rows / (time.monotonic() - start))
        psql(f"DROP TABLE {source}")
        for side in SIDES[:2]:
            psql(f"VACUUM ANALYZE {self.table(side)}")
            self.note("bytes", side, float(psql(f"SELECT pg_total_relation_size('{self.table(side)}')")))
        name = self.table("wide")
        psql(f"SELECT widecol.flush('{name}'), widecol.major_compact('{name}')")
        psql(f"ANALYZE {name}")
        self.note("bytes", "wide", float(psql(f"SELECT sum(file_bytes) FROM widecol.pg_stat_widecol_tables WHERE \"table\" = '{name}'")))

    def compare(self):
        checks = [(what, queries) for what, queries in CLIENT.items() if not what.startswith("set")] + list(SCAN.items())
        third = str(self.rows // 3)
        for what, queries in checks:
            answers = {psql(of(queries, side, self.table(side)).replace(":k", third).replace(":p", third)) for side in SIDES}
            if len(answers) > 1:
                sys.exit(f"{what}: the answers differ")

    def warm(self, query):
        """Each row is read once by its key, as the clients will do."""
        psql(f"""DO $$
            BEGIN
                FOR i IN 0 .. {self.rows - 1} LOOP
                    {query.replace('SELECT', 'PERFORM', 1).replace(':k', 'i::bigint')};
                    IF i % 1000 = 999 THEN COMMIT; END IF;
                END LOOP;
            END $$""")

    def measure(self):
        for _ in range(self.args.rounds):
            for what, queries in CLIENT.items():
                for side in SIDES:
                    if what in WARM:
                        self.warm(of(queries, side, self.table(side)))
                    script = (f"\\set k random(0, {self.rows - 11})\n\\set p random_zipfian(1, {self.rows - 10}, 1.01) - 1\n"
                              "\\set v random(0, 10000)\n" +
                              of(queries, side, self.table(side)) + ";\n")
                    self.note(what, side, pgbench(script, 2, self.args.seconds, {}, queries[2] if len(queries) > 2 else ""))
            for what, queries in SCAN.items():
                for side in SIDES:
                    self.note(what, side, self.rows / timed(["SET max_parallel_workers_per_gather = 0",
                                                             of(queries, side, self.table(side))], 3))

    def report(self):
        print(f"\n{self.rows:,} rows of {self.members:,} members, medians of {self.args.rounds} rounds\n")
        print("| what | jsonb | entity-attribute-value | widecol | ratio to jsonb | ratio to entity-attribute-value |"
              "\n|---|---|---|---|---|---|")
        for what, sides in self.figures.items():
            jsonb, eav, wide = (statistics.median(sides[side]) for side in SIDES)
            ratio = jsonb / wide if what == "bytes" else wide / jsonb
            keep(f"maps of {self.members:,} members, beside jsonb", what, ratio, MUST[self.members].get(what))
            print(f"| {what} | {jsonb:,.0f} | {eav:,.0f} | {wide:,.0f} | {wide / jsonb:.2f} | {wide / eav:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50000, help="of 10 members; a hundredth of it of 1,000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="of one pgbench run")
    parser.add_argument("--packing", choices=["row", "cell"], help="of widecol's family; without: what widecol chooses")
    args = parser.parse_args()
    for members, rows in ((10, args.rows), (1000, max(args.rows // 100, 20))):
        maps = Maps(args, members, rows)
        maps.load()
        maps.compare()
        maps.measure()
        maps.report()


if __name__ == "__main__":
    main()
