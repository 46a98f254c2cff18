#!/usr/bin/env python3
"""Random histories of several sessions over foreign tables, and over heap tables beside them."""
import argparse
import random
import sys

from sessions import ServerGone, Session
from steps import Stepped

SETUP = ["CREATE EXTENSION IF NOT EXISTS widecol", "CREATE SCHEMA IF NOT EXISTS h", "CREATE SCHEMA IF NOT EXISTS w"]

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--history", type=int)
    args = parser.parse_args()
    seed = random.randrange(1 << 30) if args.seed == "random" else int(args.seed)
    sys.stdout.reconfigure(line_buffering=True)
    print(f"# seed {seed}", flush=True)
    root = Session("root")
    for sql in SETUP:
        root.must(sql)
    failed = 0
    numbers = [args.history] if args.history is not None else range(1, args.count + 1)
    for number in numbers:
        st = Stepped(seed, number); wrong = st.run(root); print("# doubtful", st.doubtful)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number}")
        for line in wrong:
            print("#   " + line)
    print(f"1..{len(numbers)}")
    return 1 if failed else 0

if __name__ == "__main__":
    sys.exit(main())
