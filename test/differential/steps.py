"""Histories step by step: the same interleaving over foreign tables and over a heap copy.

One session starts a statement at a time, on both sides; then everybody answers or waits.
The sessions that wait, the answers, and the SQLSTATEs of errors must be the same.

Known differences are not played:
  * A row is its key.  On heap tables a key that is inserted again is another row, and
    a session that waits for a row whose key is changed follows the row.  So a key is used again only
    while nobody can be looking at the row that was there, and rows move to keys that no
    range has.
  * INSERT of an existing key waits on a heap table for a transaction that changes the row; here
    for one that has locked it FOR UPDATE, too.  So it is played only if no session has locked the row.
  * An UPDATE from NULL to NULL, or of a cell to its value, leaves the row as it was: for
    others under REPEATABLE READ it has not changed.
  * FOR KEY SHARE NOWAIT and SKIP LOCKED wait on a heap table, if the row's transaction has
    first changed, then locked it.
"""

import random

from sessions import Answer, Group

BASE = range(1, 9)              # keys that ranges have
FRESH = 1000                    # others are from here on
SETTINGS = ("enable_seqscan = off", "enable_bitmapscan = off", "enable_hashjoin = off", "enable_mergejoin = off",
            "enable_material = off", "enable_memoize = off")
STRENGTHS = ["UPDATE", "UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"]


class Tables:
    """t and u of one history, as heap tables in schema h and foreign ones in w."""

    def __init__(self, rng):
        self.cells = rng.random() < 0.15
        self.packing = rng.choice(["auto", "row", "cell"])
        self.salted = rng.random() < 0.2
        self.parts = not self.cells and rng.random() < 0.15
        self.trigger = not self.cells and not self.parts and rng.random() < 0.15
        self.rows = {k: (rng.randint(0, 20), rng.choice(["NULL", str(rng.randint(0, 20))])) for k in BASE if rng.random() < 0.85}

    def ddl(self):
        return self.cell_ddl() if self.cells else self.row_ddl()

    def row_ddl(self):
        options = "on_duplicate 'error'"
        if self.packing != "auto":
            options += f", families '{{\"cf\": {{\"packing\": \"{self.packing}\"}}}}'"
        if self.salted:
            options += ", salt_buckets '3'"
        sql = []
        for name, columns in (("t", "v int NOT NULL, w int, l text"), ("u", "v int, n int")):
            parts = " PARTITION BY HASH (k)" if self.parts else ""
            sql.append(f"CREATE TABLE h.{name} (k int PRIMARY KEY, {columns}){parts}")
            foreign = "SERVER widecol OPTIONS (\"table\" 'steps_%s', " + options.replace("%", "%%") + ")"
            if not self.parts:
                sql.append(f"CREATE FOREIGN TABLE w.{name} (k int OPTIONS (rowkey '1'), {columns}) " + foreign % name)
                continue
            sql.append(f"CREATE TABLE w.{name} (k int, {columns}){parts}")
            for i in range(2):
                bound = f"FOR VALUES WITH (MODULUS 2, REMAINDER {i})"
                sql += [f"CREATE TABLE h.{name}{i} PARTITION OF h.{name} {bound}",
                        f"CREATE FOREIGN TABLE w.{name}{i} ({columns}, k int OPTIONS (rowkey '1')) " + foreign % f"{name}{i}",
                        f"ALTER TABLE w.{name} ATTACH PARTITION w.{name}{i} {bound}"]
        for k, (v, w) in self.rows.items():
            sql += [f"INSERT INTO {s}.t VALUES ({k}, {v}, {w}, '')" for s in "hw"]
            sql += [f"INSERT INTO {s}.u VALUES ({k}, {v * 7 % 20}, {k % 3})" for s in "hw" if k % 4]
        if self.trigger:
            sql += ["CREATE OR REPLACE FUNCTION public.steps_trigger() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$BEGIN new.l := new.l || old.v; RETURN new; END$$"]
            sql += [f"CREATE TRIGGER steps BEFORE UPDATE ON {s}.t FOR EACH ROW EXECUTE FUNCTION public.steps_trigger()" for s in "hw"]
        return sql

    def cell_ddl(self):
        """Layout cell: one cell a row, which has t's key in its timestamp, too."""
        columns = "\"row\" text COLLATE \"C\", family text, qualifier text, ts bigint, value text"
        sql = [f"CREATE TABLE h.cells ({columns}, PRIMARY KEY (\"row\", family, qualifier, ts))",
               f"CREATE FOREIGN TABLE w.cells ({columns}) SERVER widecol OPTIONS (\"table\" 'steps_t', layout 'cell', "
               f"families '{{\"f\": {{\"packing\": \"{self.packing}\"}}}}')"]
        return sql + [f"INSERT INTO {s}.cells VALUES ('{k}', 'f', 'q', {k}, '{v}')" for k, (v, _) in self.rows.items() for s in "hw"]

    @staticmethod
    def drop():
        return ["DROP TABLE IF EXISTS h.t, h.u, h.cells",
                "DO $$DECLARE t record; BEGIN FOR t IN SELECT oid::regclass AS name, relkind FROM pg_class "
                "WHERE oid IN (to_regclass('w.t'), to_regclass('w.u'), to_regclass('w.cells')) LOOP "
                "EXECUTE format('DROP %s %s', CASE t.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, t.name); END LOOP; END$$",
                "SELECT widecol.drop_table(name) FROM widecol.tables WHERE name LIKE 'steps_%'"]

    def contents(self):
        if self.cells:
            return "SELECT * FROM cells ORDER BY \"row\""
        return "SELECT * FROM t ORDER BY k; SELECT * FROM u ORDER BY k"


class Actor:
    """The known state of one session."""

    def __init__(self):
        self.waits = False
        self.end()

    def end(self):
        """Its transaction is over."""
        self.in_transaction = self.failed = self.snapshot = False
        self.savepoints = 0
        self.had = set()        # keys that it may have locked or changed
        self.deleted = set()    # of these, those that it may have deleted and not changed before
        self.inserts = set()    # keys that it may have inserted and not changed since, or waits to insert
        self.cursors = []       # (name, the keys of its rows)
        self.followed = set()   # keys of rows that it may have followed there, on a heap table


class Step:
    def __init__(self, sql, ordered=True, keys=(), kind="look", table="t", to=None):
        self.sql = sql
        self.ordered = ordered
        self.keys = {(table, k) for k in keys}
        self.kind = kind        # look, have (lock or change), delete, insert; begin, end, save, back, release
        self.to = to            # key that the row moves to


class Author:
    """Makes the next step from the steps so far."""

    def __init__(self, rng, tables, n):
        self.rng = rng
        self.tables = tables
        self.actors = [Actor() for _ in range(n)]
        self.fresh = FRESH
        self.moved = []         # keys that rows may have moved to, or been inserted under
        self.gone = set()       # keys of rows that may have been deleted, ever
        self.moves = {}         # key: where its row may have moved to

    # -- which session, and what kind of step

    def next(self, finishing):
        """(session, Step), or None: all transactions have ended."""
        rng = self.rng
        ready = [i for i, a in enumerate(self.actors) if not a.waits and (a.in_transaction or not finishing)]
        if not ready:
            return None
        i = rng.choice(ready)
        actor = self.actors[i]
        if actor.failed:
            back = actor.savepoints and not finishing and rng.random() < 0.7
            return i, self.back(actor) if back else Step("ROLLBACK", kind="end")
        if finishing:
            return i, Step(rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]), kind="end")
        if not actor.in_transaction:
            if rng.random() < 0.8:
                level = rng.choice(["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"])
                return i, Step(f"BEGIN ISOLATION LEVEL {level}", kind="begin")
            return i, self.statement(i)
        chance = rng.random()
        if chance < 0.13:
            return i, Step("COMMIT", kind="end")
        if chance < 0.19:
            return i, Step("ROLLBACK", kind="end")
        if chance < 0.29:
            return i, Step(f"SAVEPOINT s{actor.savepoints + 1}", kind="save")
        if chance < 0.40 and actor.savepoints:
            return i, self.back(actor) if rng.random() < 0.6 else Step(f"RELEASE s{actor.savepoints}", kind="release")
        return i, self.statement(i)

    @staticmethod
    def back(actor):
        return Step(f"ROLLBACK TO s{actor.savepoints}", kind="back")

    def statement(self, i):
        while True:
            step = self.cell_statement() if self.tables.cells else self.row_statement(self.actors[i])
            if self.may_play(i, step) and not (self.is_race(i, step) and self.rng.random() < 0.7):
                return step

    def may_play(self, i, step):
        """Not if it touches a key that somebody waits to insert again, or has on heap tables only."""
        others = [a for j, a in enumerate(self.actors) if j != i]
        if step.kind == "insert" and not all(self.may_insert(i, key) for key in step.keys):
            return False
        return not any(step.keys & self.gone & a.inserts for a in others if a.waits) and \
            not any(step.keys & a.followed for a in others)

    def is_race(self, i, step):
        """Of several that wait for a row it is not sure which gets it next."""
        return any(step.keys & a.had for j, a in enumerate(self.actors) if j != i and a.waits)

    def happened(self, i, step, answer):
        """answer: None, if the session waits."""
        actor = self.actors[i]
        actor.waits = answer is None
        if step.kind == "begin":
            actor.in_transaction = True
            actor.repeatable = "REPEATABLE" in step.sql
        elif step.kind == "save":
            actor.savepoints += 1
        elif step.kind in ("have", "delete", "insert"):
            actor.inserts -= step.keys
            if step.kind == "insert":
                actor.inserts |= step.keys
            elif step.kind == "delete":
                self.gone |= step.keys
                actor.deleted |= step.keys - actor.had
            else:
                actor.deleted -= step.keys
            actor.had |= step.keys
            if step.to is not None:
                self.moves.update((key, ("t", step.to)) for key in step.keys)
        if answer is not None:
            self.answered(i, step, answer)

    def answered(self, i, step, answer):
        actor = self.actors[i]
        actor.waits = False
        if step.kind == "end" or (not actor.in_transaction and step.kind != "begin"):
            actor.end()
        elif answer.error:
            actor.failed = True
        elif step.kind == "back":
            actor.failed = False
        elif step.kind == "release":
            actor.savepoints -= 1
        elif step.kind not in ("begin", "save"):
            actor.snapshot = actor.repeatable
        if actor.in_transaction:
            for key in step.keys:
                while key in self.moves:
                    key = self.moves[key]
                    actor.followed.add(key)

    # -- statements over t and u

    def row_statement(self, actor):
        rng = self.rng
        makers = [self.select, self.lock, self.lock, self.update, self.update, self.assign, self.delete]
        if not self.tables.trigger:
            makers += [self.join, self.lock_join, self.depends, self.queue, self.other]
        if rng.random() < 0.22:
            return self.insert()
        if rng.random() < 0.08 and not self.tables.parts:
            return self.move()
        if actor.in_transaction and rng.random() < 0.12:
            return self.cursor(actor)
        return rng.choice(makers)()

    def keys(self, table="t"):
        """(a condition, the keys that it means)."""
        rng = self.rng
        chance = rng.random()
        if chance < 0.12 and self.moved and table == "t":
            k = rng.choice(self.moved)
            return f"{table}.k = {k}", [k]
        if chance < 0.6:
            k = rng.choice(BASE)
            return f"{table}.k = {k}", [k]
        a, b = sorted(rng.sample(BASE, 2))
        if chance < 0.72:
            return f"{table}.k IN ({b}, {a})", [a, b]
        return f"{table}.k BETWEEN {a} AND {b}", list(range(a, b + 1))

    def more(self, table="t"):
        rng = self.rng
        return rng.choice(["", "", "", f" AND {table}.v > {rng.randint(0, 15)}", f" AND {table}.v % 2 = {rng.randint(0, 1)}"] +
                          ([" AND t.w IS NULL", " AND t.w < t.v", f" AND t.v BETWEEN 5 AND {rng.randint(5, 40)}", " AND t.l LIKE '%a'"]
                           if table == "t" else []))

    def select(self):
        where, _ = self.keys()
        return Step(f"SELECT * FROM t WHERE {where}{self.more()} ORDER BY k")

    def strength(self):
        strength, policy = self.rng.choice(STRENGTHS), self.rng.choice(["", "", " NOWAIT", " SKIP LOCKED"])
        return f"FOR {strength}", policy if strength != "KEY SHARE" else ""

    def lock(self):
        rng = self.rng
        where, keys = self.keys()
        limit = f" LIMIT {rng.randint(1, 2)}" if rng.random() < 0.3 else ""
        order = rng.choice(["k", "k DESC", "v, k"])
        strength, policy = self.strength()
        return Step(f"SELECT * FROM t WHERE {where}{self.more()} ORDER BY {order}{limit} {strength}{policy}", True, keys, "have")

    def cursor(self, actor):
        """Locks rows as they are fetched."""
        if actor.cursors and self.rng.random() < 0.7:
            name, keys = self.rng.choice(actor.cursors)
            return Step(f"FETCH {self.rng.randint(1, 3)} FROM {name}", True, keys, "have")
        where, keys = self.keys()
        self.fresh += 1
        actor.cursors.append((f"c{self.fresh}", keys))
        order, lock = self.rng.choice([("k", " FOR UPDATE"), ("v, k", " FOR NO KEY UPDATE"), ("k", " FOR SHARE"), ("k", "")])
        return Step(f"DECLARE c{self.fresh} CURSOR FOR SELECT * FROM t WHERE {where}{self.more()} ORDER BY {order}{lock}")

    def update(self):
        rng = self.rng
        where, keys = self.keys()
        what = rng.choice([f"v = v + {rng.randint(1, 5)}", "w = coalesce(w, 0) + v", f"l = l || '{rng.choice('abc')}'",
                           f"v = v + 1, l = l || '{rng.choice('abc')}'", "w = nullif(v, w), v = v - 1"])
        return Step(f"UPDATE t SET {what} WHERE {where}{self.more()} RETURNING *", False, keys, "have")

    def assign(self):
        """Done in the engine."""
        rng = self.rng
        where, keys = self.keys()
        what = rng.choice([f"w = {rng.randint(0, 20)}", "w = NULL, v = 3", f"v = {rng.randint(0, 20)}", f"l = '{rng.choice('abc')}', w = 7"])
        return Step(f"UPDATE t SET {what} WHERE {where}{self.more()}", True, keys, "have")

    def delete(self):
        where, keys = self.keys()
        return Step(f"DELETE FROM t WHERE {where}{self.more()}{self.rng.choice(['', ' RETURNING *'])}", False, keys, "delete")

    def join(self):
        rng = self.rng
        k = rng.choice(BASE)
        where = f"u.k = t.k AND t.k = {k}{self.more('u')}{self.more()}"
        if rng.random() < 0.3:
            return Step(f"DELETE FROM t USING u WHERE {where} RETURNING t.*, u.v", False, [k], "delete")
        return Step(f"UPDATE t SET v = t.v + u.v FROM u WHERE {where} RETURNING t.*, u.v", False, [k], "have")

    def lock_join(self):
        where, keys = self.keys()
        strength, policy = self.strength()
        of = self.rng.choice(["", " OF t", " OF u"])
        return Step(f"SELECT t.*, u.v FROM t JOIN u ON u.k = t.k WHERE {where}{self.more()}{self.more('u')} ORDER BY t.k {strength}{of}{policy}",
                    True, keys, "have")

    def depends(self):
        """On rows of the other table, by a subquery."""
        rng = self.rng
        where, keys = self.keys()
        if rng.random() < 0.5:
            return Step(f"UPDATE t SET w = (SELECT max(u.v) FROM u WHERE u.k <= t.v), v = v + 1 WHERE {where} RETURNING *", False, keys, "have")
        return Step(f"UPDATE t SET v = t.v + 1 WHERE {where} AND t.v < (SELECT sum(u.v) FROM u WHERE u.n = t.k % 3) RETURNING *", False, keys, "have")

    def queue(self):
        """The next one of those that nobody has."""
        where, keys = self.keys()
        found = f"(SELECT t.k FROM t WHERE {where}{self.more()} ORDER BY k LIMIT 1 FOR UPDATE SKIP LOCKED)"
        if self.rng.random() < 0.5:
            return Step(f"DELETE FROM t WHERE k = {found} RETURNING *", True, keys, "delete")
        return Step(f"WITH c AS MATERIALIZED {found} UPDATE t SET w = 99 FROM c WHERE c.k = t.k RETURNING t.*", True, keys, "have")

    def other(self):
        rng = self.rng
        where, keys = self.keys("u")
        returning = rng.choice(["", " RETURNING *"])
        if rng.random() < 0.2:
            return Step(f"DELETE FROM u WHERE {where}{self.more('u')}{returning}", False, keys, "delete", "u")
        what = rng.choice([f"v = {rng.randint(0, 20)}", "v = v + 3", "n = v - n"])
        return Step(f"UPDATE u SET {what} WHERE {where}{self.more('u')}{returning}", False, keys, "have", "u")

    # -- new keys

    def new_key(self):
        self.fresh += 1
        self.moved.append(self.fresh)
        return self.fresh

    def may_insert(self, i, key):
        """Would a heap table take it as this one does?"""
        others = [a for j, a in enumerate(self.actors) if j != i]
        if key in self.actors[i].had:
            return False
        if key in self.gone:
            return not any(a.waits or a.snapshot for a in self.actors) and \
                not any(key in a.had - a.deleted - a.inserts for a in others)
        return not any(key in a.had - a.inserts for a in others)

    def insert(self):
        rng = self.rng
        k = rng.choice(list(BASE) + self.moved[-3:] + [0])
        if k == 0:
            k = self.new_key()
        conflict = rng.choice(["", " ON CONFLICT DO NOTHING"])
        return Step(f"INSERT INTO t VALUES ({k}, {rng.randint(0, 20)}, NULL, 'i'){conflict} RETURNING *", True, [k], "insert")

    def move(self):
        k = self.rng.choice(list(BASE) + self.moved[-2:])
        to = self.new_key()
        return Step(f"UPDATE t SET k = {to} WHERE k = {k}{self.more()} RETURNING *", True, [k], "delete", to=to)

    # -- statements over cells

    def other_value(self):
        self.fresh += 1
        return self.fresh

    def cell_statement(self):
        rng = self.rng
        a, b = sorted(rng.sample(BASE, 2))
        where, keys = rng.choice([(f"\"row\" = '{a}'", [a]), (f"\"row\" BETWEEN '{a}' AND '{b}'", range(a, b + 1))])
        if rng.random() < 0.3:
            where += " AND length(value) < 4"
        strength, policy = self.strength()
        return rng.choice([
            Step(f"SELECT * FROM cells WHERE {where} ORDER BY \"row\""),
            Step(f"SELECT * FROM cells WHERE {where} ORDER BY \"row\" {strength}{policy}", True, keys, "have"),
            Step(f"UPDATE cells SET value = value || '{rng.choice('abc')}' WHERE {where} RETURNING *", False, keys, "have"),
            Step(f"UPDATE cells SET value = '{self.other_value()}' WHERE {where}", True, keys, "have"),
            Step(f"DELETE FROM cells WHERE {where}{rng.choice(['', ' RETURNING *'])}", False, keys, "delete")])


class Difference(Exception):
    """Ends a history; doubtful: it says nothing about the foreign tables."""

    def __init__(self, words, doubtful=False):
        super().__init__(words)
        self.doubtful = doubtful


class Play:
    """The two sides, and the steps so far."""

    def __init__(self, n, tables):
        self.sides = {"heap": Group("heap", n, SETTINGS + ("search_path = h, public",)),
                      "widecol": Group("wide", n, SETTINGS + ("search_path = w, public",))}
        self.tables = tables
        self.log = []           # (session, Step)
        self.words = []         # what happened, for people
        self.waiting = {}       # session: its Step

    def close(self):
        for group in self.sides.values():
            group.close()

    def step(self, i, step):
        """Plays it: {session: answer} of all that have answered now."""
        self.log.append((i, step))
        self.waiting[i] = step
        for group in self.sides.values():
            group.sessions[i].start(step.sql)
        heap, wide = (group.settle() for group in self.sides.values())
        self.words.append(f"{i}: {step.sql};" + ("" if i in heap else "  -- waits"))
        for j, answer in sorted(heap.items()):
            self.words.append(f"   {'' if j == i else str(j) + ' goes on: '}{answer}")
        self.compare(heap, wide)
        for j in heap:
            del self.waiting[j]
        return heap

    def compare(self, heap, wide):
        deadlocks = [{j for j, answer in side.items() if answer.error == "40P01"} for side in (heap, wide)]
        if all(deadlocks) and deadlocks[0] != deadlocks[1]:
            raise Difference("a deadlock ended with different sessions", doubtful=True)
        for j in sorted(set(heap) | set(wide)):
            a, b = (self.comparable(j, side[j]) if j in side else "waits" for side in (heap, wide))
            if a != b:
                raise Difference(f"session {j}, {self.waiting[j].sql}\nheap: {heap.get(j, 'waits')}\nwidecol: {wide.get(j, 'waits')}",
                                 self.have_raced(j))

    def have_raced(self, j):
        """Did another wait for the same rows?  On a heap table any of them may get the row next."""
        return any(m != j and self.waiting[m].keys & self.waiting[j].keys for m in self.waiting)

    def comparable(self, j, answer):
        rows = answer.rows if self.waiting[j].ordered else sorted(answer.rows)
        return rows, answer.error

    def compare_contents(self):
        heap, wide = (group.watcher.must(self.tables.contents()) for group in self.sides.values())
        if heap != wide:
            raise Difference(f"in the end\nheap: {heap}\nwidecol: {wide}")


def play_random(rng, tables, n, nsteps):
    """None, or (Play, Difference)."""
    play = Play(n, tables)
    author = Author(rng, tables, n)
    try:
        for number in range(10 * nsteps):
            chosen = author.next(number >= nsteps)
            if chosen is None:
                break
            tell(author, play, *chosen)
        play.compare_contents()
        return None
    except Difference as difference:
        return play, difference
    finally:
        play.close()


def tell(author, play, i, step):
    """Plays a step, of which the author hears."""
    steps = {**play.waiting, i: step}
    answers = play.step(i, step)
    author.happened(i, step, answers.get(i))
    for j, answer in answers.items():
        if j != i:
            author.answered(j, steps[j], answer)


def play_again(tables, n, log):
    """Steps are left out that nobody can take now, or may."""
    play = Play(n, tables)
    author = Author(None, tables, n)
    try:
        for i, step in log:
            if i not in play.waiting and author.may_play(i, step):
                tell(author, play, i, step)
        return None
    except Difference as difference:
        return None if difference.doubtful else (play, difference)
    finally:
        play.close()


class Stepped:
    """One seed."""

    def __init__(self, seed, number):
        self.rng = random.Random(f"steps {seed} {number}")
        self.tables = Tables(self.rng)
        self.n = self.rng.choice([2, 3, 3, 4])
        self.nsteps = self.rng.choice([15, 25, 40])
        self.doubtful = False

    def run(self, root):
        """A list of lines with the errors found; [] if there are none."""
        self.load(root)
        found = play_random(self.rng, self.tables, self.n, self.nsteps)
        self.doubtful = found is not None and found[1].doubtful
        if found is None or self.doubtful:
            return []
        play, difference = self.shrink(root, *found)
        return [s + ";" for s in self.tables.ddl()] + play.words + str(difference).split("\n")

    def load(self, root):
        for sql in self.tables.drop() + self.tables.ddl():
            root.must(sql)

    def again(self, root, log):
        self.load(root)
        return play_again(self.tables, self.n, log)

    def shrink(self, root, play, difference, tries=60):
        """The same with fewer steps, if it can be had."""
        best = (play, difference)
        size = len(play.log) // 2
        while size >= 1:
            at = 0
            while at < len(best[0].log) and tries > 0:
                tries -= 1
                log = best[0].log
                found = self.again(root, log[:at] + log[at + size:])
                if found is None:
                    at += size
                else:
                    best = found
            size //= 2
        return best
