"""Programs: one session's statements, the same over foreign tables and over a heap copy.

Answers and SQLSTATEs must be the same, statement by statement.  In a transaction each statement has a
savepoint, to which the session goes back after an error, and now and then after a success.
"""

import random

import guards
import members
from sessions import Session, close

# Which of several rows that break a constraint comes first, and so which constraint it is, nobody says.
CONSTRAINTS = {"23502", "23505", "23514", "44000"}
SETTINGS = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_nestloop", "enable_sort", "enable_hashagg", "enable_material",
            "enable_memoize", "enable_incremental_sort", "enable_async_append", "widecol.enable_pushdown", "widecol.enable_batched_lookup"]
SHRINK_TRIES = 80
TRANSACTION_WORDS = ("BEGIN", "COMMIT", "ROLLBACK")


class Entry:
    """A statement of a program: back says that its savepoint is rolled back; work, that the engine is to do it meanwhile."""

    def __init__(self, sql, ordered=False, back=False, work=False):
        self.sql = sql
        self.ordered = ordered
        self.back = back
        self.work = work


class Twins:
    """A session over heap tables, one over foreign tables, and one for the engine's work."""

    def __init__(self):
        settings = ("statement_timeout = '60s'", "timezone = 'UTC'")
        self.heap, self.wide = (Session(name, settings + (f"search_path = {schema}, public",)) for name, schema in (("heap", "h"), ("wide", "w")))
        self.worker = Session("worker")
        self.in_transaction = False

    def close(self):
        close([self.heap, self.wide, self.worker])

    def both(self, sql):
        self.heap.start(sql)
        wide = self.wide.run(sql)
        return self.heap.run_started(sql), wide

    def play(self, entry):
        """None, or what differs."""
        if entry.work:
            self.worker.must(entry.sql)
            return None
        guarded = self.in_transaction and not entry.sql.startswith(TRANSACTION_WORDS)
        if guarded:
            self.both("SAVEPOINT a")
        heap, wide = self.both(entry.sql)
        if entry.sql.startswith(TRANSACTION_WORDS) and not heap.error:
            self.in_transaction = entry.sql.startswith("BEGIN")
        if guarded:
            self.both("ROLLBACK TO a" if heap.error or entry.back else "RELEASE a")
        return None if same(heap, wide, entry.ordered) else f"heap: {only(heap, wide)}\nwidecol: {only(wide, heap)}"


def same(heap, wide, ordered):
    if heap.error in CONSTRAINTS and wide.error in CONSTRAINTS:
        return True
    return heap == wide if ordered else (heap.error, sorted(heap.rows)) == (wide.error, sorted(wide.rows))


def only(answer, other):
    """The answer's first lines that the other has not."""
    rows = [row for row in answer.rows if row not in other.rows] or answer.rows[:3]
    shown = [row.replace("\x1f", "|")[:400] for row in rows[:4]]
    return " ".join(filter(None, [answer.error and f"ERROR {answer.error}", f"{len(answer.rows)} lines;", " / ".join(shown)]))


def contents(author):
    return [Entry(sql, ordered) for sql, ordered in author.contents()]


class Program:
    """One seed: tables of a kind, and the statements that their author writes."""

    author = None

    def __init__(self, seed, number):
        self.rng = random.Random(f"{self.author.__name__} {seed} {number}")

    def run(self, root):
        """A list of lines with the errors found; [] if there are none."""
        author = self.author(self.rng)
        entries = [entry for _ in range(self.rng.choice([60, 150])) for entry in self.next(author)] + [Entry("COMMIT")] + contents(author)
        failed = self.play(root, author, entries)
        if failed is None:
            return []
        entries, (at, difference) = self.cut_down(root, author, entries[:failed[0] + 1], failed)
        lines = [s + ";" for s in author.ddl() + author.load() + [e.sql for e in entries[:at + 1]]]
        return [part for line in lines + [difference] for part in line.split("\n")]

    def next(self, author):
        rng = self.rng
        chance = rng.random()
        if chance < 0.05:
            level = rng.choice(["", " ISOLATION LEVEL REPEATABLE READ", " ISOLATION LEVEL SERIALIZABLE"])
            return [Entry("BEGIN" + level)]
        if chance < 0.09:
            return [Entry(rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]))] + contents(author)
        if chance < 0.14:
            name = rng.choice(SETTINGS)
            return [Entry(rng.choice([f"SET {name} = off", f"RESET {name}"]))]
        if chance < 0.16:
            return [Entry(f"SET plan_cache_mode = {rng.choice(['auto', 'force_generic_plan'])}")]
        if chance < 0.22:
            verb = rng.choice(["flush", "compact", "major_compact"])
            return [Entry(f"SELECT widecol.{verb}('{author.stored()}')", work=True)]
        sql, ordered = author.statement()
        entry = Entry(sql, ordered, rng.random() < 0.15)
        return [entry] + (contents(author) if rng.random() < 0.4 and not sql.startswith("SELECT") else [])

    def play(self, root, author, entries):
        """(number of the first entry that differs, how), or None."""
        for sql in author.drop() + author.ddl() + author.load():
            root.must(sql.replace("\n", " "))
        twins = Twins()
        try:
            return next(((i, d) for i, d in ((i, twins.play(e)) for i, e in enumerate(entries)) if d), None)
        finally:
            twins.close()

    def cut_down(self, root, author, entries, failed):
        """The same with fewer entries, if it can be had."""
        tries, size = SHRINK_TRIES, len(entries) // 2
        while size >= 1:
            at = 0
            while at < len(entries) - 1 and tries > 0:
                tries -= 1
                fewer = entries[:at] + entries[min(at + size, len(entries) - 1):]
                found = self.play(root, author, fewer)
                if found is None:
                    at += size
                else:
                    entries, failed = fewer[:found[0] + 1], found
            size //= 2
        return entries, failed


class Guarded(Program):
    author = guards.Author


class Members(Program):
    author = members.Author
