#!/usr/bin/env python3
"""What `settle verify` looks at in a file, for the tables of PostgreSQL: checks.sql, and what SQL cannot read of the trees.

    checks.py CONNECTION_STRING      with the password in PGPASSWORD or PGPASSFILE

Ends with 1 if something is wrong in the tables, and with 2 if they can't be read.
"""
import argparse
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "checks.sql")) as file:
    STATEMENTS = file.read()
# Trees with their documents' flags, and the tokens of contents, marked by a first column of their own.
TREES = """
SELECT 'tree', database_id, flags, encode(id, 'hex'), encode(tree, 'hex') FROM settle.documents;
SELECT 'content', database_id, token FROM settle.contents;
"""
QUESTIONS = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\n" + STATEMENTS + TREES


def checksum(*parts):
    """The sum over parts, as docs/FILE_FORMAT.md describes it."""
    total = 0x9E3779B97F4A7C15
    for part in parts:
        padded = struct.pack("<Q", len(part)) + part + bytes(-len(part) % 8)
        for (word,) in struct.iter_unpack("<Q", padded):
            total = (total ^ word) * 0xD6E8FEB86659FD93 % (1 << 64)
            total ^= total >> 32
    return total


def packed(stored, name):
    """The packed tree of a document, which comes after a version and a checksum, unless it is from before version 2 of the schema."""
    if stored[0] != 2:
        return stored
    if checksum(name, stored[9:]) != int.from_bytes(stored[1:9], "little"):
        raise ValueError("its checksum is not that of what is stored")
    return stored[9:]


def varint(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def read_tree(data):
    """The leaves, as whether each is deleted, and the tokens of contents, of a packed tree (docs/FILE_FORMAT.md)."""
    if data[0] != 1:
        raise ValueError(f"version {data[0]}")
    count, place = varint(data, 1)
    deleted, parents, tokens = [], set(), []
    for number in range(count):
        flags = data[place]
        place += 2 if flags & 128 else 1
        _, place = varint(data, place)
        length = 16
        if flags & 16:
            length, place = varint(data, place)
        place += length
        if flags & 64:
            parents.add(number - 1)
        elif flags & 32:
            parent, place = varint(data, place)
            parents.add(parent)
        if flags & 8:
            token, place = varint(data, place)
            tokens.append(token)
        deleted.append(bool(flags & 1))
    if place != len(data):
        raise ValueError(f"{len(data) - place} bytes too many")
    return [deleted[number] for number in range(count) if number not in parents], tokens


def judge(rows):
    """Yields kind and text of what is wrong with rows of the two questions in TREES."""
    named, contents = {}, {}
    for row in rows:
        if row[0] == "content":
            contents.setdefault(row[1], set()).add(int(row[2]))
            continue
        _, database, flags, name, tree = row
        key = bytes.fromhex(name)
        name = key.decode(errors="replace")
        try:
            leaves, tokens = read_tree(packed(bytes.fromhex(tree), key))
        except (ValueError, IndexError) as error:
            yield "a damaged tree", f"{database} {name}: {error}"
            continue
        live = leaves.count(False)
        if (live == 0) != (flags == "1") or (live > 1) != (flags == "2"):
            yield "flags that are not the tree's", f"{database} {name}: flags {flags}, {live} live leaves of {len(leaves)}"
        # 1 is the document's own row; above it, a token is that of a content.
        for token in [token for token in tokens if token > 1]:
            if token in named.setdefault(database, {}):
                yield "a content named twice", f"{database} {token}: {name} and {named[database][token]}"
            named[database][token] = name
    for database in named.keys() | contents.keys():
        tokens, there = named.get(database, {}), contents.get(database, set())
        for token in there - tokens.keys():
            yield "a content without a document", f"{database} {token}"
        for token in tokens.keys() - there:
            yield "a document without its content", f"{database} {token} {tokens[token]}"


def wrong(text):
    """What the answers to all questions say is wrong, as kinds and texts."""
    rows = [line.split("|") for line in text.splitlines()]
    trees = [row for row in rows if row[0] in ("tree", "content")]
    return [(row[0], "|".join(row[1:])) for row in rows if row not in trees] + list(judge(trees))


def complaints(cluster):
    """What is wrong now, in one snapshot."""
    return wrong(cluster.ask(QUESTIONS, patience=300))


def main():
    options = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    options.add_argument("string", metavar="CONNECTION_STRING")
    command = ["psql", "-XAtqw", "-v", "ON_ERROR_STOP=1", "-d", options.parse_args().string]
    try:
        done = subprocess.run(command, input=QUESTIONS, text=True, stdout=subprocess.PIPE)
    except FileNotFoundError:
        options.exit(2, "there is no psql: install the package postgresql-client\n")
    if done.returncode:
        # What is wrong with the connection, psql has said.
        sys.exit(2)
    found = wrong(done.stdout)
    for kind, text in found:
        print(f"{kind}: {text}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
