#!/usr/bin/env python3
"""Analytical joins of up to eight tables, widecol beside heap tables with the same keys.

The tables are of 60,000 to 300,000 rows; the queries are those of order books: all of
it, parts of it by conditions on any of the tables, groups, semi-joins, outer joins.
Heap and widecol take turns; a factor is the median of widecol's times to that of heap's,
and must stay below 3.  Both give the same rows, or the benchmark stops.
"""

import argparse
import statistics
import subprocess
import sys
import re

from bench import psql
from ratios import keep

# name: key, other columns, rows, what row i is
TABLES = {
    "region": ("r_id int", "r_name text, r_zone int", 60000, "i, 'region ' || i % 5000, i % 12"),
    "customer": ("c_id int", "c_name text, c_r int, c_seg int, c_bal numeric", 150000,
                 "i, 'customer ' || i, i * 7 % 60000, i % 5, (i * 37 % 100000) / 100.0"),
    "supplier": ("s_id int", "s_name text, s_r int", 60000, "i, 'supplier ' || i, i * 11 % 60000"),
    "part": ("p_id int", "p_name text, p_brand int, p_size int, p_type text", 100000,
             "i, 'part ' || i, i % 25, i % 50, 'type ' || i % 150"),
    "partsupp": ("ps_p int, ps_s int", "ps_qty int, ps_cost numeric", 200000,
                 "i / 2, (i * 7 + i % 2 * 30000) % 60000, i % 9999, (i * 17 % 100000) / 100.0"),
    "orders": ("o_id int", "o_c int, o_date date, o_prio int, o_total numeric", 200000,
               "i, i * 13 % 150000, date '2020-01-01' + i * 31 % 1500, i % 5, (i * 19 % 1000000) / 100.0"),
    "line": ("l_o int, l_n int", "l_p int, l_s int, l_qty int, l_price numeric, l_disc numeric, l_ship date", 300000,
             "i / 2, i % 2, i * 7 % 100000, (i * 7 % 100000 * 14) % 60000, i % 50, (i * 23 % 1000000) / 100.0, "
             "(i % 10) / 100.0, date '2020-01-01' + i * 31 % 1600"),
    "ship": ("h_o int, h_n int", "h_mode int, h_cost int", 300000, "i / 2, i % 2, i % 7, i % 1000"),
}

QUERIES = {
    "eight tables, every row":
        "SELECT count(*), sum(l_price * (1 - l_disc)) FROM {line} JOIN {orders} ON o_id = l_o "
        "JOIN {customer} ON c_id = o_c JOIN {region} ON r_id = c_r JOIN {part} ON p_id = l_p "
        "JOIN {supplier} ON s_id = l_s JOIN {partsupp} ON ps_p = l_p AND ps_s = l_s "
        "JOIN {ship} ON h_o = l_o AND h_n = l_n",
    "eight tables, few rows":
        "SELECT c_seg, count(*), sum(o_total) FROM {line} JOIN {orders} ON o_id = l_o "
        "JOIN {customer} ON c_id = o_c JOIN {region} ON r_id = c_r JOIN {part} ON p_id = l_p "
        "JOIN {supplier} ON s_id = l_s JOIN {partsupp} ON ps_p = l_p AND ps_s = l_s "
        "JOIN {ship} ON h_o = l_o AND h_n = l_n WHERE o_date < date '2020-03-01' AND p_brand = 7 GROUP BY 1 ORDER BY 1",
    "seven tables, outer joins":
        "SELECT count(*), count(r_id), count(h_o) FROM {customer} LEFT JOIN {orders} ON o_c = c_id AND o_prio = 2 "
        "LEFT JOIN {line} ON l_o = o_id LEFT JOIN {ship} ON h_o = l_o AND h_n = l_n LEFT JOIN {part} ON p_id = l_p "
        "LEFT JOIN {supplier} ON s_id = l_s LEFT JOIN {region} ON r_id = s_r WHERE c_seg = 2",
    "six tables, by part of a name":
        "SELECT r_name, sum(l_price - ps_cost * l_qty) FROM {part}, {supplier}, {line}, {partsupp}, {orders}, {region} "
        "WHERE s_id = l_s AND ps_s = l_s AND ps_p = l_p AND p_id = l_p AND o_id = l_o AND s_r = r_id "
        "AND p_name LIKE '%77%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5",
    "six tables, by type, zone, years":
        "SELECT extract(year FROM o_date), count(*), sum(l_price) FROM {part}, {supplier}, {line}, {orders}, {customer}, "
        "{region} WHERE p_id = l_p AND s_id = l_s AND l_o = o_id AND o_c = c_id AND c_r = r_id AND r_zone = 3 "
        "AND o_date BETWEEN date '2021-01-01' AND date '2022-12-31' AND p_type = 'type 7' GROUP BY 1 ORDER BY 1",
    "six tables, by size and mode":
        "SELECT s_r % 10, count(*), sum(h_cost) FROM {ship}, {line}, {orders}, {supplier}, {partsupp}, {part} "
        "WHERE h_o = l_o AND h_n = l_n AND o_id = l_o AND s_id = l_s AND ps_p = l_p AND ps_s = l_s AND p_id = ps_p "
        "AND h_mode = 3 AND p_size < 10 GROUP BY 1 ORDER BY 1",
    "five tables, by zone and year":
        "SELECT r_zone, sum(l_price * (1 - l_disc)) FROM {customer}, {orders}, {line}, {supplier}, {region} "
        "WHERE c_id = o_c AND l_o = o_id AND l_s = s_id AND c_r = r_id AND r_zone < 6 "
        "AND o_date >= date '2021-01-01' AND o_date < date '2022-01-01' GROUP BY 1 ORDER BY 2",
    "three tables, top ten":
        "SELECT l_o, sum(l_price * (1 - l_disc)), o_date FROM {customer}, {orders}, {line} "
        "WHERE c_id = o_c AND l_o = o_id AND c_seg = 1 AND o_date < date '2022-03-15' AND l_ship > date '2022-03-15' "
        "GROUP BY l_o, o_date ORDER BY 2 DESC, 3, 1 LIMIT 10",
    "three tables, semi-join":
        "SELECT c_id, o_id, o_date, sum(l_qty) FROM {customer}, {orders}, {line} "
        "WHERE o_id IN (SELECT l_o FROM {line} GROUP BY l_o HAVING sum(l_qty) > 90) AND c_id = o_c AND o_id = l_o "
        "GROUP BY 1, 2, 3 ORDER BY 4 DESC, 2 LIMIT 10",
}


def load(scale):
    for name, (key, others, rows, row) in TABLES.items():
        parts = key.split(", ")
        rowkey = ", ".join(f"{part} OPTIONS (rowkey '{i}')" for i, part in enumerate(parts, 1))
        psql(f"CREATE TABLE heap_{name} ({key}, {others}, PRIMARY KEY ({', '.join(p.split()[0] for p in parts)}))")
        psql(f"CREATE FOREIGN TABLE wide_{name} ({rowkey}, {others}) SERVER widecol")
        psql(f"INSERT INTO heap_{name} SELECT {row} FROM generate_series(0, {int(rows * scale) - 1}) i")
        psql(f"INSERT INTO wide_{name} SELECT * FROM heap_{name}")
        psql(f"VACUUM ANALYZE heap_{name}")
        psql(f"ANALYZE wide_{name}")
        psql(f"SELECT widecol.flush('wide_{name}')")


def run(kind, query, workers):
    """Milliseconds of one run, and the answer."""
    script = (f"SET max_parallel_workers_per_gather = {workers};\n\\timing on\n" +
              query.format(**{name: f"{kind}_{name}" for name in TABLES}) + ";\n")
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"],
                          input=script, stdout=subprocess.PIPE, text=True, check=False)
    time = re.search(r"Time: ([0-9.]+) ms", done.stdout)
    if done.returncode != 0 or not time:
        sys.exit("failed: " + script)
    return float(time.group(1)), done.stdout[:time.start()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the tables' rows")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    print("loading eight tables, 60,000 to 300,000 rows each", flush=True)
    load(args.scale)
    print("\n| join | heap, ms | widecol, ms | factor | heap with 2 workers, ms | widecol with 2 workers, ms | factor |"
          "\n|---|---|---|---|---|---|---|")
    for name, query in QUERIES.items():
        times = {"heap": [], "wide": [], "workers": [], "shared": []}
        for _ in range(args.rounds):
            heap, expected = run("heap", query, 0)
            wide, answer = run("wide", query, 0)
            workers, _ = run("heap", query, 2)
            shared, with_workers = run("wide", query, 2)
            if {answer, with_workers} != {expected}:
                sys.exit(f"{name}: the answers differ\n{expected}\n{answer}\n{with_workers}")
            for kind, time in (("heap", heap), ("wide", wide), ("workers", workers), ("shared", shared)):
                times[kind].append(time)
        heap, wide, workers, shared = (statistics.median(times[k]) for k in ("heap", "wide", "workers", "shared"))
        keep("joins, with two workers", name, workers / shared)
        print(f"| {name} | {heap:.0f} | {wide:.0f} | {wide / heap:.2f} | {workers:.0f} | {shared:.0f} | {shared / workers:.2f} |",
              flush=True)


if __name__ == "__main__":
    main()
