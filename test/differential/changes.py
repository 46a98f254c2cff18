"""Random stories: what one session does, statement by statement.

Statements are written so that their effect does not depend on the order in which
rows are met: values and moved keys are computed from the row alone.
"""

from cluster import HBase
from pools import quote
from queries import Scope, atom, joinable, limit, order_by, query, where


class Statement:
    """sql, and how its rows are compared."""

    def __init__(self, sql, ordered=False):
        self.sql = sql
        self.ordered = ordered


def new_row(rng, table):
    row = table.row(rng)
    if table.rows and rng.random() < 0.3:
        for c, value in zip(table.keys, table.some_key(rng)):
            row[table.columns.index(c)] = value
    return row


def returning(rng, table):
    if rng.random() < 0.6:
        return ""
    names = ", ".join(c.name for c in rng.sample(table.columns, rng.randint(1, len(table.columns))))
    where = "" if table.partitions else ", tableoid::regclass::text"
    return " RETURNING " + rng.choice(["*", names, table.name, names + where])


def absent(table, row):
    """A row comes in only where there is none: replacing is not what a heap table does."""
    keys = [(c.name, row[table.columns.index(c)]) for c in table.keys]
    match = " AND ".join(f"x.{name} = {value}" for name, value in keys)
    return f"SELECT {', '.join(row)} WHERE NOT EXISTS (SELECT FROM {table.name} x WHERE {match})"


def insert(rng, tables, table):
    row = new_row(rng, table)
    names = ", ".join(c.name for c in table.columns)
    if table.duplicates_fail:
        rows = [row] + [table.row(rng) for _ in range(rng.choice([0, 0, 2]))]
        values = ", ".join("(" + ", ".join(r) + ")" for r in rows)
        conflict = rng.choice(["", "", " ON CONFLICT DO NOTHING"]) if len(rows) == 1 else ""
        return Statement(f"INSERT INTO {table.name} ({names}) VALUES {values}{conflict}{returning(rng, table)}")
    if rng.random() < 0.1:
        # one error only
        for c, value in table.constants:
            row[table.columns.index(c)] = value
        row[table.columns.index(rng.choice(table.keys))] = "NULL"
    return Statement(f"INSERT INTO {table.name} ({names}) {absent(table, row)}{returning(rng, table)}")


def insert_shifted(rng, tables, table):
    """INSERT ... SELECT from itself, under keys that are not there."""
    movable = [c for c in table.keys if c.type.shift]
    if not movable:
        return update(rng, tables, table)
    moved = rng.choice(movable)
    names = [c.name for c in table.columns]
    moved_to = rng.choice(moved.type.shift).format(c=moved.name)
    values = [moved_to if c is moved else c.name for c in table.columns]
    free = " AND ".join(f"x.{c.name} = ({v.replace(c.name, 's.' + c.name)})" for c, v in
                        ((c, v) for c, v in zip(table.columns, values) if c.key))
    condition = where(rng, Scope(table), [], 1).sql()
    return Statement(f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {', '.join(values)} FROM {table.name} s WHERE {condition} "
                     f"AND NOT EXISTS (SELECT FROM {table.name} x WHERE {free}){returning(rng, table)}")


def looked_up(rng, value):
    """The value, or NULL, by way of a heap table's index."""
    return f"(SELECT {value} FROM pg_class WHERE oid = {rng.choice(['1259', '1259', '1'])})"


def assignment(rng, c):
    if rng.random() < 0.2:
        return "NULL"
    if rng.random() < 0.1:
        return looked_up(rng, c.literal(rng))
    if c.map:
        return rng.choice([c.literal(rng), f"coalesce({c.name}, '{{}}') || '{{\"new\": \"1\"}}'",
                           f"{c.name} || '{{\"new\": \"2\", \"x1\": \"12\"}}'", f"jsonb_set({c.name}, '{{new}}', '\"3\"')",
                           f"{c.name} || {looked_up(rng, c.literal(rng))}"])
    return c.literal(rng)


def update(rng, tables, table):
    values = table.values
    if not values:
        return delete(rng, tables, table)
    chosen = rng.sample(values, rng.randint(1, min(3, len(values))))
    sets = ", ".join(f"{c.name} = {assignment(rng, c)}" for c in chosen)
    return Statement(f"UPDATE {table.name} SET {sets} WHERE {where(rng, Scope(table), tables, 1).sql()}{returning(rng, table)}")


def update_key(rng, tables, table):
    # a row cannot leave a partition that is a foreign table
    movable = [c for c in table.keys[1 if table.partitions else 0:] if c.type.shift]
    if not movable:
        return update(rng, tables, table)
    moved = rng.choice(movable)
    sets = [f"{moved.name} = {rng.choice(moved.type.shift).format(c=moved.name)}"]
    if table.values and rng.random() < 0.5:
        c = rng.choice(table.values)
        sets.append(f"{c.name} = {assignment(rng, c)}")
    if table.duplicates_fail:
        # one row: else it depends on the order whether the next row is out of the way
        here = " AND ".join(f"{c.name} = {value}" for c, value in zip(table.keys, table.some_key(rng)))
        return Statement(f"UPDATE {table.name} SET {', '.join(sets)} WHERE {here}{returning(rng, table)}")
    # all rows move alike: new keys are distinct, and old ones out of the way
    return Statement(f"UPDATE {table.name} SET {', '.join(sets)}{returning(rng, table)}")


def returning_own(rng, table):
    """Of a row that another table's rows meet several times: it is returned once, beside any of them."""
    return "" if rng.random() < 0.4 else " RETURNING " + ", ".join(f"{table.name}.{c.name}" for c in table.columns)


def update_from(rng, tables, table):
    """UPDATE ... FROM a table that may have many rows for each: which one does not matter."""
    other = rng.choice(tables)
    a, b = Scope(table, table.name), Scope(other, "o")
    pairs = joinable(a, b)
    if not pairs or not table.values:
        return update(rng, tables, table)
    x, y = rng.choice(pairs)
    c = rng.choice(table.values)
    value = c.literal(rng) if rng.random() < 0.8 else "NULL"
    return Statement(f"UPDATE {table.name} SET {c.name} = {value} FROM {other.name} o WHERE {a.name(x)} = {b.name(y)} "
                     f"AND {atom(rng, b, []).sql()}{returning_own(rng, table)}")


def delete(rng, tables, table):
    condition = where(rng, Scope(table), tables, 1)
    sql = condition.sql()
    if sql == "true" and rng.random() < 0.8:
        sql = atom(rng, Scope(table), []).sql()
    return Statement(f"DELETE FROM {table.name} WHERE {sql}{returning(rng, table)}")


def key_range(rng, table):
    """Conditions on key columns that are there: those that row ranges may decide."""
    here = dict(zip(table.keys, table.some_key(rng)))
    parts = []
    for c in table.keys[:rng.randint(0, len(table.keys))]:
        kind = rng.random()
        if kind < 0.4:
            parts.append(f"{c.name} = {here[c]}")
        elif kind < 0.7:
            parts.append(f"{c.name} {rng.choice(['<', '<=', '>', '>='])} {here[c]}")
        elif kind < 0.8:
            parts.append(f"{c.name} BETWEEN {here[c]} AND {c.literal(rng)}")
        else:
            parts.append(f"{c.name} IN ({here[c]}, {c.literal(rng)}, {c.literal(rng)})")
    if len(table.keys) > 1 and rng.random() < 0.2:
        names = ", ".join(c.name for c in table.keys)
        parts = [f"({names}) {rng.choice(['>', '>=', '<', '<='])} ({', '.join(here.values())})"]
    return " AND ".join(parts) or "true"


def change_range(rng, tables, table):
    """All rows of a range get the same, or go: done where they are, mostly."""
    condition = key_range(rng, table)
    if table.values and (condition == "true" or rng.random() < 0.6):
        chosen = rng.sample(table.values, rng.randint(1, len(table.values)))
        sets = ", ".join(f"{c.name} = {'NULL' if rng.random() < 0.4 else assignment(rng, c)}" for c in chosen)
        return Statement(f"UPDATE {table.name} SET {sets} WHERE {condition}")
    return Statement(f"DELETE FROM {table.name} WHERE {condition}")


def delete_using(rng, tables, table):
    other = rng.choice(tables)
    a, b = Scope(table, table.name), Scope(other, "o")
    pairs = joinable(a, b)
    if not pairs:
        return delete(rng, tables, table)
    x, y = rng.choice(pairs)
    return Statement(f"DELETE FROM {table.name} USING {other.name} o WHERE {a.name(x)} = {b.name(y)} AND {atom(rng, b, []).sql()}"
                     f"{returning_own(rng, table)}")


def with_changes(rng, tables, table):
    """A CTE with a DELETE, read and counted by the query around it; or two that want the same rows."""
    keys = ", ".join(c.name for c in table.keys)
    condition = atom(rng, Scope(table), []).sql()
    if table.values and rng.random() < 0.5:
        c = rng.choice(table.values)
        second = rng.choice([f"DELETE FROM {table.name}", f"UPDATE {table.name} SET {c.name} = NULL"])
        return Statement(f"WITH one AS (UPDATE {table.name} SET {c.name} = {c.literal(rng)} WHERE {condition} RETURNING {keys}), "
                         f"two AS ({second} WHERE {atom(rng, Scope(table), []).sql()} RETURNING {keys}) "
                         f"SELECT 1, one.* FROM one UNION ALL SELECT 2, two.* FROM two")
    return Statement(f"WITH gone AS (DELETE FROM {table.name} WHERE {condition} RETURNING {keys}) "
                     f"SELECT count(*), (SELECT count(*) FROM {table.name}) FROM gone")


def everything(table):
    keys = ", ".join(c.name for c in table.keys)
    names = ", ".join(c.name for c in table.columns)
    return Statement(f"SELECT {names} FROM {table.name} ORDER BY {keys}", True)


def look(rng, tables, table):
    q = query(rng, tables)
    return Statement(q.sql(), q.ordered)


CHANGES = [insert] * 4 + [insert_shifted, update_key, update_from, delete_using, with_changes] + [update] * 4 + [delete] * 3 + [change_range] * 4 + [look] * 3


def change(rng, tables, table):
    return rng.choice([look] if table.cells else [look, change_range] if table.raw_key else CHANGES)(rng, tables, table)


def transaction(rng, tables):
    """Changes, savepoints, looks; committed or not."""
    table = rng.choice(tables)
    level = rng.choice(["", "", " ISOLATION LEVEL REPEATABLE READ"])
    story = [Statement(f"BEGIN{level}")]
    open_points = []
    for i in range(rng.randint(2, 10)):
        kind = rng.random()
        if kind < 0.15:
            open_points.append(f"s{i}")
            story.append(Statement(f"SAVEPOINT s{i}"))
        elif kind < 0.3 and open_points:
            at = rng.randrange(len(open_points))
            if rng.random() < 0.6:
                story.append(Statement(f"ROLLBACK TO {open_points[at]}"))
                open_points = open_points[:at + 1]
            else:
                story.append(Statement(f"RELEASE {open_points[at]}"))
                open_points = open_points[:at]
        elif kind < 0.45:
            story.append(everything(table))
        else:
            story += guarded(rng, change(rng, tables, table), i)
    if rng.random() < 0.1 and not table.fixed:
        story.append(Statement(f"{'DELETE FROM' if table.shares or HBase.port else 'TRUNCATE'} {table.name}"))
        story.append(everything(table))
    story.append(Statement(rng.choice(["COMMIT", "COMMIT", "ROLLBACK"])))
    return story + [everything(t) for t in tables]


def guarded(rng, statement, i):
    """A failing statement would end the story: some go on behind a savepoint."""
    if rng.random() < 0.5:
        return [statement]
    return [Statement(f"SAVEPOINT g{i}"), statement, Statement(f"ROLLBACK TO g{i}" if rng.random() < 0.2 else "SELECT 1")]


def single(rng, tables):
    table = rng.choice(tables)
    return [change(rng, tables, table), everything(table)]


def prepared(rng, tables):
    """A statement with parameters, run several times under one plan."""
    table = rng.choice(tables)
    scope = Scope(table)
    columns = [c for c in table.keys * 3 + table.values if c.type.orderable and not c.map]
    chosen = [rng.choice(columns) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        chosen = list(table.keys)
    parts, types = [], []
    for i, c in enumerate(chosen):
        op = rng.choice(["=", "=", "<", "<=", ">", ">=", "ANY", "LIKE", "BETWEEN"])
        name = c.name
        if op == "ANY":
            parts.append(f"{name} = ANY (${i + 1})")
            types.append(c.type.base + "[]")
        elif op == "LIKE" and c.type.textual:
            parts.append(f"{name} LIKE ${i + 1}")
            types.append("text")
        elif op == "BETWEEN":
            parts.append(f"{name} BETWEEN ${i + 1} AND {c.literal(rng)}")
            types.append(c.type.base)
        else:
            parts.append(f"{name} {op if op != 'LIKE' else '='} ${i + 1}")
            types.append(c.type.base)
    if len(chosen) == len(table.keys) > 1 and rng.random() < 0.3 and "[]" not in "".join(types):
        names = ", ".join(c.name for c in chosen)
        parts = [f"({names}) {rng.choice(['>', '<=', '<', '>='])} ({', '.join(f'${i + 1}' for i in range(len(chosen)))})"]
        types = [c.type.base for c in chosen]
    page = []
    if rng.random() < 0.3:
        page = rng.choice([["LIMIT"], ["OFFSET"], ["LIMIT", "OFFSET"], ["LIMIT", "OFFSET"]])
        types += ["bigint"] * len(page)
    after = "".join(f" {word} ${len(chosen) + i + 1}" for i, word in enumerate(page)) or (limit(rng) if rng.random() < 0.3 else "")
    story = [Statement(f"SET plan_cache_mode = {rng.choice(['force_generic_plan', 'force_generic_plan', 'auto', 'force_custom_plan'])}"),
             Statement(f"PREPARE p ({', '.join(types)}) AS SELECT * FROM {table.name} WHERE {' AND '.join(parts)}" +
                       order_by(rng, scope, True) + after)]
    for _ in range(rng.choice([2, 3, 7])):
        here = dict(zip(table.keys, table.some_key(rng)))
        values = []
        for c, type_ in zip(chosen, types):
            value = here.get(c, c.literal(rng)) if rng.random() < 0.7 else c.literal(rng)
            if rng.random() < 0.07:
                value = f"NULL::{type_}"
            elif type_.endswith("[]") and not c.type.base.endswith("[]"):
                value = f"ARRAY[{value}, {c.literal(rng)}, {rng.choice(['NULL', c.literal(rng)])}]"
            elif type_ == "text" and rng.random() < 0.7:
                value = quote(rng.choice(["a%", "%", "ab", "é%", "_b%", "a\\%%"]))
            values.append(value)
        values += [rng.choice(["0", "1", "2", "3", "5", "20", "NULL", "-1" if rng.random() < 0.1 else "4"]) for _ in page]
        story.append(Statement(f"EXECUTE p ({', '.join(values)})", True))
    return story + [Statement("DEALLOCATE p"), Statement("RESET plan_cache_mode")]


def prepared_change(rng, tables):
    """An UPDATE or a DELETE with parameters, run several times under one plan."""
    table = rng.choice(tables)
    if table.cells or table.raw_key:
        return prepared(rng, tables)
    values = [c for c in table.values if not c.map]
    assigned = rng.sample(values, rng.randint(1, min(2, len(values)))) if values and rng.random() < 0.7 else []
    columns = [c for c in table.keys * 3 + table.values if c.type.orderable and not c.map]
    chosen = list(table.keys) if rng.random() < 0.4 else [rng.choice(columns) for _ in range(rng.randint(1, 2))]
    parts, types = [], [c.type.base for c in assigned]
    for c in chosen:
        types.append(c.type.base)
        parts.append(f"{c.name} {rng.choice(['=', '=', '=', '<', '>='])} ${len(types)}")
    sets = ", ".join(f"{c.name} = ${i + 1}" for i, c in enumerate(assigned))
    verb = f"UPDATE {table.name} SET {sets}" if assigned else f"DELETE FROM {table.name}"
    story = [Statement(f"SET plan_cache_mode = {rng.choice(['force_generic_plan', 'force_generic_plan', 'auto', 'force_custom_plan'])}"),
             Statement(f"PREPARE p ({', '.join(types)}) AS {verb} WHERE {' AND '.join(parts)}{returning(rng, table)}")]
    if rng.random() < 0.5:
        story.append(Statement("BEGIN"))
    for _ in range(rng.choice([2, 3, 7])):
        here = dict(zip(table.keys, table.some_key(rng)))
        arguments = [rng.choice([c.literal(rng), c.literal(rng), f"NULL::{c.type.base}"]) for c in assigned]
        arguments += [here.get(c, c.literal(rng)) if rng.random() < 0.9 else f"NULL::{c.type.base}" for c in chosen]
        story.append(Statement(f"EXECUTE p ({', '.join(arguments)})"))
        if rng.random() < 0.3:
            story.append(everything(table))
    return story + [Statement("COMMIT"), Statement("DEALLOCATE p"), Statement("RESET plan_cache_mode"), everything(table)]


def cursor(rng, tables):
    table = rng.choice(tables)
    scope = Scope(table)
    kind = rng.choice(["", "SCROLL ", "SCROLL ", "INSENSITIVE "])
    hold = rng.choice(["", "", " WITH HOLD"])
    story = [Statement("BEGIN"), Statement(f"DECLARE c {kind}CURSOR{hold} FOR SELECT * FROM {table.name} "
                                           f"WHERE {where(rng, scope, tables, 1).sql()}{order_by(rng, scope, True)}"
                                           f"{limit(rng) if rng.random() < 0.3 else ''}")]
    ways = ["NEXT", "FORWARD 3", "FORWARD 10", "FORWARD ALL"]
    if "SCROLL" in kind:
        ways += ["PRIOR", "FIRST", "LAST", "BACKWARD 2", "BACKWARD ALL", "ABSOLUTE 2", "ABSOLUTE -1", "RELATIVE 2", "RELATIVE -1", "RELATIVE 0"]
    for _ in range(rng.randint(2, 7)):
        if rng.random() < 0.25:
            story += [Statement("SAVEPOINT x"), change(rng, tables, table)]
        story.append(Statement(f"FETCH {rng.choice(ways)} FROM c", True))
    if hold:
        story += [Statement("COMMIT"), Statement("FETCH FORWARD 5 FROM c", True), Statement("CLOSE c")]
    else:
        story.append(Statement(rng.choice(["COMMIT", "ROLLBACK"])))
    return story + [everything(table)]


def story(rng, tables):
    return rng.choice([single] * 4 + [transaction] * 4 + [prepared] * 5 + [prepared_change] * 2 + [cursor] * 2)(rng, tables)
