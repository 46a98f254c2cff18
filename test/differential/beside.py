"""Histories of sessions that really run beside each other, over one kind of table.

Random transactions append to lists and read them (cycles.py says what must hold), count,
move money between accounts whose sum must not change, take jobs of which each may be
taken once, and raise flags by statements that the engine runs by itself.  The seed decides
what each session does, the machine in which order.
"""

import random
import threading
import time

from cycles import Checker, Transaction
from sessions import ServerGone, Session, close

LISTS = 6
ACCOUNTS = 10
MONEY = 100                     # in each account
LIMIT = 12                      # of the sum of two columns: CHECK
FRESH = 1000                    # keys from here on are used once

LEVELS = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]

# What a transaction may end with: not serializable, deadlock, not available, not unique, CHECK.
EXPECTED = {"40001", "40P01", "55P03", "23505", "23514"}

# Of PREPARE TRANSACTION: the server has a limit.
TOO_MANY_PREPARED = "53200"


class Failed(Exception):
    """A statement ended with one of the expected errors, or the transaction cannot be finished."""


class Tables:
    def __init__(self, rng):
        self.heap = rng.random() < 0.2
        self.cells = not self.heap and rng.random() < 0.15
        self.packing = rng.choice(["auto", "row", "cell"])
        self.salted = rng.random() < 0.2
        self.schema = "h" if self.heap else "w"

    def create(self, name, columns, check=""):
        if self.heap:
            return f"CREATE TABLE h.{name} (k int PRIMARY KEY, {columns}{check})"
        options = f"\"table\" 'beside_{name}', on_duplicate 'error'"
        if self.packing != "auto":
            options += f", families '{{\"cf\": {{\"packing\": \"{self.packing}\"}}}}'"
        if self.salted:
            options += ", salt_buckets '3'"
        return f"CREATE FOREIGN TABLE w.{name} (k int OPTIONS (rowkey '1'), {columns}{check}) SERVER widecol OPTIONS ({options})"

    def ddl(self):
        if self.cells:
            lists = [f"CREATE FOREIGN TABLE w.lists (\"row\" text COLLATE \"C\", family text, qualifier text, ts bigint, value text) SERVER widecol "
                     f"OPTIONS (\"table\" 'beside_lists', layout 'cell', families '{{\"f\": {{\"packing\": \"{self.packing}\"}}}}')",
                     f"INSERT INTO w.lists SELECT i::text, 'f', 'q', 1, '' FROM generate_series(0, {LISTS - 1}) i"]
        else:
            lists = [self.create("lists", "l text NOT NULL, n int NOT NULL, flag int NOT NULL, a int NOT NULL, b int NOT NULL",
                                 f", CHECK (a + b <= {LIMIT})"),
                     f"INSERT INTO {self.schema}.lists SELECT i, '', 0, 0, {LIMIT // 2}, {LIMIT // 2} - 1 FROM generate_series(0, {LISTS - 1}) i"]
        return lists + [self.create("accounts", "v int NOT NULL", ", CHECK (v >= 0)"),
                        f"INSERT INTO {self.schema}.accounts SELECT i, {MONEY} FROM generate_series(1, {ACCOUNTS}) i",
                        self.create("jobs", "token int NOT NULL")]

    @staticmethod
    def drop():
        return ["DROP TABLE IF EXISTS h.lists, h.accounts, h.jobs", "DROP FOREIGN TABLE IF EXISTS w.lists, w.accounts, w.jobs",
                "SELECT widecol.drop_table(name) FROM widecol.tables WHERE name LIKE 'beside_%'"]

    def where(self, first, last):
        """Of lists."""
        if self.cells:
            return f"\"row\" = '{first}'" if first == last else f"\"row\" BETWEEN '{first}' AND '{last}'"
        return f"k = {first}" if first == last else f"k BETWEEN {first} AND {last}"

    @property
    def columns(self):
        return ("\"row\"", "value") if self.cells else ("k", "l")


def numbers(text):
    return [int(n) for n in text.split(",") if n]


class Worker(threading.Thread):
    """One session: its transactions, one after the other."""

    def __init__(self, seed, number, tables, ntransactions):
        super().__init__(name=f"beside{number}")
        self.rng = random.Random(f"{seed} session {number}")
        self.tables = tables
        self.level = self.rng.choice([*LEVELS, None])
        patience = self.rng.choice(["0", "0", "30ms"])
        self.session = Session(self.name, (f"search_path = {tables.schema}, public", f"lock_timeout = '{patience}'"))
        self.next_number = 1 + number
        self.ntransactions = ntransactions
        self.transactions = []
        self.effects = []       # (what, amount or token) of committed transactions
        self.wrong = []
        self.gone = None        # what ended it

    # -- transactions

    def run(self):
        try:
            for _ in range(self.ntransactions):
                self.transaction()
        except ServerGone as gone:
            self.gone = str(gone)

    def fresh(self):
        """A number that is used nowhere else."""
        self.next_number += 100
        return self.next_number

    def transaction(self):
        rng = self.rng
        level = self.level or rng.choice(LEVELS)
        self.t = Transaction(f"{self.name}.{len(self.transactions)}", level)
        self.transactions.append(self.t)
        self.mine = []
        self.placed = False     # it has given a row a new key
        self.t.began = time.monotonic()
        self.session.must(f"BEGIN ISOLATION LEVEL {level}")
        try:
            for _ in range(rng.randint(1, 4)):
                self.step()
            end = "COMMIT" if rng.random() < 0.9 else "ROLLBACK"
        except Failed:
            end = "ROLLBACK"
        two_phases = end == "COMMIT" and rng.random() < 0.2
        answer = self.session.run(f"PREPARE TRANSACTION '{self.t}'" if two_phases else end)
        if two_phases and not answer.error:
            answer = self.session.run(f"COMMIT PREPARED '{self.t}'")
        if answer.error and answer.error not in EXPECTED and not (two_phases and answer.error == TOO_MANY_PREPARED):
            self.wrong.append(f"{self.t}: {end} failed: {answer}")
        self.t.ended = time.monotonic()
        if end == "COMMIT" and not answer.error:
            self.t.committed = True
            self.effects += self.mine
        else:
            self.undo(0, 0)

    def undo(self, nappends, neffects):
        self.t.undone |= {number for _, number in self.t.appends[nappends:]}
        del self.t.appends[nappends:]
        del self.mine[neffects:]

    def step(self):
        rng = self.rng
        action = rng.choice(self.actions())
        if rng.random() < 0.75:
            action()
            return
        before = len(self.t.appends), len(self.mine)
        self.session.must("SAVEPOINT s")
        try:
            action()
            back = rng.random() < 0.4
        except Failed:
            if rng.random() < 0.4:
                raise
            back = True
        if back:
            self.session.must("ROLLBACK TO s")
            self.undo(*before)
        self.session.must("RELEASE s")

    def do(self, sql):
        answer = self.session.run(sql)
        if answer.error:
            if answer.error not in EXPECTED:
                self.wrong.append(f"{self.t}: {answer} for: {sql}")
            raise Failed
        return answer

    def actions(self):
        money = [self.transfer, self.transfer_at_once, self.move, self.merge, self.split, self.audit, self.audit]
        jobs = [self.offer, self.offer, self.take, self.take_any, self.clear, self.rename]
        lists = [self.read, self.read, self.append, self.append, self.append, self.rewrite]
        if not self.tables.cells:
            lists += [self.flag, self.flag, self.shift]
        return lists * 2 + money + jobs

    # -- lists

    def some_lists(self):
        first = self.rng.randrange(LISTS)
        return first, first if self.rng.random() < 0.6 else self.rng.randrange(first, LISTS)

    def note_reads(self, answer, when):
        """Rows of a list's key and its text."""
        for row in answer.rows:
            if "\x1f" in row:
                key, text = row.split("\x1f")[:2]
                self.t.reads.append((int(key), numbers(text), when))

    def read(self):
        rng = self.rng
        key, text = self.tables.columns
        lock = rng.choice(["", "", " FOR " + rng.choice(["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"]) + rng.choice(["", " NOWAIT", " SKIP LOCKED"])])
        when = time.monotonic()
        answer = self.do(f"SELECT {key}, {text} FROM lists WHERE {self.tables.where(*self.some_lists())}{lock}")
        self.note_reads(answer, when)

    def append(self):
        key, text = self.tables.columns
        number = self.fresh()
        if self.tables.cells:
            more, condition = "", self.rng.choice(["", " AND length(value) % 2 = 0"])
        else:
            more, condition = ", n = n + 1", self.rng.choice(["", "", " AND n % 2 = 0", " AND a > 2"])
        when = time.monotonic()
        answer = self.do(f"UPDATE lists SET {text} = {text} || ',{number}'{more} WHERE {self.tables.where(*self.some_lists())}{condition} "
                         f"RETURNING {key}, {text}")
        self.note_appends(answer, number, when)

    def note_appends(self, answer, number, when):
        self.t.appends += [(int(row.split("\x1f")[0]), number) for row in answer.rows if "\x1f" in row]
        self.note_reads(answer, when)

    def rewrite(self):
        """Reads values, and writes values computed from them."""
        key, text = self.tables.columns
        where = self.tables.where(*[self.rng.randrange(LISTS)] * 2)
        lock = "" if self.t.repeatable else self.rng.choice([" FOR UPDATE", " FOR NO KEY UPDATE"])
        when = time.monotonic()
        answer = self.do(f"SELECT {key}, {text} FROM lists WHERE {where}{lock}")
        self.note_reads(answer, when)
        number = self.fresh()
        old = answer.rows[0].split("\x1f")[1]
        more = "" if self.tables.cells else f", n = {len(numbers(old)) + 1}"
        when = time.monotonic()
        answer = self.do(f"UPDATE lists SET {text} = '{old},{number}'{more} WHERE {where} RETURNING {key}, {text}")
        self.note_appends(answer, number, when)

    def flag(self):
        """Statements that the engine runs by itself: they say how many rows they have changed."""
        now = self.rng.randint(0, 1)
        n = self.do(f"UPDATE lists SET flag = {1 - now} WHERE {self.tables.where(*self.some_lists())} AND flag = {now}").count
        self.mine.append(("flag", n if now == 0 else -n))

    def shift(self):
        """May break the CHECK: one column of the two."""
        column, by = self.rng.choice([("a", 1), ("b", 1), ("a", -1), ("b", -1)])
        self.do(f"UPDATE lists SET {column} = {column} + {by} WHERE {self.tables.where(*self.some_lists())}")

    # -- accounts

    def account(self):
        return self.rng.choice([self.rng.randint(1, ACCOUNTS), self.rng.randint(1, ACCOUNTS), self.rng.randint(FRESH, FRESH + 20)])

    def require(self, answer, n=1):
        if answer.count != n:
            raise Failed

    def transfer(self):
        amount = self.rng.randint(1, 30)
        if self.do(f"UPDATE accounts SET v = v - {amount} WHERE k = {self.account()} AND v >= {amount}").count == 1:
            self.require(self.do(f"UPDATE accounts SET v = v + {amount} WHERE k = {self.account()}"))

    def transfer_at_once(self):
        one, other = self.rng.sample(range(1, ACCOUNTS + 1), 2)
        amount = self.rng.randint(1, 30)
        self.require(self.do(f"UPDATE accounts SET v = v + CASE k WHEN {one} THEN {amount} ELSE -{amount} END WHERE k IN ({one}, {other})"), 2)

    def move(self):
        self.placed = True
        self.do(f"UPDATE accounts SET k = {self.account()} WHERE k = {self.account()}")

    def merge(self):
        answer = self.do(f"DELETE FROM accounts WHERE k = {self.account()} RETURNING v")
        if answer.count == 1:
            self.require(self.do(f"UPDATE accounts SET v = v + {answer.rows[0]} WHERE k = {self.account()}"))

    def split(self):
        amount = self.rng.randint(1, 30)
        if self.do(f"UPDATE accounts SET v = v - {amount} WHERE k = {self.account()} AND v >= {amount}").count == 1:
            self.placed = True
            conflict = self.rng.choice(["", " ON CONFLICT DO NOTHING"])
            self.require(self.do(f"INSERT INTO accounts VALUES ({self.account()}, {amount}){conflict}"))

    def audit(self):
        # a key that is free again may be taken, although the snapshot shows the row that had it: the new row hides this one
        if self.placed and self.t.repeatable:
            return
        money, least = self.do("SELECT sum(v), min(v) FROM accounts").rows[0].split("\x1f")
        if int(money) != ACCOUNTS * MONEY or int(least) < 0:
            self.wrong.append(f"{self.t} found {money} in all accounts, {least} at least, instead of {ACCOUNTS * MONEY}")

    # -- jobs

    def job(self):
        return self.rng.randint(1, 12)

    def offer(self):
        token = self.fresh()
        conflict = self.rng.choice(["", " ON CONFLICT DO NOTHING"])
        if self.do(f"INSERT INTO jobs VALUES ({self.job()}, {token}){conflict}").count == 1:
            self.mine.append(("offer", token))

    def note_taken(self, answer):
        self.mine += [("take", int(row)) for row in answer.rows if " " not in row]

    def take(self):
        self.note_taken(self.do(f"DELETE FROM jobs WHERE k = {self.job()} RETURNING token"))

    def take_any(self):
        self.note_taken(self.do("DELETE FROM jobs WHERE k = (SELECT k FROM jobs ORDER BY k LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING token"))

    def clear(self):
        """In the engine."""
        first = self.job()
        self.mine.append(("clear", self.do(f"DELETE FROM jobs WHERE k BETWEEN {first} AND {first + 3}").count))

    def rename(self):
        self.do(f"UPDATE jobs SET k = {self.job()} WHERE k = {self.job()}")


class Beside:
    """One seed."""

    def __init__(self, seed, number):
        self.seed = f"beside {seed} {number}"
        rng = random.Random(self.seed)
        self.tables = Tables(rng)
        self.nsessions = rng.randint(3, 6)
        self.ntransactions = rng.choice([20, 30])
        self.committed = 0
        self.failed = 0

    def run(self, root):
        """A list of lines with the errors found; [] if there are none."""
        for sql in self.tables.drop() + self.tables.ddl():
            root.must(sql)
        workers = [Worker(self.seed, i, self.tables, self.ntransactions) for i in range(self.nsessions)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        close([worker.session for worker in workers])
        for worker in workers:
            if worker.gone:
                raise ServerGone(worker.gone)
        self.committed = sum(t.committed for w in workers for t in w.transactions)
        self.failed = sum(not t.committed for w in workers for t in w.transactions)
        return [line for w in workers for line in w.wrong] + self.check(root, workers)

    def check(self, root, workers):
        schema = self.tables.schema
        key, text = self.tables.columns
        last = {int(k): numbers(l) for k, l in (row.split("\x1f") for row in root.must(f"SELECT {key}, {text} FROM {schema}.lists").rows if "\x1f" in row)}
        wrong = Checker([t for w in workers for t in w.transactions], last).check()
        effects = [effect for w in workers for effect in w.effects]
        if not self.tables.cells:
            wrong += self.check_columns(root, last, sum(n for what, n in effects if what == "flag"))
        money = int(root.must(f"SELECT sum(v) FROM {schema}.accounts").rows[0])
        if money != ACCOUNTS * MONEY:
            wrong.append(f"in the end there are {money} in all accounts instead of {ACCOUNTS * MONEY}")
        return wrong + self.check_jobs(root, effects)

    def check_columns(self, root, last, flags):
        wrong = []
        raised = 0
        for row in root.must(f"SELECT k, n, flag, a + b FROM {self.tables.schema}.lists").rows:
            if "\x1f" not in row:
                continue
            k, n, flag, together = map(int, row.split("\x1f"))
            raised += flag
            if n != len(last[k]):
                wrong.append(f"lost update: list {k} has {len(last[k])} numbers and was counted {n} times")
            if together > LIMIT:
                wrong.append(f"CHECK broken: {together} > {LIMIT} in list {k}")
        if raised != flags:
            wrong.append(f"{raised} flags are up in the end, {flags} were raised and not lowered")
        return wrong

    def check_jobs(self, root, effects):
        left = [int(row) for row in root.must(f"SELECT token FROM {self.tables.schema}.jobs").rows if " " not in row]
        offered = [n for what, n in effects if what == "offer"]
        taken = [n for what, n in effects if what == "take"]
        cleared = sum(n for what, n in effects if what == "clear")
        wrong = []
        if len(set(taken)) != len(taken) or set(taken) & set(left):
            wrong.append(f"a job was taken twice, or taken and left: {sorted(taken)}, {sorted(left)} left")
        if not set(taken + left) <= set(offered):
            wrong.append(f"jobs that nobody has offered: {sorted(set(taken + left) - set(offered))}")
        if len(offered) != len(taken) + cleared + len(left):
            wrong.append(f"{len(offered)} jobs were offered, {len(taken)} taken, {cleared} cleared, {len(left)} are left")
        return wrong
