#!/usr/bin/env python3
"""Random tables, data and statements over widecol and over a heap copy: the answers must be the same.

Each round makes a few foreign tables (schema w) and heap tables with the same
columns and rows (schema h), and runs the same SELECTs, changes, transactions,
prepared statements and cursors on both; SELECTs also without widecol.enable_pushdown.  Rows are compared as they come where
the order is total, else as multisets; errors by their SQLSTATE.  Prints TAP; a
difference is cut down and printed as a script that shows it.

usage: run.py [--seed N | --seed random] [--count ROUNDS] [--cases N] [--round N] [--hbase PORT] [-v]
The server is named by PGHOST, PGPORT, PGUSER; the database by PGDATABASE.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter

import changes
import queries
from cluster import HBase
from tables import make_table

SHRINK_TRIES = 300
# Which of several rows that break a constraint comes first, and so which constraint it is, nobody says.
CONSTRAINT = re.compile(r"(ERROR: ) (?:23502|23505|23514|44000)$")
MARK = "@@"
SETUP = ["SET client_min_messages = warning", "CREATE EXTENSION IF NOT EXISTS widecol", "CREATE SCHEMA IF NOT EXISTS h",
         "CREATE SCHEMA IF NOT EXISTS w", "DROP TYPE IF EXISTS public.mood CASCADE", "CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'happy')",
         "DROP DOMAIN IF EXISTS public.posint CASCADE", "CREATE DOMAIN public.posint AS int4 CHECK (VALUE > 0)"]
# Where a case is run: under which name, in which schema, with which settings.
HEAP = ("h", "h", [])
WIDECOL = ("w", "w", [])
LOCALLY = ("l", "w", ["widecol.enable_pushdown = off"])
# What text forms depend on: any of these when writing, any when reading.
STYLES = {"timezone": ["UTC", "America/St_Johns", "Asia/Kathmandu"], "datestyle": ["ISO, YMD", "SQL, DMY", "German", "Postgres, MDY"],
          "intervalstyle": ["postgres", "iso_8601", "sql_standard", "postgres_verbose"], "extra_float_digits": ["1", "3"],
          "bytea_output": ["hex", "escape"]}
SESSION = ["SET client_min_messages = error", "SET statement_timeout = '60s'"]


class ServerGone(Exception):
    pass


class Case:
    """Statements that are run one after the other, on one schema and then on the other."""

    def __init__(self, statements, settings=(), query=None):
        self.statements = statements
        self.settings = list(settings)
        self.query = query          # a SELECT that can be cut down

    @staticmethod
    def of_query(query):
        return Case([changes.Statement(query.sql(), query.ordered)], query.settings, query)

    def smaller(self):
        if self.query is not None:
            for query in self.query.smaller():
                yield Case.of_query(query)
            return
        step = len(self.statements) // 2
        while step >= 1:
            for i in range(0, len(self.statements), step):
                yield Case(self.statements[:i] + self.statements[i + step:], self.settings)
            step //= 2


# --- psql -------------------------------------------------------------------------------

def run_script(lines):
    """Runs a psql script; its output by mark: {mark: (stdout lines, stderr lines)}."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\x1f", "-P", "null=<null>", "-v", "VERBOSITY=sqlstate"],
                             input="\n".join(lines).encode(), stdout=out, stderr=err, check=False)
        answers = [split(f) for f in (out, err)]
    if run.returncode not in (0, 3):
        raise ServerGone(f"psql ended with status {run.returncode}: {list(answers[1].items())[-1:]}")
    return {mark: (rows, answers[1].get(mark, [])) for mark, rows in answers[0].items()}


def split(file):
    file.seek(0)
    found = {}
    current = found.setdefault("", [])
    for line in file.read().decode("utf-8", "replace").split("\n"):
        if line.startswith(MARK):
            current = found.setdefault(line[len(MARK):], [])
        elif line:
            current.append(CONSTRAINT.sub(r"\1 23", line))
    return found


def mark(name):
    return [f"\\echo {MARK}{name}", f"\\warn {MARK}{name}"]


def session(statements):
    return [s if s.endswith("\\gexec") or s.startswith("\\!") else s + ";" for s in statements]


def places(case):
    return [HEAP, WIDECOL] + [LOCALLY] * (case.query is not None)


def case_lines(case, name):
    return [line for place in places(case) for line in place_lines(case, place, name)]


def place_lines(case, place, name):
    # psql has no end of a failed transaction but ROLLBACK
    where, schema, settings = place
    settings = case.settings + settings
    lines = mark("") + [f"SET search_path = {schema}, public;"] + [f"SET {s};" for s in settings]
    for i, statement in enumerate(case.statements):
        lines += mark(f"{name} {where} {i}") + [statement.sql + ";"]
    lines += mark("") + ["ROLLBACK;", "CLOSE ALL;", "DEALLOCATE ALL;", "RESET plan_cache_mode;"]
    return lines + [f"RESET {s.split(' =')[0]};" for s in settings]


def difference(case, answers, name):
    """(number of the statement, the heap's answer, another, whose that is), or None."""
    for i, statement in enumerate(case.statements):
        for where, _, settings in places(case)[1:]:
            h, w = (answers.get(f"{name} {place} {i}") for place in ("h", where))
            if h is not None and w is not None and not statement.ordered:
                h, w = (sorted(h[0]), h[1]), (sorted(w[0]), w[1])
            if h is None or h != w:
                return i, h, w, " ".join(["widecol"] + settings)
    return None


# --- a round -----------------------------------------------------------------------------

def make_case(rng, tables):
    if rng.random() < 0.75:
        return Case.of_query(queries.query(rng, tables))
    return Case(changes.story(rng, tables), rng.choice([[], [], [], ["widecol.enable_pushdown = off"]]))


class Round:
    def __init__(self, seed, number, ncases):
        rng = random.Random(f"{seed} {number}")
        self.number = number
        self.tables = [make_table(rng, f"t{i}") for i in range(rng.choice([1, 2, 2, 3]))]
        self.loads = [table.load() for table in self.tables]
        self.cases = [make_case(rng, self.tables) for _ in range(ncases)]
        self.styles = [[f"SET {name} = '{rng.choice(values)}'" for name, values in STYLES.items()] for _ in range(2)]

    def setup(self, tables=None):
        # literals are written in ISO, year first
        lines = session(SESSION + self.styles[0]) + mark("setup") + ["SET search_path = public;", "\\set VERBOSITY terse"]
        for table, load in zip(self.tables, self.loads):
            lines += session(table.drop() + table.ddl() + load)
        return lines + session(self.styles[1]) + ["\\set VERBOSITY sqlstate"]

    def clear(self):
        return mark("") + session(s for table in self.tables for s in table.drop())

    def run(self):
        lines = self.setup()
        for i, case in enumerate(self.cases):
            lines += case_lines(case, i)
        answers = run_script(lines + self.clear())
        complaints = answers.get("setup", ([], []))[1]
        if complaints:
            return None, complaints
        found = [(i, d) for i, d in ((i, difference(case, answers, i)) for i, case in enumerate(self.cases)) if d]
        return found, []

    # A SELECT is looked at alone; a story needs what the stories before it did.

    def alone(self, case):
        """The difference that this case shows on freshly loaded tables."""
        answers = run_script(self.setup() + case_lines(case, "x") + self.clear())
        if answers.get("setup", ([], ["none"]))[1]:
            return None
        return difference(case, answers, "x")


def shrink(round_, case, tries):
    """A smaller case, fewer rows."""
    best = case
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in best.smaller():
            tries -= 1
            if tries <= 0:
                break
            if smaller.statements and round_.alone(smaller):
                best, progress = smaller, True
                break
    for table_no, table in enumerate(round_.tables):
        step = max(1, len(table.rows) // 2)
        while step >= 1 and tries > 0:
            at = 0
            while at < len(table.rows) and tries > 0:
                tries -= 1
                kept, load = table.rows, round_.loads[table_no]
                table.rows = kept[:at] + kept[at + step:]
                table.nrows = len(table.rows)
                round_.loads[table_no] = table.load()
                if not round_.alone(best):
                    table.rows, round_.loads[table_no] = kept, load
                    at += step
            step //= 2
    return best


def show(lines):
    for line in lines:
        for part in str(line).split("\n"):
            print(f"#   {part}")


def report(round_, number, found):
    """Prints what differs as a script."""
    case = round_.cases[number]
    i, h, w, whose = found
    again = round_.alone(case)
    if not again:
        # Earlier statements matter, including the ends of transactions.
        before = [s for c in round_.cases[:number] if c.query is None for s in c.statements + [changes.Statement("ROLLBACK")]]
        case = Case(before + case.statements, case.settings)
        again = round_.alone(case)
    if again:
        case = shrink(round_, case, SHRINK_TRIES)
        i, h, w, whose = round_.alone(case) or again
    else:
        print("# (not seen again on freshly loaded tables)")
    text = " ".join(s.sql for s in case.statements)
    used = [n for n, t in enumerate(round_.tables) if t.name in text]
    for n in used:
        show(s + ";" for s in round_.tables[n].ddl())
        if again:
            show(s + ";" for s in round_.loads[n])
    show([f"SET {s};" for s in case.settings] + [s.sql + ";" for s in case.statements])
    print(f"# statement {i + 1}: {case.statements[i].sql}")
    for name, answer, other in (("heap", h, w), (whose, w, h)):
        if answer is None:
            print(f"#   {name}: no answer")
            continue
        only = Counter(answer[0]) - Counter(other[0] if other else [])
        shown = [r.replace("\x1f", "|") for r in list(only.elements() if only else answer[0])[:6]]
        print(f"#   {name}: {len(answer[0])} rows{', only here' if only else ''} {shown} {' '.join(answer[1])}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=25, help="rounds: new tables each")
    parser.add_argument("--cases", type=int, default=120, help="cases a round")
    parser.add_argument("--round", type=int, help="only this round")
    parser.add_argument("--hbase", type=int, metavar="PORT", help="foreign tables are in the HBase cluster of this gateway")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each statement")
    args = parser.parse_args()
    seed = random.randrange(1 << 30) if args.seed == "random" else int(args.seed)
    os.environ["PGCLIENTENCODING"] = "UTF8"

    sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)
    print(f"# seed {seed}")
    HBase.port = args.hbase
    run_script(session(SETUP + (HBase.servers() + [HBase.command(f"namespace {HBase.namespace}") + " 2>/dev/null"] if args.hbase else [])))
    rounds = [args.round] if args.round is not None else range(1, args.count + 1)
    failed = 0
    for test, number in enumerate(rounds, 1):
        round_ = Round(seed, number, args.cases)
        if args.verbose:
            show(round_.setup())
        try:
            found, complaints = round_.run()
            failed += bool(found or complaints)
            print(f"{'not ok' if found or complaints else 'ok'} {test} - round {number}: {len(round_.cases)} cases")
            show(complaints)
            for n, (case, what) in enumerate(found or []):
                print(f"# case {case} of round {number} differs (run.py --seed {seed} --round {number})")
                if n < 3:
                    report(round_, case, what)
        except ServerGone as gone:
            failed += 1
            print(f"not ok {test} - round {number}: {gone}")
            break
    print(f"1..{len(rounds)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
