"""Tables with everything that acts on rows behind a statement: triggers, CHECKs, NOT NULL, defaults, generated columns, views with
CHECK OPTION, partitions of both kinds; and programs that change them, also in PL/pgSQL.
"""

import changes
import pools
import queries
from tables import Column, Table

DROP = ["DROP SCHEMA IF EXISTS h, w CASCADE", "CREATE SCHEMA h", "CREATE SCHEMA w",
        "SELECT widecol.drop_table(name) FROM widecol.tables WHERE name LIKE 'diff_%'",
        "DO $$BEGIN CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'happy'); EXCEPTION WHEN duplicate_object THEN NULL; END$$",
        "DO $$BEGIN CREATE DOMAIN public.posint AS int4 CHECK (VALUE > 0); EXCEPTION WHEN duplicate_object THEN NULL; END$$"]
SMALL_INTEGERS = (pools.SMALL, pools.INT2, pools.BIG)
TRIGGERS = [(), (), ("log",), ("skip",), ("set",), ("log", "skip"), ("log", "set", "count"), ("count",)]
CONSTRAINT_FAILED = "CASE WHEN SQLSTATE IN ('23502', '23505', '23514', '44000') THEN '23' ELSE SQLSTATE END"

# Of a trigger: when it is called, and what it does.  {log} is a table (op, old, new); {key} the first key column.
BODIES = {
    "log": ("AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW",
            "INSERT INTO {log} VALUES (TG_OP, CASE WHEN TG_OP <> 'INSERT' THEN OLD::text END, CASE WHEN TG_OP <> 'DELETE' THEN NEW::text END); RETURN NULL;"),
    "skip": ("BEFORE INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW",
             "IF TG_OP = 'DELETE' THEN RETURN CASE WHEN hashtext(OLD.{key}::text) % 5 <> 0 THEN OLD END; END IF; "
             "RETURN CASE WHEN hashtext(NEW.{key}::text) % 5 <> 1 THEN NEW END;"),
    "set": ("BEFORE INSERT OR UPDATE{of} ON {table} FOR EACH ROW {when}", "NEW.{set} := {value}; RETURN NEW;"),
    "count": ("{time} INSERT OR UPDATE OR DELETE ON {table} FOR EACH STATEMENT",
              "INSERT INTO {log} SELECT TG_OP, TG_WHEN, count(*)::text FROM {table}; RETURN NULL;"),
}


class GuardedTable(Table):
    def __init__(self, rng, name):
        super().__init__(rng, name)
        self.raw_key, self.duplicates_fail = False, True
        self.nrows = rng.choice([0, 5, 30])
        self.mixed = bool(self.partitions) and rng.random() < 0.4
        plain = [c for c in self.values if not c.map and c.type.orderable]
        for c in plain:
            value = c.literal(rng)
            c.rest = rng.choice(["", "", "", f" DEFAULT {value}", f" NOT NULL DEFAULT {value}"])
        self.generated = self.make_generated()
        self.checks = [f"{c.name} <> {c.literal(rng)}" for c in plain if rng.random() < 0.2]
        self.checks += [f"length({c.name}) < 15" for c in plain if c.type.textual and rng.random() < 0.2]
        self.triggers = rng.choice(TRIGGERS if plain else [(), ("log", "skip", "count")])
        # what the trigger "set" does
        self.set = rng.choice(plain) if plain else None
        self.value = self.set.literal(rng) if plain else None
        self.of = rng.choice(["", f" OF {self.set.name}"]) if plain else ""
        self.when = rng.choice(["", f"WHEN ({self.condition('NEW')})"])
        self.views = [f"{name}_v1", f"{name}_v2"]
        self.shown = [self.condition(), self.condition()]

    def make_generated(self):
        rng = self.rng
        numbers = [c for c in self.keys + self.values if c.type in SMALL_INTEGERS]
        words = [c for c in self.values if c.type.textual]
        generated = []
        if numbers and rng.random() < 0.4:
            way = rng.choice(["{}::int8 * 2", "coalesce({}, 0)::int8 + 1", "nullif({}, 3)::int8"]).format(rng.choice(numbers).name)
            generated.append(Column("g1", pools.INT8, ""))
            generated[-1].rest = f" GENERATED ALWAYS AS ({way}) STORED"
        if words and rng.random() < 0.3:
            generated.append(Column("g2", pools.TEXT_C, ""))
            generated[-1].rest = f" GENERATED ALWAYS AS (upper({rng.choice(words).name}::text)) STORED"
        return generated

    def condition(self, alias=""):
        c = self.rng.choice([c for c in self.columns if c.type.orderable and not c.map])
        return f"{queries.Scope(self, alias).name(c)} {self.rng.choice(['<', '<=', '>', '>=', '<>', 'IS DISTINCT FROM'])} {c.literal(self.rng)}"

    def row(self, rng):
        row = super().row(rng)
        return [c.literal(rng) if "NOT NULL" in c.rest and value == "NULL" else value for c, value in zip(self.columns, row)]

    def foreign(self, name, stored):
        """CREATE FOREIGN TABLE; some partitions beside foreign ones are ordinary tables."""
        if self.mixed and name.endswith("_1"):
            columns = ", ".join(c.definition() for c in self.columns + self.generated)
            return f"CREATE TABLE w.{name} ({columns}, PRIMARY KEY ({', '.join(c.name for c in self.keys)}))"
        return super().foreign(name, stored)

    def guards(self):
        """What comes after the rows: some of them need not keep the CHECKs."""
        return [sql for schema in "hw" for sql in self.guards_of(schema)]

    def guards_of(self, schema):
        table, log = f"{schema}.{self.name}", f"{schema}.{self.name}_log"
        sql = [f"CREATE TABLE {log} (op text, old text, new text)"]
        sql += [f"ALTER TABLE {table} ADD CHECK ({check}) NOT VALID" for check in self.checks]
        for trigger in self.triggers:
            for time in ("BEFORE", "AFTER") if trigger == "count" else ("",):
                name = f"{self.name}_{trigger}{time}"
                call, body = (part.format(table=table, log=log, key=self.keys[0].name, time=time, of=self.of, when=self.when,
                                          set=self.set and self.set.name, value=self.value) for part in BODIES[trigger])
                sql += [f"CREATE FUNCTION {schema}.{name}() RETURNS trigger LANGUAGE plpgsql AS $${'BEGIN ' + body + ' END'}$$",
                        f"CREATE TRIGGER {name} {call} EXECUTE FUNCTION {schema}.{name}()"]
        names = ", ".join(c.name for c in self.columns + self.generated)
        sql.append(f"CREATE VIEW {schema}.{self.views[0]} AS SELECT {names} FROM {table} WHERE {self.shown[0]} WITH LOCAL CHECK OPTION")
        sql.append(f"CREATE VIEW {schema}.{self.views[1]}{self.barrier} AS SELECT {names} FROM {schema}.{self.views[0]} WHERE {self.shown[1]} "
                   "WITH CASCADED CHECK OPTION")
        return sql


class Author:
    """Writes statements over some guarded tables."""

    def __init__(self, rng):
        self.rng = rng
        self.tables = [GuardedTable(rng, f"t{i}") for i in range(rng.choice([1, 2, 2]))]
        self.loads = [table.load() for table in self.tables]

    @staticmethod
    def drop():
        return DROP

    def ddl(self):
        return [sql for table in self.tables for sql in table.ddl()]

    def load(self):
        return [sql for load in self.loads for sql in load] + [sql for table in self.tables for sql in table.guards()]

    def stored(self):
        return self.rng.choice(self.tables).stored_tables()[0]

    def contents(self):
        entries = []
        for table in self.tables:
            names = ", ".join(c.name for c in table.columns + table.generated)
            entries += [(f"SELECT {names} FROM {table.name} ORDER BY {', '.join(c.name for c in table.keys)}", True),
                        (f"SELECT * FROM {table.name}_log", False)]
        return entries

    def statement(self):
        """(SQL, whether its rows come in one order only)"""
        rng = self.rng
        table = rng.choice(self.tables)
        chance = rng.random()
        if chance < 0.25:
            query = queries.query(rng, self.tables)
            return query.sql(), query.ordered
        if chance < 0.37:
            return self.block(table), False
        if chance < 0.43:
            return self.alter(table), False
        if chance < 0.5:
            return self.counted(table), False
        return self.change(table), False

    def change(self, table):
        rng = self.rng
        makers = [changes.insert] * 4 + [changes.update, self.update] * 3 + [changes.delete] * 2 + \
            [changes.update_key, changes.update_from, changes.delete_using, changes.change_range, changes.insert_shifted]
        maker = rng.choice(makers)
        sql = maker(table) if maker == self.update else maker(rng, self.tables, table).sql
        return self.through_view(table, sql) if rng.random() < 0.25 else sql

    def through_view(self, table, sql):
        start = next((s for s in (f"INSERT INTO {table.name} ", f"UPDATE {table.name} ", f"DELETE FROM {table.name} ") if sql.startswith(s)), None)
        if start is None or f"{table.name}." in sql:
            return sql
        return start.replace(table.name, self.rng.choice(table.views)) + sql[len(start):]

    def update(self, table):
        """Values that are computed: from the row, by a subquery, several at once."""
        rng = self.rng
        values = [c for c in table.values if not c.map]
        if not values:
            return changes.delete(rng, self.tables, table).sql
        chosen = rng.sample(values, rng.randint(1, min(3, len(values))))
        names = ", ".join(c.name for c in chosen)
        sets = ", ".join(f"{c.name} = {self.expression(table, c)}" for c in chosen)
        if rng.random() < 0.3 and len(chosen) > 1:
            sets = f"({names}) = {rng.choice(['(SELECT ', 'ROW ('])}{', '.join(c.literal(rng) for c in chosen)})"
        where = queries.where(rng, queries.Scope(table), self.tables, 1).sql()
        if rng.random() < 0.1:
            where = f"({where}) AND tableoid {rng.choice(['<> 0', 'IS NOT NULL'])}"
        back = rng.choice(["", "", f" RETURNING {names}", f" RETURNING coalesce({chosen[0].name}::text, 'none') || '.'",
                           f" RETURNING *, (SELECT count(*) FROM {table.name}_log)" if not table.triggers else ""])
        return f"UPDATE {table.name} SET {sets} WHERE {where}{back}"

    def expression(self, table, c):
        rng = self.rng
        alike = [other for other in table.columns if other.type is c.type]
        forms = [c.literal(rng), rng.choice(alike).name, f"(SELECT {c.literal(rng)})", f"CASE WHEN {table.condition()} THEN {c.literal(rng)} ELSE {c.name} END"]
        if "DEFAULT" in c.rest:
            forms.append("DEFAULT")
        if c.type in SMALL_INTEGERS:
            forms.append(f"({c.name} % 50) + 1")
        if c.type.base == "text" and c.type not in (pools.DOMAIN, pools.SHORT):
            forms.append(f"left({c.name} || 'q', 12)")
        return rng.choice(forms)

    def counted(self, table):
        """A change as a CTE, whose rows are counted beside another table's."""
        change = changes.delete(self.rng, self.tables, table).sql.split(" RETURNING ")[0]
        keys = ", ".join(c.name for c in table.keys)
        outer = self.rng.choice(["SELECT * FROM x", f"SELECT count(*), (SELECT count(*) FROM {self.rng.choice(self.tables).name}) FROM x"])
        return f"WITH x AS ({change} RETURNING {keys}) {outer}"

    def block(self, table):
        """PL/pgSQL: changes that may fail, each in a block of its own; or a loop over rows that it changes."""
        rng = self.rng
        steps = ""
        for _ in range(rng.randint(1, 3)):
            change = self.change(table).split(" RETURNING ")[0]
            fail = rng.choice(["", "", " RAISE EXCEPTION 'no';"])
            steps += (f"BEGIN {change}; GET DIAGNOSTICS n = ROW_COUNT; INSERT INTO {table.name}_log VALUES ('rows', n);{fail} "
                      f"EXCEPTION WHEN OTHERS THEN INSERT INTO {table.name}_log VALUES ('failed', {CONSTRAINT_FAILED}); END; ")
        values = [c for c in table.values if not c.map]
        if values and rng.random() < 0.4:
            c = rng.choice(values)
            keys = [k.name for k in table.keys]
            steps += (f"FOR r IN SELECT {', '.join(keys)} FROM {table.name} WHERE {table.condition()} ORDER BY {', '.join(keys)} LOOP "
                      f"UPDATE {table.name} SET {c.name} = {c.literal(rng)} WHERE {' AND '.join(f'{k} = r.{k}' for k in keys)}; "
                      f"GET DIAGNOSTICS n = ROW_COUNT; INSERT INTO {table.name}_log VALUES ('loop', n); END LOOP; ")
        return f"DO $do$ DECLARE n bigint; r record; BEGIN {steps}END $do$"

    def alter(self, table):
        rng = self.rng
        forms = [f"ALTER TABLE {table.name} {way} TRIGGER USER" for way in ("DISABLE", "ENABLE")] if table.triggers else []
        for c in table.values:
            if c.rest:
                forms.append(f"ALTER TABLE {table.name} ALTER COLUMN {c.name} SET DEFAULT {c.literal(rng)}")
        if not table.shares:
            forms.append(f"TRUNCATE {table.name}")
        return rng.choice(forms + [f"ANALYZE {table.name}"])
