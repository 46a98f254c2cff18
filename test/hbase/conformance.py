#!/usr/bin/env python3
"""Replays the conformance cases (test/conformance) over tables of HBase; prints TAP.

Each case gets an HBase table, made through the gateway, and foreign tables of layout `cell` on it.  Writes are
INSERTs of cells and markers; reads are SELECTs, or functions where a SELECT has no word for what is wanted.  What the
store does by itself (flushes, compactions, the servers' clock) the fixture is asked to do.  A case that needs what
tables of HBase do not offer is named as not run.

Before that, each case that has nothing but reads and writes is replayed in one transaction, which is rolled back: its
reads find what the session keeps.

usage: conformance.py [-v] [pattern ...]   (case ids to run; PG*, HBASE_* as for the tests in sql/)
"""

import concurrent.futures
import os
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "conformance")]

import gateway                                                      # noqa: E402
from run import ALL_VERSIONS, COMPUTED, MARK, Case, NotRun, bytea, read_cases, replay, text, to_bytes       # noqa: E402

NAMESPACE = "wc_conformance"
COLUMNS = '"row" bytea, family text, qualifier bytea, ts bigint, type text, value bytea, ttl interval'
MARKERS = {"delete_version": "Delete", "delete_column": "DeleteColumn", "delete_family": "DeleteFamily",
           "delete_family_version": "DeleteFamilyVersion"}
KEEP_DELETED = {"FALSE": 0, "TRUE": 1, "TTL": 2}
TIME_MAX_MS = 9223372036854775      # greater timestamps are no times in microseconds
STORE = ("flush", "major_compact", "advance_clock")
OWN = "%s, in one transaction"
NOT_OWN = {
    "increment-keeps-versions": "a transaction writes one version of a cell"
}
AT_ONCE = 4                         # tables that are made, and cases that are replayed, at once


def following(prefix):
    """The first row that is behind all rows with the prefix; None: there is none."""
    prefix = to_bytes(prefix).rstrip(b"\xff")
    return {"hex": (prefix[:-1] + bytes([prefix[-1] + 1])).hex()} if prefix else None


class HBaseCase(Case):
    """A case over a table of HBase."""

    def __init__(self, number, case, own=False):
        super().__init__(number, case, None)
        self.own = own
        steps = case["steps"]
        if own and case["id"] in NOT_OWN:
            raise NotRun(NOT_OWN[case["id"]])
        if own and any(s["op"] in STORE or s.get("expect_error") for s in steps):
            raise NotRun("is more than one transaction")
        self.families = [f["name"] for f in case["table"].get("families", [])]
        if not self.families:
            raise NotRun("needs no table")
        if any(f.get("new_version_behavior") for f in case["table"]["families"]):
            raise NotRun("NEW_VERSION_BEHAVIOR has no word in Thrift2")
        # What is no time in milliseconds passes as a number.
        self.raw_timestamps = any(isinstance(s.get(k), int) and s[k] > TIME_MAX_MS for s in steps for k in ("ts", "timestamp"))
        self.relations = {}

    @staticmethod
    def is_read(step):
        return step["op"] in ("get", "scan", "aggregate")

    @staticmethod
    def needs_function(step):
        """Has SELECT no word for a read?  (A condition on ts does not show versions that it uncovers; one on family is
        true or false, never an error.)"""
        return any(step.get(k) is not None for k in ("filter", "store_limit", "store_offset", "time_range", "timestamp")) \
            or bool(step.get("expect_error"))

    def ts(self, value):
        if isinstance(value, dict):
            value = self.base_ms + value["rel"]
        return value if self.raw_timestamps or value is None else value * 1000

    def write_ts_sql(self, value):
        """The servers' clock has advanced, too."""
        return self.ts_sql(value)

    # -- the table -------------------------------------------------------------------

    def make(self, at):
        """Makes the table through a gateway."""
        families = []
        for f in self.case["table"]["families"]:
            fields = [gateway.field(gateway.STRING, 1, gateway.string(f["name"].encode()))]
            numbers = [(9, KEEP_DELETED[f["keep_deleted"]]), (10, f["versions"]), (11, f["min_versions"])]
            if f["ttl_ms"] is not None:
                numbers.append((13, f["ttl_ms"] // 1000))
            fields += [gateway.field(gateway.I32, n, struct.pack(">i", v)) for n, v in numbers]
            families.append(gateway.structure(*fields))
        arguments = [gateway.field(gateway.STRUCT, 1, gateway.structure(
            gateway.field(gateway.STRUCT, 1, gateway.table_name(f"{NAMESPACE}:{self.table}")),
            gateway.field(gateway.LIST, 2, gateway.items(gateway.STRUCT, families))))]
        splits = [gateway.string(to_bytes(s)) for s in self.case["table"].get("splits") or []]
        if splits:
            arguments.append(gateway.field(gateway.LIST, 2, gateway.items(gateway.STRING, splits)))
        at.call("createTable", *arguments)

    def relation(self, versions=ALL_VERSIONS, raw=False):
        """A foreign table that shows so many versions."""
        name = self.table if versions == ALL_VERSIONS and not raw else f"{self.table}_{'raw' if raw else 'seen'}_{versions}"
        options = f"\"table\" '{NAMESPACE}:{self.table}', layout 'cell', raw '{'true' if raw else 'false'}'"
        if versions != ALL_VERSIONS:
            options += f", versions '{versions}'"
        server = "conformance_raw" if self.raw_timestamps else "conformance"
        self.relations[name] = f"CREATE FOREIGN TABLE {name} ({COLUMNS}) SERVER {server} OPTIONS ({options})"
        return name

    def create(self):
        for step in self.case["steps"]:
            if self.is_read(step):
                self.cells(step)
        self.relation()
        return list(self.relations.values())

    def drop(self):
        return [f"DROP FOREIGN TABLE {name}" for name in self.relations]

    # -- steps -----------------------------------------------------------------------

    def mutation(self, step, row=None, checked=False):
        of_row = row
        row = bytea(step.get("row", row))
        ts = self.ts_sql(step.get("ts"))
        op = step["op"]
        if op in COMPUTED:
            return super().mutation(step, step.get("row", of_row))
        qualifier = bytea(step.get("qualifier"))
        if op == "put":
            ttl = f", '{step['cell_ttl_ms']} milliseconds'" if step.get("cell_ttl_ms") is not None else ""
            cells = [f"({row}, {text(step['family'])}, {qualifier}, {ts}, 'Put', {bytea(step.get('value'))}{ttl})"]
        elif op == "delete_row":
            cells = [f"({row}, {text(f)}, '', {ts}, 'DeleteFamily', NULL)" for f in self.families]
        else:
            cells = [f"({row}, {text(step['family'])}, {qualifier}, {ts}, '{MARKERS[op]}', NULL)"] * step.get("count", 1)
        return [f"INSERT INTO {self.relation()} VALUES {', '.join(cells)}"]

    @staticmethod
    def rows_condition(step):
        if step["op"] == "get":
            return [f"\"row\" = {bytea(step['row'])}"]
        reverse = step.get("reversed")
        start = (step.get("start"), ("<" if reverse else ">") + ("=" if step.get("start_inclusive", True) else ""))
        stop = (step.get("stop"), (">" if reverse else "<") + ("=" if step.get("stop_inclusive", False) else ""))
        bounds = [start, stop]
        if step.get("prefix") is not None:
            bounds += [(step["prefix"], ">="), (following(step["prefix"]), "<")]
        return [f"\"row\" {op} {bytea(row)}" for row, op in bounds if row is not None and to_bytes(row)]

    def cells(self, step):
        if self.needs_function(step):
            return super().cells(step)
        versions = step.get("versions", 1)
        relation = self.relation(ALL_VERSIONS if versions == "all" else versions, bool(step.get("raw")))
        wanted = [f"family = {text(f)}" for f in step.get("families", [])]
        wanted += [f"family = {text(f)} AND qualifier = {bytea(q)}" for f, q in step.get("columns", [])]
        conditions = self.rows_condition(step)
        if wanted:
            conditions.append(wanted[0] if len(wanted) == 1 else "(" + " OR ".join(f"({w})" for w in wanted) + ")")
        source = relation + (" WHERE " + " AND ".join(conditions) if conditions else "")
        direction = "DESC" if step.get("reversed") else "ASC"
        if step.get("limit") is not None:
            # LIMIT would count cells
            source = (f"(SELECT *, dense_rank() OVER (ORDER BY \"row\" {direction}) AS nth FROM {source}) r "
                      f"WHERE nth <= {step['limit']}")
        elif step.get("reversed"):
            source += " ORDER BY \"row\" DESC"
        return f"(SELECT * FROM {source}) c"

    def keep_house(self, op):
        return [self.control(f"{'flush' if op == 'flush' else 'major'}?t={NAMESPACE}:{self.table}")]

    def set_clock(self):
        return [self.control(f"clock?ms={self.clock_ms}")]

    @staticmethod
    def control(path):
        return f"\\! curl -sSf \"$HBASE_CONTROL/{path}\" >/dev/null || echo ERROR: {path.split('?')[0]}"

    def script(self):
        lines = super().script().splitlines()
        if not self.own:
            return "\n".join(lines)
        first = lines.index(f"\\echo {MARK} 0")
        end = lines.index(f"\\echo {MARK} end")
        steps = [line for line in lines[first:end] if line not in ("BEGIN;", "COMMIT;")]
        return "\n".join(lines[:first] + ["BEGIN;"] + steps + ["ROLLBACK;"] + lines[end:])

    def run(self):
        self.base_ms = int(time.time() * 1000)
        try:
            return super().run()
        finally:
            if self.clock_ms:
                subprocess.run(["curl", "-sSf", "-o", os.devnull, os.environ["HBASE_CONTROL"] + "/clock?ms=0"], check=True)


def make_tables(cases):
    """Makes the cases' tables, some at once: HBase mostly waits."""
    def make_some(first):
        at = gateway.Gateway(int(os.environ["HBASE_BUFFERED"]))
        for case in cases[first::AT_ONCE]:
            gateway.drop(at, f"{NAMESPACE}:{case.table}")
            case.make(at)

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(make_some, range(AT_ONCE)))


def servers():
    options = (f"engine 'hbase', host '127.0.0.1', port '{os.environ['HBASE_GATEWAY']}', "
               f"transport '{os.environ['HBASE_TRANSPORT']}', protocol '{os.environ['HBASE_PROTOCOL']}'")
    return (f"SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS widecol; "
            f"DROP SERVER IF EXISTS conformance, conformance_raw CASCADE; "
            f"CREATE SERVER conformance FOREIGN DATA WRAPPER widecol OPTIONS ({options}); "
            f"CREATE SERVER conformance_raw FOREIGN DATA WRAPPER widecol OPTIONS ({options}, timestamps 'raw')")


def main():
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", servers()], check=True)
    cases = read_cases([a for a in sys.argv[1:] if not a.startswith("-")])
    offered = {}                # of each case's id
    for number, case in enumerate(cases):
        for name, own in ((case["id"], False), (OWN % case["id"], True)):
            try:
                offered[name] = HBaseCase(number, case, own)
            except NotRun:
                pass
    at = gateway.Gateway(int(os.environ["HBASE_BUFFERED"]))
    try:
        gateway.run(at, ["namespace", NAMESPACE])
    except gateway.Refused:
        pass                    # it is there
    made = [c for c in offered.values() if not c.own]
    make_tables(made)
    # In one transaction first: that leaves the tables empty.
    own = [dict(case, id=OWN % case["id"]) for case in cases if OWN % case["id"] in offered]
    # The servers have one clock: a case that sets it runs alone.
    clocked = [case for case in cases if any(s["op"] == "advance_clock" for s in case["steps"])]
    rest = [case for case in cases if case not in clocked]
    sys.exit(replay([(own, AT_ONCE), (rest, AT_ONCE), (clocked, 1)], lambda number, case: offered.get(case["id"]) or HBaseCase(number, case)))


if __name__ == "__main__":
    main()
