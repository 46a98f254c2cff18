#!/usr/bin/env python3
"""test/hbase/idl.py IDL.H JARS: is src/thrift/idl.h what this HBase's interface says?

The interface (hbase.thrift) is in a jar of HBase.  WC_<struct or method>_<name> = N must be a field,
an argument or a member of an enumeration there.  Prints TAP.
"""
import glob
import re
import sys
import zipfile

# Structures that are not in HBase's interface: Thrift's own, and results' fields.
OWN = re.compile(r'WC_(RESULT|TApplicationException)_')


def interface(jars):
    for jar in glob.glob(jars + '/hbase-thrift-*.jar'):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith('thrift2/hbase.thrift'):
                    return archive.read(name).decode()
    sys.exit('Bail out! no hbase.thrift in ' + jars)


def numbers(text):
    """{'TScan_startRow': 1, ...}"""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    text = re.sub(r'(//|#).*', '', text)
    found = {}
    for name, body in re.findall(r'\b(?:struct|union|exception)\s+(\w+)\s*\{(.*?)\}', text, re.S):
        for number, field in re.findall(r'(\d+)\s*:\s*(?:required\s+|optional\s+)?[\w<>, ]+?\s+(\w+)\s*(?:=[^,;\n]*)?[,;\n}]', body + '\n'):
            found[name + '_' + field] = int(number)
    for name, body in re.findall(r'\benum\s+(\w+)\s*\{(.*?)\}', text, re.S):
        for member, number in re.findall(r'(\w+)\s*=\s*(\d+)', body):
            found[name + '_' + member] = int(number)
    for name, body in re.findall(r'\b(\w+)\s*\(([^()]*)\)\s*throws', text):
        for number, field in re.findall(r'(\d+)\s*:\s*(?:required\s+|optional\s+)?[\w<>]+\s+(\w+)', body):
            found[name + '_' + field] = int(number)
    return found


def main():
    there = numbers(interface(sys.argv[2]))
    ours = [(name, int(number)) for name, number in re.findall(r'^\s*(WC_\w+) = (\d+)', open(sys.argv[1]).read(), re.M)
            if not OWN.match(name)]
    wrong = ['%s is %d, and there %s' % (name, number, there.get(name[3:], 'is none'))
             for name, number in ours if there.get(name[3:]) != number]
    print('%sok 1 - %d numbers of idl.h are HBase\'s' % ('not ' if wrong else '', len(ours)))
    for line in wrong:
        print('#   ' + line)
    print('1..1')
    sys.exit(1 if wrong else 0)


main()
