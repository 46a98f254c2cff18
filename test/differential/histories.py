#!/usr/bin/env python3
"""Random histories of sessions over foreign tables: do they go, and are they isolated, as over heap tables?

Four kinds take turns.  Of the first (steps.py) one session takes a step at a time, the same
over foreign tables and over a heap copy: answers, errors and waits must be the same.  A
seed plays the same again, and a difference is cut down and printed.  Of the second (beside.py)
the sessions really run beside each other, and their reads and writes must be those that the
isolation levels allow (cycles.py); some run over heap tables, which must pass as well.
Of the last two one session runs a program (programs.py) over foreign tables and a heap copy: over tables with triggers,
CHECKs, generated columns and views (guards.py), and over maps, member by member (members.py).

Prints TAP.

usage: histories.py [--seed N | --seed random] [--count HISTORIES] [--history N] [--kind steps | beside | guarded | members ...]
The server is named by PGHOST, PGPORT, PGUSER; the database by PGDATABASE.
"""

import argparse
import os
import random
import sys

import cycles_test
from beside import Beside
from programs import Guarded, Members
from sessions import ServerGone, Session, close
from steps import Stepped

# Without what a run that was ended before (of run.py, too) has left there: a partition t0 would be in the way
SETUP = ["CREATE EXTENSION IF NOT EXISTS widecol", "DROP SCHEMA IF EXISTS h, w CASCADE", "CREATE SCHEMA h", "CREATE SCHEMA w"]
KINDS = {"steps": Stepped, "beside": Beside, "guarded": Guarded, "members": Members}


class Tap:
    def __init__(self):
        self.number = 0
        self.failed = 0

    def test(self, words, wrong):
        self.number += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.number} - {words}")
        for line in wrong:
            print("#   " + line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=20, help="histories, of each kind")
    parser.add_argument("--history", type=int, help="only this one")
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=list(KINDS), help="only of these kinds")
    args = parser.parse_args()
    seed = random.randrange(1 << 30) if args.seed == "random" else int(args.seed)
    os.environ["PGCLIENTENCODING"] = "UTF8"

    sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)
    print(f"# seed {seed}")
    tap = Tap()
    tap.test("the checker finds the errors that it looks for", cycles_test.test())
    totals = {"doubtful": 0, "committed": 0, "failed": 0}
    root = Session("root")
    for sql in SETUP:
        root.must(sql)
    for number in [args.history] if args.history is not None else range(1, args.count + 1):
        for kind in args.kind:
            history = KINDS[kind](seed, number)
            words = f"{kind} {number} (histories.py --seed {seed} --kind {kind} --history {number})"
            try:
                tap.test(words, history.run(root))
            except ServerGone as gone:
                tap.test(words, [str(gone)])
            for name in totals:
                totals[name] += getattr(history, name, 0)
    close([root])
    print(f"# {totals['committed']} transactions committed beside each other, {totals['failed']} failed; "
          f"{totals['doubtful']} histories in steps ended early, as heap tables may go either way")
    print(f"1..{tap.number}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
