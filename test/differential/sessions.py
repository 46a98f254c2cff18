"""Sessions that run beside each other: one psql each, spoken to through pipes."""

import os
import select
import subprocess
import time

MARK = "@@"
HANGS = 120                     # seconds without an answer: something is wrong

# Deadlocks are found soon; a session that has waited for this long has looked for one.
DEADLOCK_MS = 10
SETTLED_MS = 40


class ServerGone(Exception):
    pass


class Answer:
    """Rows and command tags as psql prints them; error: the SQLSTATE, or None."""

    def __init__(self, lines):
        self.error = next((line.split()[-1] for line in lines if line.startswith(("ERROR:", "FATAL:"))), None)
        self.rows = [line for line in lines if not line.startswith(("ERROR:", "FATAL:", "WARNING:", "NOTICE:"))]

    @property
    def count(self):
        """Of the rows that the last command has changed."""
        return int(self.rows[-1].split()[-1])

    def __eq__(self, other):
        return (self.error, self.rows) == (other.error, other.rows)

    def __str__(self):
        shown = [row.replace("\x1f", "|") for row in self.rows]
        return " ".join(([f"ERROR {self.error}"] if self.error else []) + shown)


class Session:
    def __init__(self, name, settings=()):
        self.name = name
        self.buffer = b""
        self.sent = 0
        self.busy = False
        self.psql = subprocess.Popen(["psql", "-X", "-A", "-t", "-F", "\x1f", "-P", "null=<null>", "-v", "VERBOSITY=sqlstate"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     env={**os.environ, "PGAPPNAME": name})
        for setting in ("client_min_messages = error", f"deadlock_timeout = '{DEADLOCK_MS}ms'") + tuple(settings):
            self.must(f"SET {setting}")
        self.pid = int(self.must("SELECT pg_backend_pid()").rows[0])

    def start(self, sql):
        """Sends statements, which stand on one line, and waits for nothing."""
        assert not self.busy and "\n" not in sql
        self.sent += 1
        self.busy = True
        self.psql.stdin.write(f"{sql};\n\\echo {MARK}{self.sent}\n".encode())
        self.psql.stdin.flush()

    def poll(self, seconds):
        """The answer of the started statement, if it ends within these seconds, else None."""
        end = f"{MARK}{self.sent}\n".encode()
        until = time.monotonic() + seconds
        while not self.buffer.endswith(end):
            ready = select.select([self.psql.stdout], [], [], max(0, until - time.monotonic()))[0]
            if not ready:
                return None
            read = os.read(self.psql.stdout.fileno(), 1 << 16)
            if not read:
                raise ServerGone(f"session {self.name} has ended: {self.buffer[-300:]!r}")
            self.buffer += read
        lines = self.buffer[:-len(end)].decode("utf-8", "replace").split("\n")
        self.buffer = b""
        self.busy = False
        return Answer([line for line in lines if line])

    def run(self, sql):
        self.start(sql)
        return self.run_started(sql)

    def run_started(self, sql):
        answer = self.poll(HANGS)
        if answer is None:
            raise ServerGone(f"session {self.name}: no answer to: {sql}")
        return answer

    def must(self, sql):
        answer = self.run(sql)
        if answer.error:
            raise ServerGone(f"session {self.name}: {answer} for: {sql}")
        return answer


def close(sessions):
    """Ends them all: those that wait for others as well."""
    for session in sessions:
        session.psql.stdin.close()
        session.psql.stdin = None
    for session in sessions:
        try:
            session.psql.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            session.psql.kill()
            session.psql.communicate()


class Group:
    """Sessions of which one starts something at a time; and one that looks at the others."""

    WAITS = ("SELECT l.pid, extract(epoch FROM clock_timestamp() - l.waitstart) * 1000, pg_blocking_pids(l.pid) "
             "FROM pg_locks l WHERE NOT l.granted AND l.pid = ANY ('{%s}')")

    def __init__(self, name, n, settings):
        self.sessions = [Session(f"{name}{i}", settings) for i in range(n)]
        self.watcher = Session(f"{name}_watcher", settings)

    def close(self):
        close(self.sessions + [self.watcher])

    def settle(self):
        """Waits until every session has answered or waits for another: {number: answer}."""
        answers = {}
        since = time.monotonic()
        while True:
            busy = {i: s for i, s in enumerate(self.sessions) if s.busy}
            ended = self.collect(busy, 0.003)
            answers.update(ended)
            if not ended and self.all_wait(busy.values()):
                ended = self.collect(busy, 0)
                answers.update(ended)
                if not ended:
                    return answers
            if time.monotonic() - since > HANGS:
                raise ServerGone("neither answers nor waits: " + ", ".join(s.name for s in busy.values()))

    def collect(self, busy, seconds):
        """The answers so far, perhaps after waiting for the first of them."""
        select.select([s.psql.stdout for s in busy.values()], [], [], seconds if busy else 0)
        return {i: answer for i, answer in ((i, s.poll(0)) for i, s in busy.items()) if answer is not None}

    def all_wait(self, busy):
        """Is each of them waiting for another, which will not end that by itself?"""
        if not busy:
            return True
        waits = {}
        for row in self.watcher.must(self.WAITS % ",".join(str(s.pid) for s in busy)).rows:
            pid, ms, holders = row.split("\x1f")
            waits[int(pid)] = float(ms) if ms != "<null>" else 0.0, {int(p) for p in holders.strip("{}").split(",") if p}
        return all(s.pid in waits and waits[s.pid][0] >= SETTLED_MS for s in busy) and not in_circle(waits)


def in_circle(waits):
    """Do some wait for each other?  Then one of them is about to fail."""
    for start in waits:
        seen, ahead = set(), [start]
        while ahead:
            for holder in waits.get(ahead.pop(), (0, ()))[1]:
                if holder == start:
                    return True
                if holder not in seen:
                    seen.add(holder)
                    ahead.append(holder)
    return False
