"""What a history of lists says of isolation: Adya's phenomena, as Elle looks for them.

Transactions append numbers that are never used twice to lists, and read lists.  So each
list that is read tells which transactions wrote before, in which order, and after which reads:

    ww   one appended right behind the other        wr   one read what the other appended last
    rw   one read the list, the other appended what came next behind it
    rt   one had been told that it had committed before the other began

    aborted read (G1a)       something that was never committed was read
    intermediate read (G1b)  of one transaction something was read, but not all
    lost append              a committed append is not in the list in the end, or twice
    other order              a read list is no beginning of the last one
    stale read               a number that had been committed before the statement began is missing
    write cycle (G0)         a circle of ww
    circle (G1c)             a circle of ww, wr and rt
    read skew (G-single)     the same with rw edges that begin at transactions under
                             REPEATABLE READ, no two of them next to each other: what a
                             snapshot excludes.  Two next to each other are write skew
    write skew (G2)          a circle of ww, wr and rw between transactions under SERIALIZABLE
"""


class Transaction:
    def __init__(self, name, level="READ COMMITTED"):
        self.name = name
        self.repeatable = level != "READ COMMITTED"
        self.serializable = level == "SERIALIZABLE"
        self.committed = False
        self.began = self.ended = 0.0   # before BEGIN was sent; when the answer to COMMIT was there
        self.appends = []               # (list, number), without those that were rolled back
        self.undone = set()             # numbers that were rolled back
        self.reads = []                 # (list, [numbers], when the statement was sent)

    def __repr__(self):
        return self.name


class Checker:
    def __init__(self, transactions, last):
        """last: {list: [numbers]}, when all had ended."""
        self.transactions = transactions
        self.last = last
        self.wrong = []
        self.writer = {}                # number: Transaction
        self.place = {}                 # (list, number): its place in the list in the end
        self.final = {}                 # (Transaction, list): its last append there
        for t in transactions:
            for list_, number in t.appends:
                self.writer[number] = t
                self.final[t, list_] = number
            for number in t.undone:
                self.writer[number] = t
        for list_, numbers in last.items():
            self.place.update({(list_, number): i for i, number in enumerate(numbers)})
        self.ordered = {t: set() for t in transactions}     # ww
        self.known = {t: set() for t in transactions}       # ww, wr, rt
        self.behind = {t: set() for t in transactions}      # rw

    def check(self):
        """A list of lines with the errors found."""
        self.check_appends()
        for t in self.transactions:
            for list_, numbers, when in t.reads:
                self.check_read(t, list_, numbers, when)
        self.add_writes()
        serial = self.among_serializable()
        self.add_times()
        self.report("write cycle", circle(self.ordered))
        self.report("circle", circle(self.known))
        self.report("read skew", circle(self.with_skips()))
        self.report("write skew", circle(serial))
        return self.wrong

    def report(self, what, found):
        if found:
            self.wrong.append(f"{what}: {' -> '.join(map(str, found))}")

    def check_appends(self):
        for t in self.transactions:
            for list_, number in t.appends:
                n = self.last[list_].count(number)
                if t.committed and n != 1:
                    self.wrong.append(f"lost append: {t} appended {number} to {list_}, where it is {n} times in the end")
        for list_, numbers in self.last.items():
            for number in numbers:
                t = self.writer.get(number)
                if t is None or not t.committed or number in t.undone:
                    self.wrong.append(f"aborted read: {list_} has {number} in the end, of {t}")

    def check_read(self, t, list_, numbers, when):
        others = [n for n in numbers if self.writer.get(n) is not t]
        for number in others:
            writer = self.writer.get(number)
            if writer is None or not writer.committed or number in writer.undone:
                self.wrong.append(f"aborted read: {t} read {number} in {list_}, of {writer}")
                return
        if others != self.last[list_][:len(others)]:
            # own appends stand behind those of others, unless these came meanwhile
            self.wrong.append(f"other order: {t} read {numbers} in {list_}, which is {self.last[list_]} in the end")
            return
        if others:
            writer = self.writer[others[-1]]
            if self.final[writer, list_] != others[-1]:
                self.wrong.append(f"intermediate read: {t} read {others[-1]} in {list_}, but not {self.final[writer, list_]}, of {writer}")
            self.known[writer].add(t)
        self.check_age(t, list_, len(others), t.began if t.repeatable else when)
        # its own appends, or those of others behind them
        for number in self.last[list_][len(others):]:
            if self.writer[number] is not t:
                self.behind[t].add(self.writer[number])
                break

    def check_age(self, t, list_, length, when):
        for number in self.last[list_][length:]:
            writer = self.writer[number]
            if writer is not t and writer.ended < when:
                self.wrong.append(f"stale read: {t} did not see {number} in {list_}, which {writer} had committed before")
                return

    def add_writes(self):
        for list_, numbers in self.last.items():
            for a, b in zip(numbers, numbers[1:]):
                one, other = self.writer.get(a), self.writer.get(b)
                if one in self.ordered and other in self.ordered and one is not other:
                    self.ordered[one].add(other)
                    self.known[one].add(other)

    def add_times(self):
        committed = [t for t in self.transactions if t.committed]
        for one in committed:
            for other in committed:
                if one.ended < other.began:
                    self.known[one].add(other)

    def among_serializable(self):
        """Each edge so far between two of them."""
        them = {t for t in self.transactions if t.committed and t.serializable}
        return {t: (self.known[t] | self.behind[t]) & them for t in them}

    def with_skips(self):
        """An edge for each known one, and for each that is followed by an rw edge."""
        edges = {}
        for t, nexts in self.known.items():
            edges[t] = set(nexts)
            for reader in nexts:
                if reader.repeatable:
                    edges[t] |= self.behind[reader]
        return edges


def circle(edges):
    """A circle in a graph, or None."""
    done = set()
    for start in edges:
        path, on_path = [], set()
        stack = [(start, iter(edges[start]))] if start not in done else []
        while stack:
            node, nexts = stack[-1]
            if node not in on_path:
                path.append(node)
                on_path.add(node)
            step = next((n for n in nexts if n not in done), None)
            if step is None:
                stack.pop()
                path.pop()
                on_path.discard(node)
                done.add(node)
            elif step in on_path:
                return path[path.index(step):] + [step]
            else:
                stack.append((step, iter(edges.get(step, ()))))
    return None
