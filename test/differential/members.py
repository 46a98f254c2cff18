"""Rows with maps, whose members are changed in every way; values may be long, and families keep their cells in any way."""

import json

from guards import DROP
from pools import quote

NAMES = ["a", "b", "c", "é", "a b", "x1", "x2", " ", "1", "zz"]
MANY_NAMES = NAMES + [f"m{i:03}" for i in range(40)]
VALUES = ["v", "w", "12", "ü", " 5", "", "q'q", "\\", '{"a": 1}']
LENGTHS = [100, 1000, 5000, 9000, 20000]
KEYS = 7

# A member that is NULL is none, and a map without members is NULL.
HEAP = ["CREATE TABLE h.t (k int, k2 text COLLATE \"C\", m jsonb, p jsonb, x text, y int, z int, PRIMARY KEY (k, k2))",
        "CREATE FUNCTION h.without_nulls() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
        "NEW.m := (SELECT jsonb_object_agg(key, value) FROM jsonb_each(NEW.m) WHERE value <> 'null'); "
        "NEW.p := (SELECT jsonb_object_agg(key, value) FROM jsonb_each(NEW.p) WHERE value <> 'null'); RETURN NEW; END$$",
        "CREATE TRIGGER without_nulls BEFORE INSERT OR UPDATE ON h.t FOR EACH ROW EXECUTE FUNCTION h.without_nulls()"]


class Map:
    """A column: all members of family m but one, or those of family n whose names begin with p_."""

    def __init__(self, column, prefix):
        self.column = column
        self.prefix = prefix

    def name(self, rng, names):
        return self.prefix + rng.choice(names)

    def value(self, rng, name):
        if name.endswith("x1"):
            return str(rng.randint(-5, 50))     # always a number
        return rng.choice(VALUES) if rng.random() < 0.8 else rng.choice("abc") * rng.choice(LENGTHS)

    def literal(self, rng, nulls=0.0, size=None):
        names = [self.prefix + name for name in rng.sample(MANY_NAMES, size or rng.choice([1, 1, 2, 3, 6, 30]))]
        members = {name: None if rng.random() < nulls else self.value(rng, name) for name in names}
        return quote(json.dumps(members, ensure_ascii=False)) + "::jsonb"

    def change(self, rng):
        """An expression for SET."""
        c, name = self.column, self.name(rng, MANY_NAMES)
        path = quote("{" + json.dumps(name, ensure_ascii=False) + "}")
        value = quote(json.dumps(self.value(rng, name), ensure_ascii=False))
        a, b = (quote(self.prefix + n) for n in "ab")
        return rng.choice([
            "NULL", c, self.literal(rng, 0.1), self.literal(rng, 0.1), f"{c} || {self.literal(rng)}", f"{c} || {self.literal(rng, 0.1)}",
            f"{c} || {self.literal(rng)}", f"coalesce({c}, '{{}}') || {self.literal(rng)}", f"jsonb_set({c}, {path}, {value})",
            f"jsonb_set({c}, {path}, {value}, false)", f"{c} - {quote(name)}", f"{c} - ARRAY[{a}, {b}, {quote(self.prefix + 'x2')}]",
            f"({c} || {self.literal(rng, size=1)}) - {quote(name)}", f"{c} || jsonb_build_object({quote(self.prefix + 'x1')}, (y + 1)::text)",
            f"jsonb_build_object({a}, x, {b}, y::text)"])

    def condition(self, rng):
        c, name = self.column, quote(self.name(rng, NAMES))
        text = quote(rng.choice(["v", "w", "12"]))
        a = self.prefix + "a"
        return rng.choice([
            f"{c} ? {name}", f"{c} ->> {name} = {text}", f"{c} ->> {name} <> {text}", f"{c} ->> {name} IS DISTINCT FROM {text}",
            f"({c} ->> {quote(self.prefix + 'x1')})::int {rng.choice('<>=')} {rng.randint(-5, 50)}", f"{c} @> '{{\"{a}\": \"v\"}}'", f"{c} IS NULL",
            f"{c} ?| ARRAY[{quote(a)}, {name}]", f"length({c}::text) > 1000"])


MAPS = [Map("m", ""), Map("p", "p_")]


class Author:
    def __init__(self, rng):
        self.rng = rng
        packings = [rng.choice(["auto", "row", "cell"]) for _ in range(3)]
        families = ", ".join(f'"{name}": {{"packing": "{packing}", "versions": {rng.choice([1, 1, 2, 5])}}}' for name, packing in zip(("m", "cf", "n"), packings))
        self.options = f"\"table\" 'diff_m', on_duplicate 'error', families '{{{families}}}'" + rng.choice(["", ", salt_buckets '4'"])

    @staticmethod
    def drop():
        return DROP

    def ddl(self):
        return HEAP + ["CREATE FOREIGN TABLE w.t (k int OPTIONS (rowkey '1'), k2 text OPTIONS (rowkey '2') COLLATE \"C\", m jsonb OPTIONS (family 'm'), "
                       "p jsonb OPTIONS (family 'n', qualifier_prefix 'p_'), x text OPTIONS (family 'm', qualifier 'own'), y int, "
                       f"z int OPTIONS (family 'n', qualifier 'p')) SERVER widecol OPTIONS ({self.options})"]

    @staticmethod
    def load():
        return []

    @staticmethod
    def stored():
        return "diff_m"

    @staticmethod
    def contents():
        return [("SELECT * FROM t ORDER BY k, k2", True)]

    def statement(self):
        """(SQL, whether its rows come in one order only)"""
        rng = self.rng
        chance = rng.random()
        if chance < 0.2:
            return self.insert(), False
        if chance < 0.55:
            return self.update(), False
        if chance < 0.6:
            return f"DELETE FROM t WHERE {self.key()}", False
        if chance < 0.64:
            return rng.choice([f"UPDATE t SET k = k + 10 WHERE {self.key()} AND k < 10", "DELETE FROM t WHERE k >= 10"] * 2 + ["TRUNCATE t"]), False
        if chance < 0.72:
            return self.groups(), False
        if chance < 0.73:
            return f"SET cpu_tuple_cost = {rng.choice(['100', 'DEFAULT'])}", False   # rows are dear: the engine makes groups of a few
        targets = rng.choice(["k, m", "k, p", "m ->> 'a', p ->> 'p_b'", "k, x, y, z", "*", "t", "count(*)", "m -> 'x1', m ->> 'm001', x", "p, z",
                              "jsonb_object_keys(m)", "(SELECT count(*) FROM jsonb_each_text(m))", "length(m::text), length(p::text)", "m - 'a'",
                              "count(m), count(p ->> 'p_a'), max(m ->> 'b')"])
        return f"SELECT {targets} FROM t WHERE {self.where()}", False

    def groups(self):
        rng = self.rng
        groups = rng.sample(["m ->> 'a'", "p ->> 'p_b'", "k", "y", "coalesce(m ->> 'b', x)", "(p ->> 'p_x1')::int / 10", "k % 2", "y > 3", "k2"], rng.randrange(3))
        where = f" WHERE {self.where()}" if rng.random() < 0.5 else ""
        if groups and rng.random() < 0.2:
            return f"SELECT DISTINCT {', '.join(groups)} FROM t{where}"
        aggregates = [rng.choice(["count(*)", "count(m ->> 'a')", "sum((m ->> 'x1')::int)", "avg((p ->> 'p_x1')::int)", "max((m ->> 'x1')::int)", "sum(z)", "count(y)",
                                  "min((p ->> 'p_a') COLLATE \"C\")", "sum((m ->> 'x1')::numeric)", "max(m ->> 'b' COLLATE \"C\")", "count(DISTINCT m ->> 'a')"])
                      + (f" FILTER (WHERE {self.condition()})" if rng.random() < 0.2 else "") for _ in range(rng.randint(1, 3))]
        by = f" GROUP BY {', '.join(str(i + 1) for i in range(len(groups)))}" if groups else ""
        return f"SELECT {', '.join(groups + aggregates)} FROM t{where}{by}"

    def key(self):
        k2 = f" AND k2 = '{self.rng.choice('abc')}'" if self.rng.random() < 0.7 else ""
        return f"k = {self.rng.randrange(KEYS)}{k2}"

    def condition(self):
        rng = self.rng
        if rng.random() < 0.4:
            return self.key()
        if rng.random() < 0.7:
            return rng.choice(MAPS).condition(rng)
        return rng.choice([f"x = '{rng.choice('vw')}'", f"y {rng.choice('<>=')} {rng.randrange(10)}", f"z IS {rng.choice(['', 'NOT '])}NULL"])

    def where(self):
        return " AND ".join(self.condition() for _ in range(self.rng.choice([1, 1, 2])))

    def value(self, column):
        if self.rng.random() < 0.2:
            return "NULL"
        of_map = next((m for m in MAPS if m.column == column), None)
        if of_map:
            return of_map.literal(self.rng)
        return f"'{self.rng.choice('vw')}'" if column == "x" else str(self.rng.randrange(10))

    def insert(self):
        columns = [c for c in "mpxyz" if self.rng.random() < 0.8]
        values = [str(self.rng.randrange(KEYS)), f"'{self.rng.choice('abc')}'"] + [self.value(c) for c in columns]
        return f"INSERT INTO t ({', '.join(['k', 'k2'] + columns)}) VALUES ({', '.join(values)})"

    def update(self):
        rng = self.rng
        maps = {m.column: m for m in MAPS}
        sets = [f"{c} = {maps[c].change(rng) if c in maps else self.value(c)}" for c in rng.sample("mpxyz", rng.randint(1, 3))]
        return f"UPDATE t SET {', '.join(sets)} WHERE {self.where()}{rng.choice(['', '', ' RETURNING k, y', ' RETURNING x'])}"
