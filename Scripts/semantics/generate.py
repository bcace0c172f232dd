#!/usr/bin/env python3
"""Writes docs/SEMANTICS.md: each statement, the code that names it and the tests that prove it.

    Scripts/semantics/generate.py [--check]

The statements come from statements.txt beside this file. The code and the tests come from labels: comments in Sources and
Tests with `SEMANTICS` and one or more numbers, such as `SEMANTICS 31, 32` or `SEMANTICS 27–30, K4`. A label in Tests counts
directly above a test or inside it: one at the top of a file, or of a suite, says what the file is about and proves nothing.
Labels in Tests/TidyTests are texts that the test of this script reads, and don't count. With --check nothing is written, and
the exit status is 1 when the file is not what would be written, or when a label names no statement.

faults.txt, if it is beside this file, lists planted faults that a test found, one a line; the first word of a line is the
number of a statement.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = "docs/SEMANTICS.md"
# Numbers separated by commas or dashes, also across a line break in a comment.
GAP = r"(?:\s|///?)*"
LABEL = re.compile(r"SEMANTICS%s(K?\d+(?:%s[,–-]%sK?\d+)*)" % (GAP, GAP, GAP))
TEST = re.compile(r"(\s*)(?:@\w+(?:\([^`]*\))?\s+)*(?:\w+\s+)*func `([^`]+)`")
INTRODUCTION = """# What Settle promises, and where it is proven

This file is made by `Scripts/semantics/generate.py` from the statements in `Scripts/semantics/statements.txt` and from the
labels in the code; a test compares them. Comments that say `SEMANTICS 31` mean the statement of that number here.

The statements are what the products that Settle learned from do: CouchDB, Couchbase Lite, Cloudant Sync, and the local
journals of Airmail and Appery. Those that begin with K say how Settle decides where the products disagree. A dash in the
column *code* or *tests* means that no code or no test names the statement; {uncoded} of {count} have no code and {untested}
no test that names them. A ✓ after a number means that a fault was planted in the code of the statement and a test failed,
which was done for {faulty}.
"""


def statements():
    """The headings and statements, in order: (heading, None) or (number, statement)."""
    with open(os.path.join(ROOT, "Scripts/semantics/statements.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("## "):
                yield line[3:], None
            elif line and not line.startswith("#"):
                number, text = line.split(" ", 1)
                yield number, text


def numbers(label):
    """The numbers of a label such as `27–30, K4`."""
    parts = re.findall(r"K?\d+|[–-]", label)
    for index, part in enumerate(parts):
        if part in "–-":
            yield from (str(number) for number in range(int(parts[index - 1]) + 1, int(parts[index + 1])))
        else:
            yield part


def swift_files(folder):
    for path, folders, names in os.walk(os.path.join(ROOT, folder)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".swift"):
                yield os.path.relpath(os.path.join(path, name), ROOT)


def faults():
    """The numbers of the statements that are tested by a planted fault."""
    path = os.path.join(ROOT, "Scripts/semantics/faults.txt")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        return {word for word in (line.split(None, 1)[0] for line in file if line.strip()) if re.fullmatch(r"K?\d+", word)}


def test_name(lines, row):
    """The sentence of the test that a row is directly above of, or inside of; nothing if there is none."""
    indent = len(lines[row]) - len(lines[row].lstrip())
    for line in lines[row:]:
        if found := TEST.match(line):
            return found[2]
        if not line.strip() or re.match(r"\s*(?:[})]|.*\b(?:struct|class|enum|extension|actor)\s)", line):
            break
    for line in reversed(lines[:row]):
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth < indent:
            if found := TEST.match(line):
                return found[2]
            indent = depth
    return None


def labels(folder):
    """For each number the places that name it: (path, sentence of a test or nothing)."""
    places = {}
    for path in swift_files(folder):
        if path.startswith("Tests/TidyTests/"):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        lines = text.splitlines()
        for found in LABEL.finditer(text):
            sentence = test_name(lines, text.count("\n", 0, found.start())) if folder == "Tests" else None
            if folder == "Tests" and not sentence:
                continue
            for number in numbers(found[1]):
                place = (path, sentence)
                if place not in places.setdefault(number, []):
                    places[number].append(place)
    return places


def link(path):
    return "[%s](../%s)" % (os.path.basename(path)[:-len(".swift")], path)


def cell(places):
    grouped = {}
    for path, sentence in places:
        grouped.setdefault(path, [])
        if sentence:
            grouped[path].append(sentence.replace("|", "\\|"))
    return "<br>".join(link(path) + (": " + "; ".join(found) if found else "") for path, found in grouped.items()) or "–"


def document():
    """The text of the file, and the numbers of labels that name no statement."""
    code, tests, tried = labels("Sources"), labels("Tests"), faults()
    rows, known = [], []
    for number, statement in statements():
        if statement is None:
            rows += ["", "## " + number, "", "| | statement | code | tests |", "|---|---|---|---|"]
        else:
            known.append(number)
            places = cell(code.get(number, [])), cell(tests.get(number, []))
            mark = " ✓" if number in tried else ""
            rows.append("| %s%s | %s | %s | %s |" % ((number, mark, statement) + places))
    head = INTRODUCTION.format(
        count=len(known), uncoded=sum(number not in code for number in known),
        untested=sum(number not in tests for number in known), faulty=len(tried & set(known)))
    stray = sorted((set(code) | set(tests) | tried) - set(known))
    return head + "\n".join(rows) + "\n", stray


def main():
    text, stray = document()
    for number in stray:
        print("a label says SEMANTICS %s, but statements.txt has no such statement" % number)
    path = os.path.join(ROOT, TARGET)
    if sys.argv[1:] == ["--check"]:
        with open(path, encoding="utf-8") as file:
            is_same = file.read() == text
        if not is_same:
            print("%s is not up to date: run Scripts/semantics/generate.py" % TARGET)
        sys.exit(1 if stray or not is_same else 0)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(1 if stray else 0)


main()
