#!/usr/bin/env python3
"""Replays the conformance cases (cases.jsonl, random.jsonl, README.md) through SQL; prints TAP.

Each case gets a stored table and a foreign table of layout `cell` on it; its
steps become calls of widecol's functions in one psql session.  A case passes
when every step has the expected result.  Steps that are marked impl_dependent are
reported, not judged.  A case that needs what SQL does not offer (yet) is named as
not run and counts as nothing.

usage: run.py [-v] [--packing cell|row] [pattern ...]   (case ids to run)
"""

import concurrent.futures
import fnmatch
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "@@step"
VALUE = "value|"
APPLIED = "applied|"
ALL_VERSIONS = 2147483647
COMPUTED = ("increment", "append")
COMPARE = {"EQUAL": "=", "NOT_EQUAL": "<>", "LESS": "<", "LESS_OR_EQUAL": "<=", "GREATER": ">", "GREATER_OR_EQUAL": ">="}
OPERATORS = {"EQUAL": "=", "NOT_EQUAL": "!=", "LESS": "<", "LESS_OR_EQUAL": "<=", "GREATER": ">", "GREATER_OR_EQUAL": ">="}
ROW_FILTERS = ("SingleColumnValueFilter", "SingleColumnValueExcludeFilter", "DependentColumnFilter", "PageFilter", "SkipFilter",
               "WhileMatchFilter")
EVERYTHING = "RowFilter(>=, 'binary:')"


class NotRun(Exception):
    """The case needs something that SQL does not offer."""


def to_bytes(value):
    if value is None:
        return b""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return value.encode("latin-1")


def bytea(value):
    return "'\\x" + to_bytes(value).hex() + "'::bytea"


def text(s):
    return "'" + s.replace("'", "''") + "'"


def column(family, qualifier):
    out = ""
    for b in to_bytes(qualifier):
        out += chr(b) if 0x20 <= b < 0x7F and b != 0x5C else f"\\x{b:02X}"
    return text(family + ":" + out)


def flag(value):
    return "true" if value else "false"


class Case:
    def __init__(self, number, case, packing):
        self.case = case
        self.packing = packing
        self.table = f"case_{number}"
        self.base_ms = int(time.time() * 1000)
        self.clock_ms = 0
        self.versions = {f["name"]: f["versions"] for f in case["table"]["families"]}

    # -- values ----------------------------------------------------------------

    def ts(self, value):
        """Microseconds; times relative to the clock are given in milliseconds."""
        if isinstance(value, dict):
            return (self.base_ms + value["rel"]) * 1000
        return value

    def ts_sql(self, value):
        return "NULL" if value is None else str(self.ts(value))

    def write_ts_sql(self, value):
        """Of a put or marker.  Commit timestamps follow the server's clock; what a case writes after it has advanced
        its own clock gets that clock's time."""
        if value is None and self.clock_ms > 0:
            return f"(extract(epoch FROM now()) * 1000000)::bigint + {self.clock_ms * 1000}"
        return self.ts_sql(value)

    def range_sql(self, step):
        if step.get("timestamp") is not None:
            t = self.ts(step["timestamp"])
            return f"'[{t},{t}]'"
        if step.get("time_range") is None:
            return None
        low, high = step["time_range"]
        low = self.ts(low)
        return f"'[{low},{'' if high is None else self.ts(high)})'"

    # -- steps to SQL ------------------------------------------------------------

    def create(self):
        families = {}
        for f in self.case["table"]["families"]:
            if f.get("new_version_behavior"):
                raise NotRun("NEW_VERSION_BEHAVIOR")
            attributes = {"versions": f["versions"], "min_versions": f["min_versions"],
                          "keep_deleted_cells": f["keep_deleted"].lower(), "packing": self.packing}
            if f["ttl_ms"] is not None:
                attributes["ttl"] = f"{f['ttl_ms']} milliseconds"
            families[f["name"]] = attributes
        splits = self.case["table"].get("splits")
        splits_sql = ""
        if splits:
            splits_sql = ", ARRAY[" + ", ".join(bytea(s) for s in splits) + "]"
        return [f"SELECT widecol.create_table('{self.table}', {text(json.dumps(families))}{splits_sql})",
                f"CREATE FOREIGN TABLE {self.table} (\"row\" bytea, family text, qualifier bytea, ts bigint, "
                f"type text, value bytea) SERVER widecol OPTIONS (table '{self.table}', layout 'cell')"]

    def drop(self):
        return ["RESET widecol.debug_clock_offset", f"DROP FOREIGN TABLE {self.table}", f"SELECT widecol.drop_table('{self.table}')"]

    def mutation(self, step, row=None, checked=False):
        op = step["op"]
        row = bytea(step.get("row", row))
        t = f"'{self.table}', {row}"
        ts = (self.ts_sql if op == "delete_version" else self.write_ts_sql)(step.get("ts"))
        if op == "put":
            ttl = f"'{step['cell_ttl_ms']} milliseconds'" if step.get("cell_ttl_ms") is not None else "NULL"
            if checked and step.get("ts") is None:
                # not before the cell that was checked
                now = f"(extract(epoch FROM now()) * 1000000)::bigint + {self.clock_ms * 1000}"
                ts = f"CASE WHEN :checked_ts > {now} THEN :checked_ts ELSE {ts} END"
            return [f"SELECT widecol.put({t}, {column(step['family'], step.get('qualifier'))}, "
                    f"{bytea(step.get('value'))}, {ts}, {ttl})"]
        if op == "delete_version":
            sql = f"SELECT widecol.delete_version({t}, {column(step['family'], step.get('qualifier'))}, {ts})"
            # HBase looks for the newest versions among those that the family shows; spare markers mask nothing
            return [sql] * min(step.get("count", 1), self.versions.get(step["family"], 1))
        if op == "delete_column":
            return [f"SELECT widecol.delete({t}, {column(step['family'], step.get('qualifier'))}, {ts})"]
        if op == "delete_family":
            return [f"SELECT widecol.delete_family({t}, {text(step['family'])}, {ts})"]
        if op == "delete_family_version":
            return [f"SELECT widecol.delete_family_version({t}, {text(step['family'])}, {ts})"]
        if op == "delete_row":
            return [f"SELECT widecol.deleteall({t}, NULL, {ts})"]
        if op in COMPUTED:
            return [s for i, key in enumerate(self.computed(step)) for s in self.compute(step, key, row, f"v{i}")]
        raise NotRun(op)

    # An increment or append names one column, or several. All are computed from
    # the state before the step: so of a column that is named twice the last
    # amount stays, and is sent.

    def operands(self, step):
        """[(family, qualifier), operand] of increments or appends, in order."""
        operand = "amount" if step["op"] == "increment" else "value"
        columns = step.get("columns") or [[step["family"], step.get("qualifier"), step.get(operand)]]
        return [((f, to_bytes(q)), to_bytes(v) if step["op"] == "append" else v) for f, q, v in columns]

    def computed(self, step):
        return dict(self.operands(step))

    def put_computed(self, key, row, name, rest=""):
        return (f"SELECT widecol.put('{self.table}', {row}, {column(key[0], {'hex': key[1].hex()})}, "
                f"decode(substr(:'{name}_value', {len(VALUE) + 1}), 'hex'){rest})")

    def compute(self, step, key, row, name):
        """Computes and writes one column; its new value, in hex, becomes a variable and is shown."""
        family, qualifier = key
        operand = self.computed(step)[key]
        ttl = f"'{step['cell_ttl_ms']} milliseconds'" if step.get("cell_ttl_ms") is not None else "NULL"
        column_sql = column(family, {"hex": qualifier.hex()})
        t = f"'{self.table}', {row}, {column_sql}"
        if step["op"] == "increment":
            value = f"int8send(widecol.incr({t}, {operand}, {self.ts_sql(step.get('ts'))}, {ttl}))"
        else:
            value = f"widecol.append({t}, '\\x{operand.hex()}', {self.ts_sql(step.get('ts'))}, {ttl})"
        sql = [f"SELECT '{VALUE}' || encode({value}, 'hex') AS value \\gset {name}_"]
        if self.clock_ms > 0:
            # the value is written at the time of the advanced clock, or behind a cell that is later; a timestamp
            # of the step is for a column without a cell
            now = self.write_ts_sql(None)
            first = now if step.get("ts") is None else self.ts_sql(step["ts"])
            sql = ([f"SELECT CASE WHEN max(ts) IS NULL THEN {first} ELSE greatest({now}, max(ts) + 1) END AS ts FROM "
                    f"widecol.get('{self.table}', {row}, columns => ARRAY[{column_sql}]) \\gset {name}_"]
                   + self.taken_back(sql, name) + [self.put_computed(key, row, name, self.computed_rest(step, name))])
        return sql + [f"SELECT :'{name}_value'"]

    def computed_rest(self, step, name):
        """Timestamp and TTL of a computed value that is put: those that the increment or append gives it."""
        ttl = f"'{step['cell_ttl_ms']} milliseconds'" if step.get("cell_ttl_ms") is not None else "NULL"
        return f", {f':{name}_ts' if self.clock_ms > 0 else 'NULL'}, {ttl}"

    @staticmethod
    def taken_back(sql, name):
        """When nothing was computed, the step must fail as a whole: the savepoint has ended that error."""
        return ([f"\\unset {name}_value", "SAVEPOINT computed"] + sql
                + ["ROLLBACK TO computed", f"\\if :{{?{name}_value}}", "\\else", "SELECT 1/0 AS nothing_computed", "\\endif"])

    def mutations(self, step, checked=False):
        """Those of one step on one row. Increments, appends, and deletes of a column's newest version see the state
        before it, so they come first; one that computes a value and follows a put of its column is put again in its
        place. Of those that compute the same column only the last one's value stays. Other deletes come last: they mask
        the puts of the step wherever they stand. Of a conditional write (checked), a put without a timestamp gets none that
        is before that of the checked cell."""
        row = bytea(step["row"])
        first = []
        then = []
        last = []
        put = set()
        final = {key: n for n, m in enumerate(step["mutations"]) if m["op"] in COMPUTED for key in self.computed(m)}
        for n, m in enumerate(step["mutations"]):
            if m["op"] == "put":
                then += self.mutation(m, step["row"], checked)
                put.add((m["family"], to_bytes(m.get("qualifier"))))
                continue
            if m["op"] not in COMPUTED:
                newest = m["op"] == "delete_version" and m.get("ts") is None
                (first if newest else last).extend(self.mutation(m, step["row"]))
                continue
            for i, key in enumerate(self.computed(m)):
                name = f"v{n}_{i}"
                sql = self.compute(m, key, row, name)
                first += sql if final[key] == n else self.taken_back(sql, name)
                if key in put and final[key] == n:
                    then.append(self.put_computed(key, row, name, self.computed_rest(m, name)))
        return first + then + last

    # -- filters: to HBase's filter language ---------------------------------------

    def literal(self, value):
        """A text of the language: 'as it is', or X'hexadecimal digits'."""
        b = to_bytes(value)
        if all(0x20 <= c < 0x7F for c in b):
            return "'" + b.decode().replace("'", "''") + "'"
        return f"X'{b.hex()}'"

    def comparison(self, f):
        comparator = f["comparator"]
        kind = {"binary": "binary", "binary_prefix": "binaryprefix", "regex": "regexstring", "substring": "substring",
                "long": "long"}.get(comparator["type"])
        if kind is None or f["op"] not in OPERATORS:
            raise NotRun("comparator " + comparator["type"])
        value = comparator["value"]
        return [OPERATORS[f["op"]], f"'{kind}:' " + self.literal(str(value) if kind == "long" else value)]

    def filter_text(self, f):
        kind = f["type"]
        literal = self.literal
        if kind == "FilterList":
            # an empty list, which the language does not have, includes every cell
            parts = [self.filter_text(inner) for inner in f["filters"]] or [EVERYTHING]
            return "(" + {"MUST_PASS_ALL": " AND ", "MUST_PASS_ONE": " OR "}[f["operator"]].join(parts) + ")"
        if kind in ("SkipFilter", "WhileMatchFilter"):
            return ("SKIP " if kind == "SkipFilter" else "WHILE ") + self.filter_text(f["filter"])
        if kind in ("RowFilter", "FamilyFilter", "QualifierFilter", "ValueFilter"):
            arguments = self.comparison(f)
        elif kind in ("SingleColumnValueFilter", "SingleColumnValueExcludeFilter"):
            arguments = [literal(f["family"]), literal(f.get("qualifier"))] + self.comparison(f)
            arguments += [flag(f.get("filter_if_missing", False)), flag(f.get("latest_version_only", True))]
        elif kind == "ColumnValueFilter":
            arguments = [literal(f["family"]), literal(f.get("qualifier"))] + self.comparison(f)
        elif kind in ("PrefixFilter", "ColumnPrefixFilter"):
            arguments = [literal(f["prefix"])]
        elif kind == "MultipleColumnPrefixFilter":
            arguments = [literal(p) for p in f["prefixes"]]
        elif kind == "ColumnRangeFilter":
            arguments = [literal(f.get("min")), flag(f.get("min_inclusive", True)),
                         literal(f.get("max")), flag(f.get("max_inclusive", False))]
        elif kind == "ColumnPaginationFilter":
            arguments = [str(f["limit"]), literal(f["column_offset"]) if f.get("column_offset") is not None else str(f.get("offset", 0))]
        elif kind in ("ColumnCountGetFilter", "PageFilter"):
            arguments = [str(f["limit" if kind == "ColumnCountGetFilter" else "page_size"])]
        elif kind == "KeyOnlyFilter":
            arguments = [flag(f.get("len_as_val", False))]
        elif kind == "FirstKeyOnlyFilter":
            arguments = []
        elif kind == "DependentColumnFilter":
            arguments = [literal(f["family"]), literal(f.get("qualifier")), flag(f.get("drop", False))]
            arguments += self.comparison(f) if f.get("op") else []
        elif kind == "TimestampsFilter":
            arguments = [str(self.ts(t)) for t in f["timestamps"]]
        elif kind == "InclusiveStopFilter":
            arguments = [literal(f["stop_row"])]
        elif kind == "FuzzyRowFilter":
            arguments = []
            for k in f["keys"]:
                arguments += [literal(k["key"]), "'" + "".join(str(b) for b in (k["mask"] if isinstance(k["mask"], list) else to_bytes(k["mask"]))) + "'"]
        elif kind == "MultiRowRangeFilter":
            arguments = []
            for r in f["ranges"]:
                arguments += [literal(r.get("start")), flag(r.get("start_inclusive", True)),
                              literal(r.get("stop")), flag(r.get("stop_inclusive", False))]
        else:
            raise NotRun(kind)
        return f"{kind}({', '.join(arguments)})"

    def filter_argument(self, f):
        return ["filter => " + text(self.filter_text(f))]

    def check_filter(self, step):
        """A check by filter: does a Get of the row with it return anything?  The row is locked first."""
        check = step["check"]
        row = bytea(step["row"])
        family = self.case["table"]["families"][0]["name"]
        arguments = [f"'{self.table}'", row] + self.filter_argument(check["filter"])
        if self.range_sql(check):
            arguments.append("time_range => " + self.range_sql(check))
        get = f"widecol.get({', '.join(arguments)})"
        return [f"SELECT widecol.check('{self.table}', {row}, {column(family, '')}, NULL) \\g /dev/null",
                f"SELECT EXISTS (SELECT FROM {get}) AS applied \\gset", self.checked_ts(get)]

    @staticmethod
    def checked_ts(get):
        return f"SELECT coalesce((SELECT ts FROM {get} LIMIT 1), 0) AS ts \\gset checked_"

    def check(self, step):
        check = step["check"]
        if check.get("filter"):
            return (["\\set applied false", "BEGIN"] + self.check_filter(step) + ["\\if :applied"]
                    + self.mutations(step, True) + ["\\endif", f"SELECT '{APPLIED}' || (:'applied'::boolean)", "COMMIT"])
        single = step["mutations"][0] if len(step["mutations"]) == 1 else {}
        value = "NULL" if check.get("value") is None else bytea(check["value"])
        arguments = (f"'{self.table}', {bytea(step['row'])}, {column(check['family'], check.get('qualifier'))}, {value}")
        op = "op => " + text(COMPARE[check.get("compare") or "EQUAL"])
        plain = self.range_sql(check) is None and self.clock_ms == 0 and single.get("ts") is None and single.get("cell_ttl_ms") is None
        if plain and step["op"] == "check_and_put" and single.get("op") == "put":
            return [f"SELECT '{APPLIED}' || widecol.check_and_put({arguments}, "
                    f"{column(single['family'], single.get('qualifier'))}, {bytea(single.get('value'))}, {op})"]
        if plain and step["op"] == "check_and_delete" and single.get("op") == "delete_column":
            return [f"SELECT '{APPLIED}' || widecol.check_and_delete({arguments}, "
                    f"{column(single['family'], single.get('qualifier'))}, {op})"]
        if self.range_sql(check):
            op += ", time_range => " + self.range_sql(check)
        get = (f"widecol.get('{self.table}', {bytea(step['row'])}, "
               f"columns => ARRAY[{column(check['family'], check.get('qualifier'))}]"
               + (f", time_range => {self.range_sql(check)}" if self.range_sql(check) else "") + ")")
        return (["\\set applied false", "BEGIN", f"SELECT widecol.check({arguments}, {op}) AS applied \\gset", self.checked_ts(get),
                 "\\if :applied"]
                + self.mutations(step, True) + ["\\endif", f"SELECT '{APPLIED}' || (:'applied'::boolean)", "COMMIT"])

    def cells(self, step):
        """What stands behind FROM: the cells that a get or scan returns."""
        arguments = [] if step.get("filter") is None else self.filter_argument(step["filter"])
        columns = [text(f) for f in step.get("families", [])]
        columns += [column(f, q) for f, q in step.get("columns", [])]
        if columns:
            arguments.append("columns => ARRAY[" + ", ".join(columns) + "]")
        versions = step.get("versions", 1)
        arguments.append(f"versions => {ALL_VERSIONS if versions == 'all' else versions}")
        if self.range_sql(step):
            arguments.append("time_range => " + self.range_sql(step))
        for name, argument in (("store_limit", "column_limit"), ("store_offset", "column_offset")):
            if step.get(name) is not None:
                arguments.append(f"{argument} => {step[name]}")
        function = "scan"
        if step["op"] == "get" and not step.get("raw"):
            function = "get"
            arguments.append(f"\"row\" => {bytea(step['row'])}")
        elif step["op"] == "get":
            arguments.append(f"start_row => {bytea(step['row'])}, stop_row => {bytea(step['row'])}, include_stop => true")
        else:
            for name, argument in (("start", "start_row"), ("stop", "stop_row"), ("prefix", "row_prefix")):
                if step.get(name) is not None:
                    arguments.append(f"{argument} => {bytea(step[name])}")
            for name, argument in (("start_inclusive", "include_start"), ("stop_inclusive", "include_stop"),
                                   ("reversed", "reversed")):
                if step.get(name) is not None:
                    arguments.append(f"{argument} => {'true' if step[name] else 'false'}")
            if step.get("limit") is not None:
                arguments.append(f"row_limit => {step['limit']}")
        if step.get("raw"):
            arguments.append("raw => true")
        return f"widecol.{function}('{self.table}', {', '.join(arguments)})"

    def read(self, step):
        return [f"SELECT encode(\"row\", 'hex') || '|' || encode(convert_to(family, 'UTF8'), 'hex') || '|' || "
                f"encode(qualifier, 'hex') || '|' || ts || '|' || type || '|' || encode(value, 'hex') FROM {self.cells(step)}"]

    # -- what HBase's clients refuse before they ask a server -------------------------

    @staticmethod
    def filters_rows(f):
        """May the filter reject a row behind its cells (hasFilterRow)?"""
        if f["type"] == "FilterList":
            return any(Case.filters_rows(inner) for inner in f["filters"])
        return f["type"] in ROW_FILTERS

    @staticmethod
    def refuses(step):
        if step["op"] == "aggregate":
            start, stop = to_bytes(step.get("start")), to_bytes(step.get("stop"))
            families = set(step.get("families", [])) | {f for f, _ in step.get("columns", [])}
            return (bool(start and stop) and start >= stop) or (step["fn"] != "rowcount" and len(families) != 1)
        return bool(step.get("batch") and step.get("filter") and Case.filters_rows(step["filter"]))

    # -- aggregates, as HBase's AggregationClient makes them --------------------------

    def aggregate(self, step):
        """Of cells of 8 bytes; averages divide by rows that have any cell, deviations are those of rows' sums."""
        result = {
            "rowcount": "count(*)", "min": "min(least)", "max": "max(greatest)", "sum": "sum(total)",
            "avg": "sum(total)::float8 / count(*)",
            "std": "sqrt(sum(coalesce(total, 0)::float8 ^ 2) / count(*) - (sum(total)::float8 / count(*)) ^ 2)"
        }[step["fn"]]
        return [f"SELECT '{VALUE}' || coalesce(({result})::text, '') FROM (SELECT sum(v) AS total, min(v) AS least, max(v) AS greatest "
                f"FROM (SELECT \"row\", CASE length(value) WHEN 8 THEN ('x' || encode(value, 'hex'))::bit(64)::bigint END AS v "
                f"FROM {self.cells(step)}) c GROUP BY \"row\") r"]

    def split(self, step):
        op = step["op"]
        if op == "hex_splits":
            call = f"hex_splits({text(step['start'])}, {text(step['end'])}, {step['regions']})"
        elif op == "hexstring_split":
            call = f"hexstring_splits({step['regions']})"
        elif op == "uniform_split":
            call = f"uniform_splits({step['regions']})"
        elif op == "bytes_split":
            call = f"bytes_split({bytea(step['start'])}, {bytea(step['end'])}, {step['num']})"
        elif op in ("hexstring_midpoint", "uniform_midpoint"):
            # the midpoint is the one key that splits the range in two
            call = f"bytes_split({bytea(step['a'])}, {bytea(step['b'])}, 1)"
            if op == "hexstring_midpoint":
                a, b = (int(to_bytes(step[k]), 16) for k in "ab")
                call = f"hex_splits('{a:x}', '{b:x}', 2)"
                return [f"SELECT encode(substr(k, 9), 'hex') FROM unnest(widecol.{call}) u(k)"]
            return [f"SELECT encode(k, 'hex') FROM unnest(widecol.{call}) WITH ORDINALITY u(k, n) WHERE n = 2"]
        return [f"SELECT encode(k, 'hex') FROM unnest(widecol.{call}) k"]

    def sql(self, step):
        op = step["op"]
        if self.refuses(step):
            return []
        if op in ("get", "scan"):
            return self.read(step)
        if op in ("flush", "major_compact"):
            return self.keep_house(op)
        if op == "advance_clock":
            self.clock_ms += step["ms"]
            return self.set_clock()
        if op == "aggregate":
            return self.aggregate(step)
        if "split" in op or "midpoint" in op:
            return self.split(step)
        if op == "mutate_row":
            return ["BEGIN"] + self.mutations(step) + ["COMMIT"]
        if op.startswith("check_and_"):
            return self.check(step)
        statements = self.mutation(step)
        return statements if len(statements) == 1 else ["BEGIN"] + statements + ["COMMIT"]

    def keep_house(self, op):
        return [f"SELECT widecol.{op}('{self.table}')"]

    def set_clock(self):
        return [f"SET widecol.debug_clock_offset = '{self.clock_ms} ms'"]

    # -- running -----------------------------------------------------------------

    def script(self):
        lines = ["\\set VERBOSITY terse", "\\pset pager off"]
        lines += [s + ";" for s in self.create()]
        for i, step in enumerate(self.case["steps"]):
            lines.append(f"\\echo {MARK} {i}")
            # 1 ms at least lies between two steps
            lines.append("SELECT pg_sleep(0.001) \\g /dev/null")
            lines += [s if s[0] == "\\" or " \\g" in s else s + ";" for s in self.sql(step)]
        lines.append(f"\\echo {MARK} end")
        lines += [s + ";" for s in self.drop()]
        return "\n".join(lines) + "\n"

    def run(self):
        """The failures, and the differences that are only reported."""
        script = self.script()
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-f", "-"], input=script, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        outputs = {}
        current = "create"
        for line in done.stdout.splitlines():
            if line.startswith(MARK):
                current = line.split()[1]
                outputs[current] = []
            else:
                outputs.setdefault(current, []).append(line)
        failures = []
        notes = []
        if any("ERROR" in line for line in outputs.get("create", [])) or "end" not in outputs:
            failures.append("creation: " + " ".join(outputs.get("create", [])))
        for i, step in enumerate(self.case["steps"]):
            why = self.judge(step, outputs.get(str(i), []))
            if why:
                (notes if step.get("impl_dependent") else failures).append(f"step {i} ({step['op']}): {why}")
        return failures, notes

    def judge_values(self, step, got):
        """What increments and appends gave. Of a column that is named twice only the
        last was sent; the others would have given the same but for their operand."""
        values = []
        got = iter(got)
        for m in step.get("mutations", [step]):
            if m["op"] not in COMPUTED:
                continue
            sent = self.computed(m)
            new = {key: next(got, b"") for key in sent}
            for key, operand in self.operands(m):
                if m["op"] == "increment":
                    values.append(int.from_bytes(new[key], "big", signed=True) - sent[key] + operand)
                else:
                    values.append(new[key][:len(new[key]) - len(sent[key])] + operand)
        wanted = [to_bytes(w) if isinstance(v, bytes) else w for v, w in zip(values, step["expect_values"])]
        same = len(values) == len(step["expect_values"]) and values == wanted
        return None if same else f"got {values}, expected {step['expect_values']}"

    def judge(self, step, lines):
        """The error as text, or None."""
        errors = [line for line in lines if "ERROR:" in line or "FATAL:" in line]
        if self.refuses(step):
            return None if step.get("expect_error") else "should not have been refused"
        if step.get("expect_error"):
            return None if errors else "should have been refused"
        if errors:
            return errors[0]
        rows = [line for line in lines if line.strip()]
        if step.get("expect_applied") is not None:
            applied = [r for r in rows if r.startswith(APPLIED)]
            if applied != [APPLIED + ("true" if step["expect_applied"] else "false")]:
                return f"got {applied}, expected {step['expect_applied']}"
        if step.get("expect_values") is not None:
            why = self.judge_values(step, [bytes.fromhex(r[len(VALUE):]) for r in rows if r.startswith(VALUE)])
            if why:
                return why
        if step["op"] == "aggregate":
            got = [r[len(VALUE):] for r in rows if r.startswith(VALUE)]
            wanted = step["expect_value"]
            same = len(got) == 1 and (got[0] == "" if wanted is None else got[0] != "" and abs(float(got[0]) - wanted) <= 0.01)
            return None if same else f"got {got}, expected {wanted}"
        if "expect_value" in step:
            wanted = step["expect_value"]
            if not isinstance(wanted, list):
                wanted = [wanted]
            got = [bytes.fromhex(r) for r in rows]
            return None if got == [to_bytes(w) for w in wanted] else f"got {got}, expected {wanted}"
        cells = []
        if step["op"] in ("get", "scan"):
            for r in rows:
                row, family, qualifier, ts, kind, value = r.split("|")
                cells.append((bytes.fromhex(row), bytes.fromhex(family).decode(), bytes.fromhex(qualifier),
                              int(ts), kind, bytes.fromhex(value)))
        if "expect" in step:
            wanted = [(to_bytes(r), f, to_bytes(q), self.ts(t) if t is not None else None, k, to_bytes(v))
                      for r, f, q, t, k, v in step["expect"]]
            same = len(wanted) == len(cells) and all(
                w[3] in (None, c[3]) and w[:3] + w[4:] == c[:3] + c[4:] for w, c in zip(wanted, cells))
            if not same:
                return f"got {cells}, expected {wanted}"
        if "expect_rows" in step:
            got = list(dict.fromkeys(c[0] for c in cells))
            if got != [to_bytes(r) for r in step["expect_rows"]]:
                return f"got rows {got}, expected {step['expect_rows']}"
        if "expect_groups" in step:
            # a batch never spans rows
            got = []
            for row in dict.fromkeys(c[0] for c in cells):
                n = sum(c[0] == row for c in cells)
                got += [min(step["batch"], n - i) for i in range(0, n, step["batch"])]
            if got != step["expect_groups"]:
                return f"got groups {got}, expected {step['expect_groups']}"
        if "expect_count" in step:
            got = [len({c[0] for c in cells}), len(cells)]
            if got != step["expect_count"]:
                return f"got {got} rows and cells, expected {step['expect_count']}"
        return None


def run_all(batches, make):
    """Each case, with what its run gave, or with the NotRun that was raised."""
    def run_one(numbered):
        try:
            return numbered[1], make(*numbered).run()
        except NotRun as why:
            return numbered[1], why

    first = 0
    for cases, at_once in batches:
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            yield from pool.map(run_one, enumerate(cases, first))
        first += len(cases)


def replay(batches, make):
    """Prints TAP; the exit status. A batch is a list of cases, and how many of them run at a time; the batches run one
    after the other. make(number, case) gives the Case, or raises NotRun."""
    ran = 0
    bad = 0
    not_run = []
    for case, result in run_all(batches, make):
        if isinstance(result, NotRun):
            not_run.append(f"{case['id']} ({case['category']}): {result}")
            continue
        failures, notes = result
        ran += 1
        bad += bool(failures)
        print(f"{'not ok' if failures else 'ok'} {ran} - {case['id']}", flush=True)
        for f in failures:
            print("#   " + f[:2000])
        if "-v" in sys.argv:
            for n in notes:
                print("#   differs, not judged: " + n[:2000])
    print(f"1..{ran}")
    print(f"# {ran} cases run, {bad} failed, {len(not_run)} not run:")
    for line in not_run:
        print("#   not run: " + line)
    return 1 if bad else 0


def read_cases(patterns, name="cases.jsonl"):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        cases = [json.loads(line) for line in f if line.strip()]
    return [c for c in cases if not patterns or any(fnmatch.fnmatch(c["id"], p) for p in patterns)]


def main():
    arguments = sys.argv[1:]
    packing = "cell"
    if "--packing" in arguments:
        packing = arguments.pop(arguments.index("--packing") + 1)
    patterns = [a for a in arguments if not a.startswith("-")]
    cases = read_cases(patterns) + read_cases(patterns, "random.jsonl")
    subprocess.run(["psql", "-X", "-q", "-c", "SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS widecol"],
                   check=True)
    sys.exit(replay([(cases, 1)], lambda number, case: Case(number, case, packing)))


if __name__ == "__main__":
    main()
