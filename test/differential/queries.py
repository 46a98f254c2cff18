"""Random conditions and SELECTs."""

from cluster import HBase
from pools import quote

COMPARISONS = ["=", "<", "<=", ">", ">=", "<>"]
REGEXES = ["^a", "^ab$", "^a.?b", "^(ab|a b)", "(?i)^ab", "(?n)^b", "^", "***=^a", "^a\\\\c"]


class Condition:
    """A WHERE clause as a tree, so that a failing one can be cut down."""

    def __init__(self, text, parts=(), glue=None):
        self.text = text
        self.parts = list(parts)
        self.glue = glue            # AND, OR, NOT

    def sql(self):
        if self.glue is None:
            return self.text
        if self.glue == "NOT":
            return f"NOT ({self.parts[0].sql()})"
        return "(" + f" {self.glue} ".join(p.sql() for p in self.parts) + ")"

    def smaller(self):
        """Trees with something left out."""
        yield from self.parts
        for i, part in enumerate(self.parts):
            if len(self.parts) > 1:
                yield Condition("", self.parts[:i] + self.parts[i + 1:], self.glue)
            for smaller in part.smaller():
                yield Condition("", self.parts[:i] + [smaller] + self.parts[i + 1:], self.glue)


class Scope:
    """A table under an alias (or none), or the view of some of its rows (under an alias)."""

    def __init__(self, table, alias="", viewed=False):
        self.table = table
        self.alias = alias
        self.viewed = viewed

    def name(self, column):
        return f"{self.alias}.{column.name}" if self.alias else column.name

    @property
    def source(self):
        return f"{self.table.view if self.viewed else self.table.name} {self.alias}".strip()


def some_scope(rng, tables):
    kind = rng.random()
    return Scope(rng.choice(tables), "" if kind < 0.45 else "t", kind >= 0.9)


# --- conditions -------------------------------------------------------------------

def text_condition(rng, c, name):
    pattern = rng.choice(["a%", "ab%", "%", "", "a", "_%", "a_c", "%b", "é%", "日%", "a\\%%", "a\\_c", "Z%", "x%", "h_llo%", " %", "ab"])
    prefix = rng.choice(["a", "ab", "", "é", "z", "hello w"])
    return rng.choice([
        f"{name} LIKE {quote(pattern)}", f"{name} LIKE {quote(pattern)}", f"{name} NOT LIKE {quote(pattern)}",
        f"{name} ILIKE {quote(pattern)}", f"{name} ^@ {quote(prefix)}", f"starts_with({name}, {quote(prefix)})",
        f"{name} LIKE {quote(pattern)} ESCAPE '~'", f"{name} ~ {quote(rng.choice(REGEXES))}", f"{name} SIMILAR TO 'a(b|c)*%'", f"length({name}) > 2",
        f"left({name}, 1) = 'a'", f"{name} || 'x' = 'abx'", f'{name} < \'b\' COLLATE "C"', f'{name} >= \'B\' COLLATE "und-x-icu"',
        f'{name} COLLATE "C" > \'a\'', f"upper({name}) = 'AB'", f"{name} IN ('a', 'ab', 'é')",
        f"({name} = {quote(prefix)} OR {name} LIKE {quote(pattern)})", f"({name} LIKE {quote(pattern)} OR {name} = {quote(prefix)})",
        f"({name} = {quote(prefix)} OR {name} ~ {quote(rng.choice(REGEXES))})",
    ])


def number_condition(rng, c, name):
    return rng.choice([
        f"{name} + 0 > 1", f"{name} % 2 = 1" if c.type.name in ("int2", "int4", "int8") else f"{name} > 0.5", f"abs({name}::float8) < 5",
        f"{name}::text = '1'", f"{name}::float8 <= 2", f"{name}::numeric IN (1, 2, 3)", f"coalesce({name}, 1) = 1",
        f"{name} = ANY ('{{1,2,3}}')", f"{name} <> ALL ('{{1,2}}')", f"{name} >= ANY ('{{2,NULL}}')", f"NOT {name} = ANY ('{{1,NULL}}')",
        f"{name} IN (SELECT generate_series(1, 5))", f"{name} IN ({', '.join(str(i) for i in range(-3, 300, 2))})",
        f"{name} = ANY (ARRAY(SELECT generate_series(-5, {rng.choice([5000, 5000, 12000])})))", f"{name} = ANY (ARRAY(SELECT generate_series(0, 9, 3)))",
        f"{name} = (SELECT 2)", f"{name} > (SELECT count(*) FROM generate_series(1, 3))", f"CASE WHEN {name} > 1 THEN true ELSE {name} = 0 END",
    ])


def member_condition(rng, name):
    """Of members; x1 is always a number."""
    key = rng.choice(["a", "b", "é", "a b", "x2", "", "none"])
    text = quote(rng.choice(["v", "w", "ü", "12", "", "x"]))
    member = f"{name} ->> {quote(key)}"
    number = f"({name} ->> 'x1')::{rng.choice(['int', 'int2', 'int8', 'numeric', 'float8'])}"
    return rng.choice([
        f"{member} {rng.choice(['=', '=', '<>'])} {text}", f"{member} IN ({text}, 'v', NULL)", f"{member} NOT IN ({text}, 'v')",
        f"{member} IS {rng.choice(['', 'NOT '])}NULL", f"{member} IS DISTINCT FROM {text}", f"{member} LIKE 'v%'", f"{member} NOT LIKE {text}",
        f"({member}) COLLATE \"C\" > {text}", f"{name} ? {quote(key)}", f"{name} ?| ARRAY[{quote(key)}, 'a', NULL]",
        f"{name} ?& ARRAY[{quote(key)}, 'a']", f"{name} @> '{{\"b\": \"w\"}}'", f"{name} @> '{{\"a\": \"v\", \"b\": \"w\"}}'",
        f"{name} @> '{{\"a\": 12}}'", f"{number} {rng.choice(COMPARISONS)} {rng.choice([-3, 0, 5, 7, 12])}", f"{number} IN (1, 5, 7)",
        f"{number} IS NULL", f"({member} = {text}) IS NOT TRUE", f"NOT {name} ? {quote(key)}"])


def column_condition(rng, c, name):
    if c.map:
        return rng.choice([f"{name} IS NULL", f"{name} = {c.literal(rng)}", member_condition(rng, name), member_condition(rng, name)])
    if not c.type.orderable:
        return rng.choice([f"{name} IS NULL", f"{name} IS NOT NULL", f"{name}::text = {quote(rng.choice(c.type.stored))}"])
    kind = rng.random()
    if c.type.name == "bool" and kind < 0.5:
        return rng.choice([name, f"NOT {name}", f"{name} IS TRUE", f"{name} IS NOT TRUE", f"{name} IS FALSE", f"{name} IS UNKNOWN",
                           f"{name} = (1 = 1)", f"{name} <> true", f"{name} = NOT false"])
    if c.type.textual and kind < 0.3:
        return text_condition(rng, c, name)
    if c.type.kind == "number" and kind < 0.15:
        return number_condition(rng, c, name)
    probe = c.probe(rng)
    if kind < 0.55:
        op = rng.choice(COMPARISONS + ["=", "="])
        return f"{name} {op} {probe}" if rng.random() < 0.85 else f"{probe} {op} {name}"
    if kind < 0.62:
        low, high = c.literal(rng), c.literal(rng)
        return f"{name} {rng.choice(['', '', 'NOT '])}BETWEEN {rng.choice(['', '', 'SYMMETRIC '])}{low} AND {high}"
    if kind < 0.78:
        values = ", ".join(c.literal(rng) for _ in range(rng.choice([1, 2, 3, 6])))
        if rng.random() < 0.1:
            values += f", NULL::{c.type.base}"
        return rng.choice([f"{name} IN ({values})", f"{name} IN ({values})", f"{name} NOT IN ({values})", f"{name} = ANY (ARRAY[{values}])",
                           f"{name} > ANY (ARRAY[{values}])", f"{name} <= ALL (ARRAY[{values}])", f"{name} <> ALL (ARRAY[{values}])"])
    if kind < 0.86:
        return f"{name} IS {rng.choice(['', 'NOT '])}NULL"
    if kind < 0.92:
        return f"{name} IS {rng.choice(['', 'NOT '])}DISTINCT FROM {probe}"
    return rng.choice([f"{name} = (SELECT {probe})", f"{name} >= (SELECT {probe} FROM pg_class WHERE oid = {rng.choice([1259, 1])})", f"nullif({name}, {c.literal(rng)}) IS NULL",
                       f"{name} = {name}", f"({name} = {probe}) IS NOT TRUE", f"coalesce({name}, {c.literal(rng)}) = {c.literal(rng)}",
                       f"{name}::text > 'b' COLLATE \"C\""])


def raw_condition(rng, scope):
    """The whole key as bytes, against one that is there, cut short or not."""
    name = f"{scope.alias}.raw" if scope.alias else "raw"
    here = " AND ".join(f"x.{c.name} = {value}" for c, value in zip(scope.table.keys, scope.table.some_key(rng)))
    other = f"(SELECT {rng.choice(['x.raw', 'substring(x.raw, 1, 3)'])} FROM {scope.table.name} x WHERE {here})"
    value = rng.choice([other, other, "'\\\\x80'::bytea", "'\\\\x6162'::bytea", "''::bytea"])
    return f"{name} {rng.choice(COMPARISONS)} {value}" if rng.random() < 0.8 else f"{name} IN ({value}, {other})"


def row_condition(rng, scope):
    """(k1, k2) > (a, b), also of columns in another order, and partly values."""
    columns = [c for c in scope.table.columns if c.type.orderable and not c.map]
    keys = scope.table.keys
    if rng.random() < 0.7 or len(columns) < 2:
        start = rng.randrange(len(keys))
        chosen = keys[start:start + rng.randint(1, 3)]
        if len(chosen) < 2:
            chosen = keys if len(keys) > 1 else (columns + columns)[:2]
    else:
        chosen = rng.sample(columns, 2)
    left = "(" + ", ".join(scope.name(c) for c in chosen) + ")"

    def right():
        if chosen == keys[:len(chosen)] and rng.random() < 0.5:
            return "(" + ", ".join(scope.table.some_key(rng)[:len(chosen)]) + ")"
        return "(" + ", ".join(c.literal(rng) if rng.random() < 0.9 else c.probe(rng) for c in chosen) + ")"

    kind = rng.random()
    if kind < 0.1:
        return f"{left} IN ({right()}, {right()}, {right()})"
    if kind < 0.2:
        return f"{left} BETWEEN {right()} AND {right()}"
    op = rng.choice(COMPARISONS)
    return f"{left} {op} {right()}" if rng.random() < 0.8 else f"{right()} {op} {left}"


def subquery_condition(rng, scope, others):
    """Conditions with a table of their own."""
    inner = Scope(rng.choice(others), "s", rng.random() < 0.2)
    where = atom(rng, inner, []).sql()
    pairs = joinable(scope, inner)
    if not pairs or rng.random() < 0.2:
        return f"{rng.choice(['', 'NOT '])}EXISTS (SELECT FROM {inner.source} WHERE {where})"
    mine, theirs = rng.choice(pairs)
    a, b = scope.name(mine), inner.name(theirs)
    forms = [f"{a} IN (SELECT {b} FROM {inner.source} WHERE {where})", f"{a} NOT IN (SELECT {b} FROM {inner.source} WHERE {where})",
             f"EXISTS (SELECT FROM {inner.source} WHERE {a} = {b} AND {where})",
             f"NOT EXISTS (SELECT FROM {inner.source} WHERE {a} = {b} AND {where})",
             f"{a} = ANY (ARRAY(SELECT {b} FROM {inner.source} WHERE {where}))",
             f"(SELECT count(*) FROM {inner.source} WHERE {b} = {a}) > 0",
             f"(SELECT count(*) FROM {inner.source} WHERE {b} {rng.choice(['<', '>=', '<>'])} {a} AND {where}) > {rng.randint(1, 9)}",
             f"{a} IN (SELECT {b} FROM {inner.source} WHERE {where}{order_by(rng, inner, True)}{limit(rng)})"]
    if "min" in theirs.type.aggregates:
        forms += [f"{a} = (SELECT max({b}) FROM {inner.source} WHERE {where})", f"{a} >= (SELECT min({b}) FROM {inner.source})"]
    return rng.choice(forms)


def atom(rng, scope, others):
    if others and rng.random() < 0.06:
        return Condition(subquery_condition(rng, scope, others))
    if scope.table.raw_key and not scope.viewed and not scope.alias == "s" and rng.random() < 0.15:
        return Condition(raw_condition(rng, scope))
    if rng.random() < 0.12:
        return Condition(row_condition(rng, scope))
    column = rng.choice(scope.table.keys * 2 + scope.table.columns)
    return Condition(column_condition(rng, column, scope.name(column)))


def pinning_condition(rng, c, name, value):
    """The column has this value, or one of a few."""
    values = [value] + [c.literal(rng) for _ in range(3)]
    if not c.type.orderable or rng.random() < 0.6:
        return f"{name} {rng.choice(['=', '=', '=', 'IS NOT DISTINCT FROM'] if c.type.orderable else ['='])} {value}"
    return f"{name} IN ({', '.join(values)})" if rng.random() < 0.6 else "(" + " OR ".join(f"{name} = {v}" for v in values) + ")"


def keys_condition(rng, scope):
    """Leading parts have the values of one of some rows, (k1, k2) IN (...), which may have values in common, and the next part
    has a condition of its own."""
    keys = scope.table.keys
    n = rng.randint(1, len(keys))
    rows = [scope.table.some_key(rng)[:n] for _ in range(rng.choice([2, 2, 3, 8]))]
    if rng.random() < 0.4:
        shared = rng.randrange(n)
        for row in rows:
            row[shared] = rows[0][shared]
    left = "(" + ", ".join(scope.name(c) for c in keys[:n]) + ")"
    parts = [Condition(f"{left} IN (" + ", ".join("(" + ", ".join(row) + ")" for row in rows) + ")")]
    for c in keys[n:n + rng.randint(0, 2)]:
        parts.append(Condition(pinning_condition(rng, c, scope.name(c), c.literal(rng)) if rng.random() < 0.5 else
                               column_condition(rng, c, scope.name(c))))
    return parts


def where(rng, scope, others=(), depth=2):
    """Often the leading key parts are pinned, as in most queries that matter."""
    parts = []
    kind = rng.random()
    if kind < 0.4:
        here = scope.table.some_key(rng)
        for c, value in list(zip(scope.table.keys, here))[:rng.randint(1, len(here))]:
            parts.append(Condition(pinning_condition(rng, c, scope.name(c), value)))
    elif kind < 0.55:
        parts += keys_condition(rng, scope)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        kind = rng.random()
        if depth > 0 and kind < 0.2:
            parts.append(Condition("", [where(rng, scope, others, depth - 1), where(rng, scope, others, depth - 1)], "OR"))
        elif kind < 0.3:
            parts.append(Condition("", [atom(rng, scope, others)], "NOT"))
        else:
            parts.append(atom(rng, scope, others))
    if not parts:
        return Condition("true")
    return parts[0] if len(parts) == 1 else Condition("", parts, "AND")


# --- parts of a SELECT ----------------------------------------------------------------

def order_by(rng, scope, total):
    """ORDER BY; total: every row has its place."""
    columns = [c for c in scope.table.columns if c.type.orderable and not c.map]
    chosen = rng.sample(columns, rng.randint(0, min(2, len(columns)))) if rng.random() < 0.4 else []
    if total:
        keys = list(scope.table.keys)
        if rng.random() < 0.2:
            rng.shuffle(keys)
        chosen += [k for k in keys if k not in chosen]
    way = rng.choice(["", " DESC", None, None])
    items = []
    for c in chosen:
        item = scope.name(c)
        if c.type.textual and rng.random() < 0.1:
            item += ' COLLATE "C"'
        items.append(item + (rng.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC"]) if way is None else way))
    return " ORDER BY " + ", ".join(items) if items else ""


def limit(rng):
    out = f" LIMIT {rng.choice([0, 1, 2, 3, 10, 50])}" if rng.random() < 0.8 else ""
    if rng.random() < 0.5:
        out += f" OFFSET {rng.choice([0, 1, 2, 3, 7, 20, 60])}"
    return out or " LIMIT 5"


def targets(rng, scope):
    kind = rng.random()
    columns = scope.table.columns
    if kind < 0.3:
        return f"{scope.alias}.*" if scope.alias else "*"
    if kind < 0.4:
        return scope.alias or scope.table.name      # the whole row
    return ", ".join(scope.name(c) for c in rng.sample(columns, rng.randint(1, len(columns))))


def joinable(a, b):
    return [(x, y) for x in a.table.columns for y in b.table.columns
            if x.type.kind == y.type.kind and x.type.orderable and not x.map and not y.map and x.type.kind not in ("mood", "text")
            or (x.type.kind == "text" and y.type.kind == "text" and x.type.name == y.type.name)]


def aggregate(rng, scope):
    c = rng.choice(scope.table.columns)
    if c.map:
        return f"count({scope.name(c)})"
    name = rng.choice(c.type.aggregates)
    inner = scope.name(c)
    if name == "count" and c.type.orderable and rng.random() < 0.3:
        inner = f"DISTINCT {inner}"
    call = f"{name}({inner})"
    if rng.random() < 0.15:
        call += f" FILTER (WHERE {where(rng, scope, [], 0).sql()})"
    # the places that are shown may be fewer than those of the values
    return f"trim_scale({call})" if name == "sum" and c.type.name.startswith("numeric") else call


# Not for subqueries that are cheap: one that starts workers for each outer row takes minutes.
PARALLEL = ["min_parallel_table_scan_size = 0", "parallel_setup_cost = 10", "parallel_tuple_cost = 0"]


class Query:
    """A SELECT: text around a condition; ordered says that its rows come in one order only."""

    def __init__(self, before, condition, after="", ordered=False, settings=()):
        self.before = before
        self.condition = condition
        self.after = after
        self.ordered = ordered
        self.settings = list(settings)

    def sql(self):
        return f"{self.before} WHERE {self.condition.sql()}{self.after}"

    def smaller(self):
        for condition in self.condition.smaller():
            yield Query(self.before, condition, self.after, self.ordered, self.settings)
        if self.condition.sql() != "true":
            yield Query(self.before, Condition("true"), self.after, self.ordered, self.settings)


# --- kinds of SELECT -----------------------------------------------------------------------

def plain(rng, tables):
    scope = some_scope(rng, tables)
    total = rng.random() < 0.6
    after = order_by(rng, scope, total)
    if total and rng.random() < 0.6:
        after += limit(rng)
    if rng.random() < 0.03 and HBase.port is None:
        after += " FOR UPDATE"
    condition = where(rng, scope, tables)
    settings = join_settings(rng) if "SELECT" in condition.sql() else []
    return Query(f"SELECT {targets(rng, scope)} FROM {scope.source}", condition, after, total, settings)


def group_settings(rng):
    """Rows may be dear, so that a few are enough for the engine to make groups of them."""
    settings = ["cpu_tuple_cost = 100"] if rng.random() < 0.7 else []
    if rng.random() < 0.2:
        settings += PARALLEL
    if rng.random() < 0.4:
        settings.append(rng.choice(["enable_hashagg = off", "enable_sort = off", "enable_partitionwise_aggregate = on"]))
    return settings


def grouped(rng, tables):
    scope = some_scope(rng, tables)
    condition = Condition("true") if rng.random() < 0.3 else where(rng, scope, tables)
    settings = group_settings(rng)
    aggregates = ", ".join(["count(*)"] + [aggregate(rng, scope) for _ in range(rng.randint(0, 3))])
    columns = [c for c in scope.table.columns if c.type.hashable and c.type.orderable and not c.map]
    if rng.random() < 0.5:
        return Query(f"SELECT {aggregates} FROM {scope.source}", condition, settings=settings)
    names = [scope.name(c) for c in rng.sample(columns, rng.randint(1, min(2, len(columns))))]
    group = ", ".join(names)
    if rng.random() < 0.2:
        group = rng.choice([f"ROLLUP ({group})", f"CUBE ({group})", f"GROUPING SETS (({group}), ())"])
    having = rng.choice(["", "", " HAVING count(*) > 1"])
    return Query(f"SELECT {', '.join(names)}, {aggregates} FROM {scope.source}", condition, f" GROUP BY {group}{having}",
                 settings=settings)


def first_of_each(rng, scope, keys, tables):
    """The first or last rows of those with the same leading parts of the key, in orders that the key has, and others."""
    n = rng.randint(1, len(keys))
    on, rest = keys[:n], keys[n:]
    if rng.random() < 0.2:
        rng.shuffle(on)
    ways = rng.choice([["", ""], [" DESC", " DESC"], [" DESC", ""], ["", " DESC"]])
    order = ", ".join([k + ways[0] for k in on] + [k + ways[1] for k in rest])
    names = ", ".join(keys + [scope.name(c) for c in scope.table.values if not c.map][:rng.randint(0, 2)])
    return Query(f"SELECT DISTINCT ON ({', '.join(on)}) {names} FROM {scope.source}", where(rng, scope, tables), f" ORDER BY {order}", True)


def distinct(rng, tables):
    scope = Scope(rng.choice(tables))
    columns = [c for c in scope.table.columns if c.type.orderable and not c.map]
    keys = [scope.name(c) for c in scope.table.keys]
    kind = rng.random()
    if kind < 0.4:
        return first_of_each(rng, scope, keys, tables)
    if kind < 0.6:
        names = ", ".join(rng.sample(keys, rng.randint(1, len(keys))))
        way = rng.choice(["SELECT DISTINCT {0} FROM {1}", "SELECT {0} FROM {1}", "SELECT count(DISTINCT {2}), min({2}::text COLLATE \"C\") FROM {1}"])
        after = f" GROUP BY {names}" if way.startswith("SELECT {0}") else ""
        return Query(way.format(names, scope.source, names.split(", ")[0]), where(rng, scope, tables), after)
    names = ", ".join(scope.name(c) for c in rng.sample(columns, rng.randint(1, len(columns))))
    return Query(f"SELECT DISTINCT {names} FROM {scope.source}", where(rng, scope, tables))


def distinct_page(rng, tables):
    """A page of the values that leading parts of the key have, or of groups by them."""
    scope = some_scope(rng, tables)
    columns = scope.table.keys[:rng.randint(1, len(scope.table.keys))]
    if rng.random() < 0.3:
        columns = rng.sample(scope.table.keys, len(columns))
    names = ", ".join(scope.name(c) for c in columns)
    way = rng.choice(["", " DESC"])
    after = " ORDER BY " + ", ".join(scope.name(c) + way for c in columns) + rng.choice(["", limit(rng)])
    if rng.random() < 0.5:
        return Query(f"SELECT DISTINCT {names} FROM {scope.source}", where(rng, scope, tables), after, True)
    having = rng.choice(["", "", " HAVING count(*) > 1", f" HAVING {aggregate(rng, scope)} IS NOT NULL"])
    return Query(f"SELECT {names}, count(*), {aggregate(rng, scope)} FROM {scope.source}", where(rng, scope, tables),
                 f" GROUP BY {names}{having}{after}", True, group_settings(rng))


def ties(rng, tables):
    """The first rows, with those that are equal to the last of them."""
    scope = Scope(rng.choice(tables))
    columns = [c for c in scope.table.columns if c.type.orderable and not c.map]
    chosen = scope.table.keys[:1] if rng.random() < 0.5 else rng.sample(columns, 1)
    keys = ", ".join(c.name for c in scope.table.keys)
    way = rng.choice(["", " DESC"])
    return Query(f"SELECT {keys} FROM {scope.source}", where(rng, scope, tables),
                 f" ORDER BY {', '.join(c.name + way for c in chosen)} FETCH FIRST {rng.choice([1, 2, 10])} ROWS WITH TIES")


def of_a_page(rng, tables):
    """Aggregates of some rows in the key's order; a LIMIT that is an expression."""
    scope = Scope(rng.choice(tables))
    keys = ", ".join(c.name for c in scope.table.keys)
    way = rng.choice(["", " DESC"])
    rows = rng.choice(["5", "NULL", "ALL", "(SELECT 3)", "(SELECT NULL::int)", "(SELECT count(*) FROM generate_series(1, 4))", "2 + 1"])
    skipped = rng.choice(["", "", " OFFSET NULL", " OFFSET (SELECT 2)"])
    inner = f"SELECT * FROM {scope.source} WHERE {where(rng, scope, tables).sql()} ORDER BY {', '.join(k + way for k in keys.split(', '))} LIMIT {rows}{skipped}"
    return Query(f"SELECT count(*), {aggregate(rng, scope)}, {aggregate(rng, scope)} FROM ({inner}) p", where(rng, scope, [], 1))


def special_aggregates(rng, tables):
    """With FILTER, with an order of their own, of expressions."""
    scope = Scope(rng.choice(tables))
    keys = ", ".join(c.name for c in scope.table.keys)
    way = rng.choice(["", " DESC"])
    first = scope.table.keys[0]
    forms = [f"{aggregate(rng, scope)} FILTER (WHERE {where(rng, scope, [], 1).sql()})" for _ in range(2)]
    forms += [f"string_agg({rng.choice(scope.table.columns).name}::text, ',' ORDER BY {', '.join(k + way for k in keys.split(', '))})",
              f"count(DISTINCT {first.name})", f"count(CASE WHEN {atom(rng, scope, []).sql()} THEN 1 END)", f"min({first.name}::text COLLATE \"C\")"]
    chosen = ", ".join(rng.sample(forms, rng.randint(1, 3)))
    if rng.random() < 0.5:
        return Query(f"SELECT {chosen} FROM {scope.source}", where(rng, scope, tables), settings=group_settings(rng))
    return Query(f"SELECT {first.name}, {chosen} FROM {scope.source}", where(rng, scope, tables), f" GROUP BY {first.name}",
                 settings=group_settings(rng))


def correlated(rng, tables):
    """Values for each row, from another table's rows."""
    a, b = Scope(rng.choice(tables), "a"), Scope(rng.choice(tables), "b")
    pairs = joinable(a, b)
    if not pairs:
        return plain(rng, tables)
    ons = " AND ".join(f"{b.name(y)} {rng.choice(['=', '=', '=', '<', '>='])} {a.name(x)}" for x, y in rng.sample(pairs, min(len(pairs), rng.randint(1, 2))))
    keys = ", ".join(b.name(c) + rng.choice(["", " DESC"]) for c in b.table.keys)
    inner = [f"(SELECT {aggregate(rng, b)} FROM {b.source} WHERE {ons})",
             f"(SELECT {b.name(rng.choice(b.table.columns))} FROM {b.source} WHERE {ons} ORDER BY {keys} LIMIT 1)",
             f"EXISTS (SELECT FROM {b.source} WHERE {ons} AND {atom(rng, b, []).sql()})",
             f"(SELECT count(*) FROM (SELECT FROM {b.source} WHERE {ons} LIMIT 3) c)"]
    names = ", ".join(a.name(c) for c in a.table.keys)
    return Query(f"SELECT {names}, {', '.join(rng.sample(inner, 2))} FROM {a.source}", where(rng, a, [], 1), settings=join_settings(rng))


def walk(rng, tables):
    """Rows that are reached from some rows, step by step."""
    a, b = Scope(rng.choice(tables), "a"), Scope(rng.choice(tables), "b")
    pairs = [(x, y) for x, y in joinable(b, b) if y.key and x.type is y.type]
    if a.table is not b.table or not pairs:
        return plain(rng, tables)
    x, y = rng.choice(pairs)
    names = ", ".join(dict.fromkeys([x.name] + [c.name for c in b.table.keys if c.type.hashable]))
    named = ", ".join(f"b.{n}" for n in names.split(", "))
    return Query(f"WITH RECURSIVE r ({names}) AS (SELECT {named} FROM {b.source} WHERE {where(rng, b, [], 1).sql()} "
                 f"UNION SELECT {named} FROM r JOIN {b.source} ON r.{x.name} = b.{y.name}) SELECT * FROM r", Condition("true"), settings=join_settings(rng))


def window(rng, tables):
    scope = Scope(rng.choice(tables))
    keys = ", ".join(scope.name(c) for c in scope.table.keys)
    function = rng.choice(["row_number()", "rank()", f"lag({keys.split(',')[0]})", f"first_value({keys.split(',')[0]})",
                           "count(*)", "ntile(3)"])
    partition = rng.choice(["", f"PARTITION BY {keys.split(',')[0]} "])
    way = rng.choice(["", " DESC"])
    over = f"{partition}ORDER BY {', '.join(k + way for k in keys.split(', '))}"
    return Query(f"SELECT {keys}, {function} OVER ({over}) FROM {scope.source}", where(rng, scope, tables))


def set_operation(rng, tables):
    scope = Scope(rng.choice(tables))
    columns = [scope.name(c) for c in scope.table.columns if c.type.orderable and not c.map]
    names = ", ".join(rng.sample(columns, rng.randint(1, len(columns))))
    op = rng.choice(["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
    other = where(rng, scope, tables).sql()
    return Query(f"SELECT {names} FROM {scope.source} WHERE {other} {op} SELECT {names} FROM {scope.source}", where(rng, scope, tables))


JOIN_METHODS = {"nestloop": ["hashjoin", "mergejoin"], "hashjoin": ["nestloop", "mergejoin"], "mergejoin": ["nestloop", "hashjoin"]}


def join_settings(rng):
    """Any plan, or one method only; nested loops with keys looked up one by one or many at once."""
    if rng.random() < 0.3:
        return PARALLEL if rng.random() < 0.3 else []
    method = rng.choice(["nestloop"] + list(JOIN_METHODS))
    settings = [f"enable_{m} = off" for m in JOIN_METHODS[method]]
    if method == "nestloop":
        settings += [f"enable_{m} = off" for m in rng.choice([[], ["memoize", "material"], ["memoize", "material", "sort"]])]
        settings += rng.choice([[], [], ["widecol.enable_batched_lookup = off"], ["work_mem = '64kB'"]])
    return settings


JOINED_ROWS_MAX = 1000000


def join_several(rng, tables):
    """Three or four tables, each joined to one before by a key of its own; as long as
    the rows, of keys that have four values or more, are not too many to wait for."""
    scopes = [Scope(rng.choice(tables), "a")]
    source = scopes[0].source
    rows = scopes[0].table.nrows
    for alias in "bcd"[:rng.randint(2, 3)]:
        inner = Scope(rng.choice(tables), alias)
        outer = rng.choice(scopes)
        pairs = [p for p in joinable(outer, inner) if p[1].key]
        if not pairs:
            break
        if outer.table is inner.table and rng.random() < 0.6:
            ons = [f"{outer.name(k)} = {inner.name(k)}" for k in inner.table.keys[:rng.randint(1, 3)]]
        else:
            ons = [f"{outer.name(x)} = {inner.name(y)}" for x, y in [rng.choice(pairs)]]
        rows *= 1 if outer.table is inner.table and len(ons) == len(inner.table.keys) else max(1, inner.table.nrows // 4)
        if rows > JOINED_ROWS_MAX:
            break
        if rng.random() < 0.3:
            x, y = rng.choice(pairs)
            ons.append(f"{outer.name(x)} {rng.choice(['=', '<=', '>', '<>'])} {inner.name(y)}")
        if rng.random() < 0.3:
            ons.append(atom(rng, inner, []).sql())
        source += f" {rng.choice(['JOIN', 'JOIN', 'LEFT JOIN'])} {inner.source} ON {' AND '.join(ons)}"
        scopes.append(inner)
    outer = rng.choice(scopes)
    condition = where(rng, outer, tables)
    # many rows may come: they are counted by the values of one column
    columns = [c for c in outer.table.columns if c.type.hashable and c.type.orderable and not c.map]
    name = outer.name(rng.choice(columns))
    counts = ", ".join(f"count({s.name(rng.choice(s.table.columns))})" for s in scopes)
    return Query(f"SELECT {name}, count(*), {counts} FROM {source}", condition, f" GROUP BY {name}", False, join_settings(rng))


def join(rng, tables):
    a, b = Scope(rng.choice(tables), "a"), Scope(rng.choice(tables), "b")
    pairs = joinable(a, b)
    if not pairs:
        return plain(rng, tables)
    both_keys = [p for p in pairs if p[1].key]
    ons = [f"{a.name(x)} = {b.name(y)}" for x, y in rng.sample(both_keys or pairs, 1)]
    if a.table is b.table and rng.random() < 0.6:
        ons = [f"{a.name(k)} = {b.name(k)}" for k in a.table.keys]
    elif len(pairs) > 1 and rng.random() < 0.4:
        x, y = rng.choice(pairs)
        ons.append(f"{a.name(x)} {rng.choice(['=', '<=', '<', '<>'])} {b.name(y)}")
    kind = rng.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    if kind == "FULL JOIN":
        ons = [o for o in ons if " = " in o]
    elif rng.random() < 0.3:
        ons.append(atom(rng, b, []).sql())
    settings = join_settings(rng)
    names = ", ".join(s.name(c) for s in (a, b) for c in s.table.keys)
    if rng.random() < 0.3:
        names = rng.choice(["a.*, b.*", "a, b", "count(*)", "b.*"])
    condition = where(rng, a, tables) if rng.random() < 0.7 else Condition("true")
    if rng.random() < 0.2:
        condition = Condition("", [condition, where(rng, b, [])], "AND")
    if rng.random() < 0.15:
        keys = ", ".join(b.name(c) for c in b.table.keys)
        inner = ", ".join(c.name for c in b.table.keys)
        on = " AND ".join(o for o in ons)
        return Query(f"SELECT a.*, b.* FROM {a.source} LEFT JOIN LATERAL (SELECT {inner} FROM {b.table.name} b WHERE {on} "
                     f"ORDER BY {keys} LIMIT {rng.choice([1, 2])} OFFSET {rng.choice([0, 0, 1])}) b ON true", condition, "", False, settings)
    return Query(f"SELECT {names} FROM {a.source} {kind} {b.source} ON {' AND '.join(ons)}", condition, "", False, settings)


def union_all(rng, tables):
    """Two tables as one, or some rows twice."""
    scope = Scope(rng.choice(tables))
    names = ", ".join([c.name for c in scope.table.columns] + ["raw"] * scope.table.raw_key)
    sides = [f"SELECT {names} FROM {scope.source} WHERE {where(rng, scope, [], 1).sql()}" for _ in range(rng.choice([2, 2, 3]))]
    after = order_by(rng, scope, True)
    return Query(f"SELECT {names} FROM ({' UNION ALL '.join(sides)}) u", where(rng, scope, []), after + rng.choice(["", limit(rng)]), bool(after))


def paging(rng, tables):
    """All of it page by page: each begins behind the last row of the one before."""
    table = rng.choice(tables)
    names = [c.name for c in table.keys]
    rows = rng.choice([1, 2, 7])
    backward = rng.random() < 0.4
    ways = [rng.random() < 0.3 for _ in names] if rng.random() < 0.4 else [backward] * len(names)
    if len(set(ways)) == 1:
        behind = f"({', '.join('t.' + n for n in names)}) {'<' if ways[0] else '>'} ({', '.join('p.' + n for n in names)})"
    else:
        arms = []
        for i, n in enumerate(names):
            arms.append("(" + " AND ".join([f"t.{m} = p.{m}" for m in names[:i]] + [f"t.{n} {'<' if ways[i] else '>'} p.{n}"]) + ")")
        behind = "(" + " OR ".join(arms) + ")"
    order = ", ".join(f"t.{n}{' DESC' if w else ''}" for n, w in zip(names, ways))
    last = ", ".join(f"t.{n}{'' if w else ' DESC'}" for n, w in zip(names, ways))
    keys = ", ".join("t." + n for n in names)
    plain_keys = ", ".join(names)
    kept = where(rng, Scope(table, "t"), [], 1).sql()

    def page(start):
        return f"(SELECT {keys} FROM {table.name} t WHERE {start} AND {kept} ORDER BY {order} LIMIT {rows}) t ORDER BY {last} LIMIT 1"

    first = f"SELECT t.*, 1 FROM {page('true')}"
    step = f"SELECT l.*, p.page + 1 FROM p CROSS JOIN LATERAL (SELECT t.* FROM {page(behind)}) l WHERE p.page < 40"
    return Query(f"WITH RECURSIVE p ({plain_keys}, page) AS (({first}) UNION ALL ({step})) SELECT * FROM p", Condition("true"), "", True)


def with_query(rng, tables):
    scope = Scope(rng.choice(tables))
    keys = ", ".join(c.name for c in scope.table.keys)
    inner = where(rng, scope, []).sql()
    kind = rng.choice(["", "MATERIALIZED ", "NOT MATERIALIZED "])
    page = f" ORDER BY {keys}" + limit(rng) if rng.random() < 0.4 else ""
    return Query(f"WITH q AS {kind}(SELECT * FROM {scope.source} WHERE {inner}{page}) SELECT {keys} FROM q", where(rng, Scope(scope.table), []),
                 f" ORDER BY {keys}" + rng.choice(["", " LIMIT 3"]), True)


KINDS = [plain] * 10 + [grouped] * 3 + [distinct] * 2 + [window, set_operation, with_query, union_all, paging] + [join] * 5 + [join_several] * 2 + \
    [distinct_page, ties, of_a_page, special_aggregates, correlated, walk]


def query(rng, tables):
    return rng.choice(KINDS)(rng, tables)
