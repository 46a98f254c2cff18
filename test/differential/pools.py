"""Types and values that the differential test draws from.

Literals of one type are distinct and equal values have one spelling (no 1.50
beside 1.5, no -0 among stored floats): which of two equal spellings DISTINCT or
min() gives is nobody's business.  Probes are for conditions only and may be
anything.
"""


def quote(s):
    return "'" + s.replace("'", "''") + "'"


class Type:
    """A SQL type: name for DDL, a class of types it compares with, literals."""

    def __init__(self, name, kind, stored, probes=(), others=(), textual=False, aggregates=("min", "max", "count"),
                 shift=(), orderable=True, hashable=True):
        self.name = name            # as in DDL
        self.kind = kind            # columns of one kind may be joined
        self.stored = list(stored)  # literals without type
        self.probes = list(probes)
        self.others = list(others)  # expressions of other types that it compares with
        self.textual = textual
        self.aggregates = aggregates
        self.shift = shift          # expressions of {c} that map distinct stored values to distinct ones
        self.orderable = orderable
        self.hashable = hashable

    @property
    def base(self):
        return self.name.split(" COLLATE ")[0]

    def literal(self, raw):
        return f"{quote(raw)}::{self.base}"


WORDS = ["", "a", "ab", "abc", "abcd", "b", "B", "Ab", "zz", "Z", " ", "a b", "a%", "a_c", "a\\c", "é", "éa", "日本", "0", "9",
         "10", "~", "x" * 40, "aa", "aaa", "hello world", "Hello"]
WORD_PROBES = ["abcde", "c", "A", "a ", "\x7f", "ä", "日", "x" * 41, "hello", "%"]
NUMBERS = ["-2", "-1", "0", "1", "2", "3", "7", "10", "11", "100", "127", "128", "255", "256"]
WIDE = ["'1.5'::numeric", "0.999", "'NaN'::float8", "'-Infinity'::float8", "2.0::float4", "3000000000", "-3000000000",
        "9223372036854775807", "70000", "-70000", "1e10", "2::int2", "2::int4", "2::int8", "7::numeric", "'1e100'::numeric",
        "99999999999999999999"]
DAYS = ["-infinity", "0044-03-15 BC", "1969-12-31", "1970-01-01", "1999-12-31", "2000-01-01", "2000-01-02", "2024-02-29",
        "2026-06-01", "infinity"]
TIMES = ["-infinity", "0044-03-15 12:00:00 BC", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "1999-12-31 23:59:59.5",
         "2000-01-01 00:00:00", "2000-01-01 00:00:00.000001", "2024-02-29 12:34:56", "2026-06-01 08:00:00", "infinity"]
# In St. John's: within the hour that is skipped in 2024, after it, within the one that is repeated.
TIMES += ["2024-03-10 02:30:00", "2024-03-10 03:15:00", "2024-11-03 01:30:00"]
DAY_OTHERS = ["'2000-01-01 00:00:00'::timestamp", "'2000-01-01 00:00:01'::timestamp", "'1999-12-31 23:59:59.5'::timestamp",
              "'2000-01-01 00:00:00+02'::timestamptz", "'2024-03-10 05:45:00+00'::timestamptz", "'2024-11-03 04:45:00+00'::timestamptz",
              "'294276-12-31 20:00:00+00'::timestamptz", "'4714-11-24 05:00:00+00 BC'::timestamptz", "'4714-11-24 BC'::date", "'2024-03-11'::date", "'2000-01-01'::date", "'infinity'::timestamp", "'-infinity'::date",
              "'290000-01-01'::timestamp", "'5000000-01-01'::date", "('2000-01-03'::date - 1)",
              "(now() - interval '2000 years')::timestamp", "localtimestamp"]
DAY_OTHERS_SAFE = [d for d in DAY_OTHERS if "5000000" not in d]
UUIDS = ["00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
         "7fffffff-ffff-ffff-ffff-ffffffffffff", "80000000-0000-0000-0000-000000000000",
         "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
BYTES = ["", "\\x00", "\\x0000", "\\x0001", "\\x00ff", "\\x01", "\\x61", "\\x6162", "\\x7f", "\\xff", "\\xff00", "\\xffff"]
NUMERICS = ["-1e20", "-1000", "-1.5", "-0.001", "0", "0.001", "0.1", "1", "1.5", "2", "10", "11", "100", "99999.99999",
            "123456789012345678901234567890.5", "NaN", "Infinity", "-Infinity"]
FINITE = [n for n in NUMERICS if n not in ("NaN", "Infinity", "-Infinity")]
FLOATS = ["-Infinity", "-1e300", "-1.5", "-1e-300", "0", "1e-300", "0.1", "1", "1.5", "2", "3", "1e300", "Infinity", "NaN"]
SHORT_FLOATS = ["-Infinity", "-1e30", "-1.5", "-1e-30", "0", "0.1", "1", "1.5", "2", "3", "1e30", "Infinity", "NaN"]
SUMS = ("min", "max", "count", "sum", "avg")

INT2 = Type("int2", "number", NUMBERS + ["-32768", "32767"], ["5", "-5"], WIDE, aggregates=SUMS)
INT4 = Type("int4", "number", NUMBERS + ["-2147483648", "2147483647"], ["5", "-5"], WIDE, aggregates=SUMS)
INT8 = Type("int8", "number", NUMBERS + ["-9223372036854775808", "9223372036854775807", "4567890123456789"], ["5", "-5"], WIDE,
            aggregates=SUMS)
SMALL = Type("int4", "number", [str(i) for i in range(40)], ["-1", "40", "100"], WIDE, aggregates=SUMS, shift=["{c} + 1000", "{c} + 1", "{c} - 1", "- {c}", "39 - {c}"])
BIG = Type("int8", "number", [str(i * 1000) for i in range(-20, 40)], ["1", "-1"], WIDE, aggregates=SUMS, shift=["{c} + 1000000", "{c} + 1000", "- {c}"])
NUMERIC = Type("numeric", "number", NUMERICS, ["1.50", "-1.5000", "3", "1e-20", "-0"], WIDE, aggregates=("min", "max", "count", "sum"))
FLOAT4 = Type("float4", "number", SHORT_FLOATS, ["-0", "5"], WIDE)
FLOAT8 = Type("float8", "number", FLOATS, ["-0", "5", "0.30000000000000004"], WIDE)
BOOL = Type("bool", "bool", ["true", "false"], aggregates=("count", "bool_and", "bool_or"))
TEXT_C = Type('text COLLATE "C"', "text", WORDS, WORD_PROBES, ["'ab'::varchar(5)", "'abc '::char(5)", "'b'::name"],
              textual=True, shift=["{c} || '+'", "'a' || {c}"])
TEXT = Type("text", "text", WORDS, WORD_PROBES, ["'ab'::varchar(5)", "'abc '::char(5)", "'b'::name"], textual=True,
            shift=["{c} || '+'", "'a' || {c}"])
TEXT_ICU = Type('text COLLATE "und-x-icu"', "text", WORDS, WORD_PROBES, ["'ab'::varchar(5)"], textual=True,
                shift=["{c} || '+'", "'a' || {c}"])
VARCHAR = Type('varchar(60) COLLATE "C"', "text", WORDS, WORD_PROBES, ["'ab'::text", "'abc'::varchar"], textual=True,
               shift=["{c} || '+'", "'a' || {c}"])
PLAIN = Type('text COLLATE "C"', "text", [w for w in WORDS if "\\" not in w and w], WORD_PROBES, ["'ab'::varchar(5)"],
             textual=True, shift=["{c} || '+'", "'a' || {c}"])
SHORT = Type('text COLLATE "C"', "text", [w for w in WORDS if len(w) <= 8], WORD_PROBES, ["'ab'::varchar(5)"], textual=True)
CHARS = Type("char(5)", "text", ["", "a", "ab", "abc", "b", "B", "zz"], ["c", "ab "], ["'ab'::text", "'ab   '::varchar"],
             textual=True, aggregates=("min", "max", "count"))
SHORT_CHARS = Type("char(2)", "text", ["", "a", "ab", "B", "é"], ["c", "ab ", "abc"], ["'ab'::text", "'ab   '::varchar", "'abc'::char(3)"],
                   textual=True, aggregates=("min", "max", "count"))
LIMITED = Type('varchar(5) COLLATE "C"', "text", ["", "a", "ab", "a b", "B", "é", "日本", "abcde", " ", "~"], ["abcdef", "c"],
               ["'ab'::text", "'ab'::char(5)", "'ab'::name"], textual=True)
DOMAIN = Type('text COLLATE "C"', "text", ["", ".", "a", "a.", ".a", "a.b", "b.a", "www.apache.org", "apache.org", "org.apache", "a..b"],
              ["a.b.c", "org"], ["'a.b'::varchar(5)", "'a.b '::char(5)"], textual=True)
NAME = Type("name", "text", ["", "a", "ab", "b", "B", "zz"], ["c"], ["'ab'::text"], aggregates=("count",))
# Wider numbers are rounded to this, or refused, when they are stored.
MONEY = Type("numeric(8,2)", "number", ["-999999.99", "-1.5", "-0.01", "0", "0.01", "1", "1.5", "2", "10", "999999.99", "NaN"],
             ["1.50", "1.505", "-1.5000", "1e10", "-0", "Infinity"], WIDE, aggregates=("min", "max", "count", "sum"))
CENTS = Type("numeric(40,10)", "number", FINITE, ["1.50", "-1.5000", "3", "1e-20", "-0", "NaN", "Infinity"], WIDE, aggregates=("min", "max", "count", "sum"))
DATE = Type("date", "day", DAYS, ["2000-01-03", "4714-11-24 BC"], DAY_OTHERS, shift=["{c} + 1", "{c} - 365"])
TIMESTAMP = Type("timestamp", "day", TIMES, ["2000-01-03 00:00:00"], DAY_OTHERS_SAFE)
TIMESTAMPTZ = Type("timestamptz", "day", [t if "infinity" in t else (t[:-3] + "+00 BC" if t.endswith("BC") else t + "+00")
                                          for t in TIMES], ["2000-01-03 00:00:00+05"], DAY_OTHERS_SAFE)
# Finite, and some of them within minutes: for salts that are a minute.
CLOCK = Type("timestamp", "day", [f"2024-02-29 12:{m:02}:{s:02}.5" for m in (0, 1, 2, 10, 30, 58, 59) for s in (0, 30, 59)] +
             ["1969-12-31 23:59:59.999", "0044-03-15 12:00:00 BC", "1999-12-31 23:59:00", "2000-01-01 00:00:00", "2024-02-29 13:00:30"],
             TIMES + ["2024-02-29 12:05:00", "2024-02-29 12:01:59.999999"], DAY_OTHERS_SAFE)
CLOCKTZ = Type("timestamptz", "day", [t[:-3] + "+00 BC" if t.endswith("BC") else t + "+00" for t in CLOCK.stored],
               [t if t.endswith(("infinity", "BC")) else t + "+00" for t in CLOCK.probes], DAY_OTHERS_SAFE)
# Finite and whole milliseconds, as encoding 'binary' keeps them.
FINITE_DATE = Type("date", "day", [d for d in DAYS if "infinity" not in d], ["2000-01-03", "infinity", "-infinity"], DAY_OTHERS)
MILLIS = Type("timestamp", "day", [t[:-3] if "." in t and len(t.split(".")[1]) > 3 else t for t in TIMES if "infinity" not in t and "000001" not in t],
              TIMES + ["2000-01-01 00:00:00.0005"], DAY_OTHERS_SAFE)
MILLISTZ = Type("timestamptz", "day", [t[:-3] + "+00 BC" if t.endswith("BC") else t + "+00" for t in MILLIS.stored],
                ["infinity", "-infinity", "2000-01-01 00:00:00.0005+00", "2000-01-03 00:00:00+05"], DAY_OTHERS_SAFE)
UUID = Type("uuid", "uuid", UUIDS, ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"], aggregates=("count",))
BYTEA = Type("bytea", "bytea", BYTES, ["\\x02", "\\xfe"], aggregates=("count",))
PAIRS = Type("bytea", "bytea", [b for b in BYTES if len(b) == 6], ["", "\\x61", "\\x616263", "\\x02"], aggregates=("count",))
TIME = Type("time", "time", ["00:00:00", "12:34:56.789", "23:59:59.999999", "24:00:00"], ["01:00"])
TIMETZ = Type("timetz", "timetz", ["00:00:00+00", "12:34:56.789-08", "23:59:59+05:30"], ["01:00+00"], aggregates=("count",))
# Some values are spelled in two ways.
INTERVAL = Type("interval", "interval", ["-1 year", "0", "00:00:01", "1 day 02:03:04", "30 days", "10 years 3 mons"],
                ["1 mon", "720:00:00", "26:03:04", "-12 mons"])
JSONB = Type("jsonb", "jsonb", ['{}', '{"a": 1}', '{"a": 1, "b": [1, 2, null]}', '[]', 'null', '"x"', '1.50'], ['{"b": 2}', '1.5', '[1.50]'],
             aggregates=("count",))
JSON = Type("json", "json", ['{}', '{"a":  1}', '[1, 2]'], aggregates=("count",), orderable=False, hashable=False)
INTS = Type("int4[]", "ints", ["{}", "{1}", "{1,2}", "{NULL,1}", "{{1,2},{3,4}}"], ["{2}"], aggregates=("count",))
TEXTS = Type("text[]", "texts", ["{}", "{a}", '{"a b","c\\"d",NULL}'], ["{b}"], aggregates=("count",))
INET = Type("inet", "inet", ["10.0.0.1", "10.0.0.0/8", "::1"], ["10.0.0.2"])
OID = Type("oid", "oid", ["0", "1", "4294967295"], ["7"])
POINT = Type("point", "point", ["(0,0)", "(1.5,-2)"], aggregates=("count",), orderable=False, hashable=False)
RANGE = Type("int4range", "range", ["empty", "[1,5)", "[3,)", "(,)"], ["[1,2)"], aggregates=("count",))
MOOD = Type("mood", "mood", ["sad", "ok", "happy"], aggregates=("min", "max", "count"))
DOM = Type("posint", "number", ["1", "2", "3", "10"], ["5"], ["2::int2", "3000000000", "1.5"], aggregates=SUMS, shift=["{c} + 1", "{c} - 1"])

# What cells have besides.
FAMILY = Type('text COLLATE "C"', "text", ["cf", "other", "fü"], ["", "c", "nosuch"], textual=True)
TS = Type("int8", "number", ["0", "1", "2", "5", "1000", "1700000000000000", "4000000000000000000"], ["3", "-1", "9223372036854775807"], WIDE, aggregates=SUMS)

# Key columns: type, then options for OPTIONS (...).
KEYS = [
    (SMALL, ""), (SMALL, ""), (SMALL, ", sort 'desc'"), (INT2, ""), (INT4, ""), (INT8, ""), (INT8, ", sort 'desc'"), (BIG, ""),
    (INT4, ", encoding 'binary'"), (INT4, ", encoding 'binary', sort 'desc'"), (INT2, ", encoding 'binary'"), (SMALL, ", encoding 'text'"),
    (TEXT_C, ""), (TEXT_C, ""), (TEXT_C, ", sort 'desc'"), (TEXT, ""), (TEXT, ", sort 'desc'"), (TEXT_ICU, ""), (VARCHAR, ""),
    (SHORT, ", length '8'"), (SHORT, ", length '9', sort 'desc'"), (PLAIN, ", encoding 'reversed'"),
    (NUMERIC, ""), (NUMERIC, ", sort 'desc'"), (FLOAT8, ""), (FLOAT8, ", sort 'desc'"), (FLOAT4, ""), (FLOAT8, ", encoding 'binary'"),
    (BOOL, ""), (BOOL, ", sort 'desc'"), (DATE, ""), (DATE, ", sort 'desc'"), (TIMESTAMP, ""), (TIMESTAMPTZ, ""),
    (TIMESTAMPTZ, ", sort 'desc'"), (UUID, ""), (UUID, ", sort 'desc'"), (BYTEA, ""), (BYTEA, ", sort 'desc'"), (DOM, ""),
    (DATE, ", encoding 'text'"), (SMALL, ", encoding 'md5', length '8', qualifier 'original {n}'"),
    (TEXT_C, ", encoding 'sha1', qualifier 'original {n}'"), (NUMERIC, ", encoding 'murmur3', length '4', qualifier 'original {n}'"),
    (INTERVAL, ", encoding 'md5', qualifier 'original {n}'"),
    (CHARS, ""), (CHARS, ", sort 'desc'"), (SHORT_CHARS, ", length '3'"), (LIMITED, ", sort 'desc'"), (NAME, ", encoding 'text'"),
    (MONEY, ""), (MONEY, ", encoding 'text'"), (CENTS, ", encoding 'binary'"), (NUMERIC, ", encoding 'text'"), (FLOAT8, ", encoding 'text'"),
    (INT8, ", encoding 'binary'"), (INT8, ", encoding 'binary', sort 'desc'"), (INT8, ", encoding 'reversed'"), (INT4, ", encoding 'text', length '11'"),
    (FINITE_DATE, ", encoding 'binary'"), (FINITE_DATE, ", encoding 'binary', sort 'desc'"), (MILLIS, ", encoding 'binary'"),
    (MILLISTZ, ", encoding 'binary', sort 'desc'"), (TIMESTAMPTZ, ", encoding 'text'"), (TIMESTAMP, ", encoding 'text', sort 'desc'"),
    (DOMAIN, ", encoding 'reversed_domain'"), (DOMAIN, ", encoding 'reversed_domain', sort 'desc'"), (PAIRS, ", length '2'"),
    (PAIRS, ", length '2', sort 'desc'"), (BYTEA, ", encoding 'md5', qualifier 'original {n}'"), (BOOL, ", encoding 'binary'"),
    (BOOL, ", encoding 'binary', sort 'desc'"), (UUID, ", encoding 'text'"), (UUID, ", encoding 'binary'"), (TIME, ", encoding 'text'"),
    (INTERVAL, ", encoding 'text'"), (INET, ", encoding 'text'"), (MOOD, ", encoding 'text'"), (JSONB, ", encoding 'text'"),
    (INTS, ", encoding 'text'"), (OID, ", encoding 'text'"), (RANGE, ", encoding 'text', sort 'desc'"),
]

CLOCKS = [
    (CLOCK, ""), (CLOCK, ", sort 'desc'"), (CLOCKTZ, ""), (CLOCKTZ, ", sort 'desc'"), (CLOCKTZ, ", encoding 'binary'"),
    (CLOCK, ", encoding 'binary', sort 'desc'"),
]

# Parts before the last of a key with delimiter '|': no byte of them may be 7C.
DELIMITED = [(PLAIN, ""), (PLAIN, ""), (TEXT, ""), (SMALL, ", encoding 'text'"), (DATE, ", encoding 'text'"), (BOOL, ", encoding 'text'")]

VALUES = [
    (SMALL, ""), (SMALL, ""), (INT2, ""), (INT4, ""), (INT8, ""), (FLOAT4, ""), (FLOAT8, ""), (NUMERIC, ""), (TEXT, ""), (TEXT, ""),
    (TEXT_C, ""), (TEXT_ICU, ""), (VARCHAR, ""), (CHARS, ""), (NAME, ""), (BOOL, ""), (DATE, ""), (TIMESTAMP, ""), (TIMESTAMPTZ, ""),
    (UUID, ""), (BYTEA, ""), (TIME, ""), (TIMETZ, ""), (INTERVAL, ""), (JSON, ""), (INTS, ""), (TEXTS, ""), (INET, ""), (OID, ""),
    (POINT, ""), (RANGE, ""), (MOOD, ""), (DOM, ""), (JSONB, "qualifier 'doc {n}'"), (SMALL, "encoding 'text'"),
    (MONEY, ""), (MONEY, "encoding 'ordered'"), (CENTS, "encoding 'binary'"), (LIMITED, ""), (SHORT_CHARS, ""),
    (SHORT_CHARS, "encoding 'reversed'"), (DOMAIN, "encoding 'reversed_domain'"), (TEXT_C, "encoding 'reversed'"), (FLOAT8, "encoding 'text'"),
    (FLOAT8, "encoding 'ordered'"), (NUMERIC, "encoding 'ordered'"), (FINITE_DATE, "encoding 'binary'"), (MILLIS, "encoding 'binary'"),
    (MILLISTZ, "encoding 'binary'"), (TIMESTAMPTZ, "encoding 'ordered'"), (BOOL, "encoding 'text'"), (BOOL, "encoding 'ordered'"),
    (UUID, "encoding 'text'"), (BYTEA, "encoding 'text'"), (MOOD, "encoding 'text'"),
    (INT8, "encoding 'ordered'"), (DATE, "encoding 'ordered'"), (TEXT_C, "encoding 'ordered'"),
]
