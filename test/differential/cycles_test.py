"""Does the checker see each phenomenon, and none where there is none?"""

from cycles import Checker, Transaction

# A history: the lists in the end, and transactions: name, kind, operations.
#   C committed, A aborted, R committed under REPEATABLE READ, Z under SERIALIZABLE; a+1 appends 1 to a, a=12 reads [1, 2],
#   a~1 appends and rolls back to a savepoint.  They all overlap, unless the name has a time behind it.
HISTORIES = [
    ("", "a12 b", "S C a+1; T C a+2; U R a=12 b="),
    ("", "a12 b3", "S R a= a+1; T R a=1 a+2 a=12; U R b= a=1; V C b+3"),
    ("", "a1", "S C a+1 a~2; T A a+3 a=13"),
    ("", "a1 b2", "S R a= b+2; T R b= a+1"),                              # write skew
    ("", "a12 b34", "S C a=12 b=; T C a+1 b+3; U C a+2 b+4"),             # what READ COMMITTED allows
    ("aborted read", "a", "S A a+1; T C a=1"),
    ("aborted read", "a1", "S C a~1"),
    ("aborted read", "a", "S C a~1; T C a=1"),
    ("aborted read", "a1", "S A a+1"),
    ("intermediate read", "a12", "S C a+1 a+2; T C a=1"),
    ("lost append", "a2", "S C a+1; T C a+2"),
    ("lost append", "a11", "S C a+1"),
    ("other order", "a12", "S C a+1; T C a+2; U C a=21"),
    ("stale read", "a1", "S@0-1 C a+1; T@2-3 C a="),
    ("write cycle", "a12 b43", "S C a+1 b+3; T C a+2 b+4"),
    ("circle", "a1 b2", "S C a+1 b=2; T C b+2 a=1"),
    ("circle", "a12", "S@0-1 C a+2; T@2-3 C a+1"),
    ("read skew", "a1 b2", "S C a+1 b+2; T R a=1 b="),
    ("read skew", "a12", "S R a= a+1; T R a= a+2"),                       # a lost update
    ("", "a1 b2", "S Z a= b+2; T R b= a+1"),
    ("write skew", "a1 b2", "S Z a= b+2; T Z b= a+1"),
    ("write skew", "a1 b2 c3", "S Z a= b+2; T Z b= c+3; U Z c= a+1"),
    ("read skew", "a1 b2 c3", "S C a+1 c+3; U C c=3 b+2; T R a= b=2"),
]


def transaction(text):
    name, kind, *ops = text.split()
    name, _, time = name.partition("@")
    t = Transaction(name, {"R": "REPEATABLE READ", "Z": "SERIALIZABLE"}.get(kind, "READ COMMITTED"))
    t.committed = kind != "A"
    t.began, t.ended = map(float, time.split("-")) if time else (0.0, 9.0)
    for list_, op, *digits in ops:
        numbers = [int(d) for d in digits]
        if op == "+":
            t.appends.append((list_, numbers[0]))
        elif op == "~":
            t.undone.add(numbers[0])
        else:
            t.reads.append((list_, numbers, t.began))
    return t


def test():
    """A list of lines with the errors found."""
    wrong = []
    for expected, last, text in HISTORIES:
        transactions = [transaction(part) for part in text.split(";")]
        lists = {l[0]: [int(d) for d in l[1:]] for l in last.split()}
        found = Checker(transactions, lists).check()
        if [line.split(":")[0] for line in found][:1] != ([expected] if expected else []):
            wrong.append(f"{text} (in the end {last}): {found} instead of {expected or 'nothing'}")
    return wrong
