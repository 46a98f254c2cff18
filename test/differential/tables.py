"""Random foreign tables, each with a heap table of the same columns and rows."""

import pools
import queries
from cluster import HBase
from pools import quote

MAP_KEYS = ["", "a", "b", "é", "a b", "k\"q", "x1", "x2"]


class Column:
    def __init__(self, name, type_, options, key=False):
        self.name = name
        self.type = type_
        self.options = options
        self.key = key
        self.map = False
        self.rest = ""              # what follows the type: NOT NULL, DEFAULT, GENERATED
        self.never_empty = False    # the only key column: a row key has a byte at least

    def definition(self):
        return f"{self.name} {self.type.name}{self.rest}"

    def literal(self, rng):
        """A stored value as an expression."""
        if self.map:
            return map_literal(rng)
        return self.type.literal(rng.choice(self.type.stored[self.never_empty:]))

    def probe(self, rng):
        """A value for a comparison."""
        if self.type.others and rng.random() < 0.15:
            return rng.choice(self.type.others)
        if self.type.probes and rng.random() < 0.25:
            return self.type.literal(rng.choice(self.type.probes))
        if rng.random() < 0.03:
            return f"NULL::{self.type.base}"
        return self.type.literal(rng.choice(self.type.stored))


def tells_types(c):
    """Can a key part that has one value be a record type?"""
    return not any(e in c.options for e in ("md5", "sha1", "murmur3")) and c.type.shift is not None and \
        c.type.base not in ("bool", "posint", "interval", "jsonb", "int4[]", "inet", "int4range", "mood")


def map_literal(rng):
    """Never empty: a map without entries is NULL when it is read.  And with no empty
    value under the empty qualifier: that is the marker of a row without values."""
    keys = rng.sample(MAP_KEYS, rng.randint(1, 4))
    values = {k: rng.choice(["1", "-3", "007", " 5", "12", "+4"] if k == "x1" else ["v", "w", "ü", "12", "" if k else "x"]) for k in keys}
    entries = ", ".join(f'"{k}": "{v}"'.replace('k"q', 'k\\"q') for k, v in values.items())
    return quote("{" + entries + "}") + "::jsonb"


class Table:
    cells = False

    def __init__(self, rng, name):
        self.name = name
        self.rng = rng
        self.stored = f"diff_{name}"
        self.delimiter = rng.random() < 0.12
        self.duplicates_fail = rng.random() < 0.5
        self.packing = rng.choice(["auto", "row", "cell"])
        self.keys = self.make_keys()
        self.salt = self.make_salt() if rng.random() < 0.35 else []
        self.values = self.make_values()
        self.columns = self.keys + self.values
        if rng.random() < 0.3:
            rng.shuffle(self.columns)
        self.nrows = rng.choice([0, 1, 5, 40, 150, 150, 400, 2000])
        self.partitions = rng.choice([0, 0, 0, 0, 0, 0, 2, 3])   # by the first key part
        self.lists = self.make_lists() if self.partitions and rng.random() < 0.5 else []
        self.constants = self.make_constants() if not self.partitions and rng.random() < 0.2 else []
        self.raw_key = not self.partitions and rng.random() < 0.15
        self.generated = []         # columns that statements cannot set
        self.rows = []
        self.others = []
        self.view = f"{name}_view"
        self.barrier = rng.choice(["", " WITH (security_barrier)"])
        self.viewed = "true"

    @property
    def fixed(self):
        """Can it not be changed in all the ways that a heap table can?  (Nobody would keep
        the heap's copy of the raw key right.)"""
        return self.raw_key or self.cells

    @property
    def shares(self):
        """Are there rows of other foreign tables in its stored table?"""
        return bool(self.lists or self.constants)

    def make_lists(self):
        """Partitions by list: each a record type, all of them in one stored table."""
        values = [self.keys[0].type.literal(v) for v in self.keys[0].type.stored[self.keys[0].never_empty:]]
        if not tells_types(self.keys[0]) or len(values) < self.partitions:
            return []
        self.rng.shuffle(values)
        return [values[i::self.partitions + 1] for i in range(self.partitions)]

    def make_constants(self):
        """(key column, its one value): the rows are of one record type, beside others."""
        chosen = [c for c in self.keys if tells_types(c) and len(c.type.stored) > 2]
        return [(c, c.literal(self.rng)) for c in self.rng.sample(chosen, min(len(chosen), self.rng.choice([1, 1, 2])))]

    def make_keys(self):
        rng = self.rng
        n = rng.choice([2, 2, 3] if self.delimiter else [1, 1, 2, 2, 2, 3, 3, 4])
        keys = []
        for i in range(n):
            pool = pools.DELIMITED if self.delimiter and i + 1 < n else pools.KEYS
            type_, options = rng.choice(pool)
            if self.delimiter and "length" in options:
                type_, options = pools.PLAIN, ""
            keys.append(Column(f"k{i + 1}", type_, f"rowkey '{i + 1}'{options.format(n=i)}", key=True))
        if n == 1 and keys[0].type.stored[0] == "":
            keys[0].never_empty = True
        return keys

    def make_salt(self):
        """Options; may exchange a part of the key for a timestamp."""
        rng = self.rng
        if rng.random() < 0.3 and not self.delimiter:
            i = rng.randrange(len(self.keys))
            type_, options = rng.choice(pools.CLOCKS)
            self.keys[i] = Column(f"k{i + 1}", type_, f"rowkey '{i + 1}'{options}", key=True)
            return [f"salt_buckets '{rng.choice([1, 7, 60, 60])}'", f"salt_by 'minute(k{i + 1})'"]
        buckets = rng.choice([1, 2, 3, 16, 16, 256])
        # each bucket is a call to HBase
        salt = [f"salt_buckets '{buckets if HBase.port is None else min(buckets, 16)}'"]
        if rng.random() < 0.5:
            by = rng.sample(self.keys, rng.randint(1, len(self.keys)))
            salt.append("salt_by '" + ", ".join(c.name for c in by) + "'")
        return salt

    def make_values(self):
        rng = self.rng
        values = []
        for i in range(rng.choice([0, 1, 2, 4, 6, 8])):
            type_, options = rng.choice(pools.VALUES)
            options = options.format(n=i)
            if rng.random() < 0.3:
                options = ", ".join(filter(None, [options, "family 'other'"]))
                if type_ is pools.JSONB and "qualifier" not in options:
                    continue
            values.append(Column(f"v{i + 1}", type_, options))
        if rng.random() < 0.3:
            column = Column("m", pools.JSONB, "family 'map'")
            column.map = True
            values.append(column)
        return values

    def some_key(self, rng):
        """The key of a row that is there (or was), as expressions."""
        if not self.rows or rng.random() < 0.1:
            return [c.literal(rng) for c in self.keys]
        row = rng.choice(self.rows)
        return [row[self.columns.index(c)] for c in self.keys]

    # -- SQL ---------------------------------------------------------------------

    def ddl(self):
        if self.partitions:
            columns = ", ".join(c.definition() for c in self.columns + self.generated)
            way = "LIST" if self.lists else "HASH"
            stored = [f"CREATE TABLE w.{self.name} ({columns}) PARTITION BY {way} ({self.keys[0].name})"]
            for i in range(self.partitions):
                bound = f"IN ({', '.join(self.lists[i])})" if self.lists else f"WITH (MODULUS {self.partitions}, REMAINDER {i})"
                stored += [self.foreign(f"{self.name}_{i}", f"{self.stored}_{0 if self.lists else i}"),
                           f"ALTER TABLE w.{self.name} ATTACH PARTITION w.{self.name}_{i} FOR VALUES {bound}"]
            if self.lists:
                stored += [self.foreign(f"{self.name}_9", f"{self.stored}_9"),
                           f"ALTER TABLE w.{self.name} ATTACH PARTITION w.{self.name}_9 DEFAULT"]
        else:
            stored = [self.foreign(self.name, self.stored)]
        if self.constants:
            stored.append(self.foreign(f"{self.name}_all", self.stored))
            stored += [f"ALTER FOREIGN TABLE w.{self.name} ADD CHECK ({c.name} = {value})" for c, value in self.constants]
        key = ", ".join(c.name for c in self.keys)
        # A replaced row needs no check; moved keys are looked at when the statement is over.
        when = "" if self.duplicates_fail else " DEFERRABLE"
        heap = (f"CREATE TABLE h.{self.name} (" + ", ".join(c.definition() for c in self.columns + self.generated) +
                f", PRIMARY KEY ({key}){when})")
        checks = [f"ALTER TABLE h.{self.name} ADD CHECK ({c.name} = {value})" for c, value in self.constants]
        return self.make_stored() + stored + [heap] + checks + [f"CREATE VIEW {s}.{self.view}{self.barrier} AS SELECT * FROM {s}.{self.name} WHERE {self.viewed}" for s in "hw"]

    def stored_tables(self):
        if not self.partitions:
            return [self.stored]
        return [f"{self.stored}_{0 if self.lists else i}" for i in range(self.partitions)] + [f"{self.stored}_9"] * bool(self.lists)

    def make_stored(self):
        """Tables in a cluster are not made by CREATE FOREIGN TABLE."""
        if HBase.port is None:
            return []
        names = [f"{HBase.namespace}:{name}" for name in sorted(set(self.stored_tables()))]
        families = " ".join(f"{f}={1000 if self.cells else 1}" for f in dict.fromkeys(["cf", "other", "map"] + pools.FAMILY.stored))
        return [HBase.command(*[line for name in names for line in (f"drop {name}", f"create {name} {families}")])]

    def store(self, stored):
        """The server, and the option that names the stored table."""
        if HBase.port is None:
            return "widecol", f"\"table\" {quote(stored)}"
        return "hbase_raw" if self.cells else "hbase", f"\"table\" {quote(HBase.namespace + ':' + stored)}"

    def foreign(self, name, stored):
        """CREATE FOREIGN TABLE."""
        server, table = self.store(stored)
        columns = []
        for c in self.columns + self.generated:
            type_, _, collation = c.type.name.partition(" COLLATE ")
            options = f" OPTIONS ({c.options})" if c.options else ""
            columns.append(f"  {c.name} {type_}{options}" + (f" COLLATE {collation}" if collation else "") + c.rest)
        options = [table]
        if self.delimiter:
            options.append("delimiter '|'")
        options += self.salt
        if self.duplicates_fail:
            options.append("on_duplicate 'error'")
        if self.packing != "auto" and HBase.port is None:
            families = {"cf"} | {"other" for c in self.values if "'other'" in c.options} | {"map" for c in self.values if c.map}
            options.append("families '{" + ", ".join(f'"{f}": {{"packing": "{self.packing}"}}' for f in sorted(families)) + "}'")
        return f"CREATE FOREIGN TABLE w.{name} (\n" + ",\n".join(columns) + f"\n) SERVER {server} OPTIONS (" + ", ".join(options) + ")"

    def row(self, rng):
        """Expressions in the order of the columns."""
        sparse = rng.choice([0.1, 0.3, 0.9])
        row = [c.literal(rng) if c.key or rng.random() >= sparse else "NULL" for c in self.columns]
        for c, value in self.constants:
            if rng.random() < 0.95 or not self.rows:
                row[self.columns.index(c)] = value
        return row

    def load(self):
        """Rows go to the heap table, whose key makes them distinct, and from there."""
        if not self.rows:
            self.rows = [self.row(self.rng) for _ in range(self.nrows)]
        if not self.others and self.constants:
            self.others = [[c.literal(self.rng) for c in self.columns] for _ in range(20)]
        names = ", ".join(c.name for c in self.columns)
        sql = [f"CREATE TEMP TABLE draft (LIKE h.{self.name})"]
        for i in range(0, len(self.rows), 50):
            rows = ",\n ".join("(" + ", ".join(row) + ")" for row in self.rows[i:i + 50])
            sql.append(f"INSERT INTO draft ({names}) VALUES {rows}")
        key = ", ".join(c.name for c in self.keys)
        sql.append(f"INSERT INTO h.{self.name} ({names}) SELECT DISTINCT ON ({key}) {names} FROM draft")
        sql.append("DROP TABLE draft")
        if self.others:
            rows = ",\n ".join("(" + ", ".join(row) + ")" for row in self.others)
            same = " AND ".join(f"{c.name} = {value}" for c, value in self.constants)
            sql.append(f"INSERT INTO w.{self.name}_all SELECT * FROM (VALUES {rows}) v ({names}) WHERE NOT ({same}) ON CONFLICT DO NOTHING")
        sql.append(f"INSERT INTO w.{self.name} ({names}) SELECT {names} FROM h.{self.name}")
        if self.raw_key:
            same = " AND ".join(f"t.{c.name} = w.{c.name}" for c in self.keys)
            sql += [f"ALTER TABLE h.{self.name} ADD COLUMN raw bytea",
                    f"ALTER FOREIGN TABLE w.{self.name} ADD COLUMN raw bytea OPTIONS (rowkey 'raw')",
                    f"UPDATE h.{self.name} t SET raw = w.raw FROM w.{self.name} w WHERE {same}"]
        if self.rng.random() < 0.5:
            sql += [f"ANALYZE h.{self.name}", f"ANALYZE w.{self.name}"]
        return sql

    def drop(self):
        # psql's \\gexec runs what the rows say: the table may be of either kind
        return [f"SELECT format('DROP %s %s CASCADE', CASE relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, oid::regclass) "
                f"FROM pg_class WHERE oid IN (to_regclass('w.{self.name}'), to_regclass('w.{self.name}_all'), to_regclass('h.{self.name}')) \\gexec",
                f"SELECT widecol.drop_table(name) FROM widecol.tables WHERE name ~ '^{self.stored}(_[0-9])?$'"]


class CellTable(Table):
    """Layout cell: a row is one version of a cell.  Only read."""

    cells = True

    def __init__(self, rng, name):
        super().__init__(rng, name)
        self.partitions, self.lists, self.constants, self.salt, self.raw_key, self.duplicates_fail = 0, [], [], [], False, True
        types = [rng.choice([pools.TEXT_C, pools.TEXT, pools.BYTEA]), pools.FAMILY, rng.choice([pools.TEXT_C, pools.TEXT, pools.BYTEA]), pools.TS]
        self.keys = [Column(n, t, "", key=True) for n, t in zip(['"row"', "family", "qualifier", "ts"], types)]
        self.keys[0].never_empty = True
        self.values = [Column("value", rng.choice([pools.TEXT_C, pools.BYTEA]), "")]
        self.columns = self.keys + self.values

    def row(self, rng):
        # an absent value is no cell
        return [c.literal(rng) for c in self.columns]

    def foreign(self, name, stored):
        families = ", ".join(f'"{f}": {{"versions": 1000, "packing": "{self.packing}"}}' for f in pools.FAMILY.stored)
        columns = ", ".join(f"{c.name} {c.type.name}" for c in self.columns)
        server, table = self.store(stored)
        attributes = f", families '{{{families}}}'" if HBase.port is None else ""
        return f"CREATE FOREIGN TABLE w.{name} ({columns}) SERVER {server} OPTIONS ({table}, layout 'cell'{attributes})"


def make_table(rng, name):
    table = (CellTable if rng.random() < 0.1 else Table)(rng, name)
    condition = queries.where(rng, queries.Scope(table, viewed=True)).sql()
    if "[]" not in condition:       # an ARRAY of arrays is none of their type: an error, also of a query
        table.viewed = condition
    return table
