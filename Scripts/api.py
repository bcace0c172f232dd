#!/usr/bin/env python3
"""The public declarations of the libraries, one a line, in docs/API.txt; and the names that `import Settle` shows, in
docs/IMPORT_SETTLE.txt.

    Scripts/api.py            write the lists
    Scripts/api.py --check    compare them; exit 1 when a declaration is gone, changed or new
    Scripts/api.py --names    write the list of names alone, by docs/API.txt as it is

Reads the symbol graphs that `swift package dump-symbol-graph` has written last. A declaration that is gone breaks apps, so its
removal must show in a review: it is a removed line of docs/API.txt, and CHANGELOG.md says what to use instead.
"""
import glob
import json
import os
import re
import subprocess
import sys

MODULES = ["SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleViews", "SettleReplication", "SettleImport",
           "Settle", "SettleServer", "SettlePostgres", "SettleTesting"]
LIST = "docs/API.txt"
NAMES = "docs/IMPORT_SETTLE.txt"
# The modules whose types `import Settle` exports.
INSIDE = {"SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleViews", "SettleReplication"}


def declarations(module, folder):
    """The lines of one module, with what it adds to types of others, in order."""
    lines = set()
    for path in glob.glob(f"{folder}/{module}.symbols.json") + glob.glob(f"{folder}/{module}@*.symbols.json"):
        with open(path) as file:
            symbols = json.load(file)["symbols"]
        for symbol in symbols:
            declaration = " ".join("".join(part["spelling"] for part in symbol["declarationFragments"]).split())
            lines.add(f"{module} {'.'.join(symbol['pathComponents'])}: {declaration}")
    return sorted(lines)


def names(lines):
    """The types that `import Settle` shows, and their members, of the lines of docs/API.txt."""
    with open("Sources/Settle/Settle.swift") as file:
        exported = set(re.findall(r"^@_exported public import \w+ \w+\.(\w+)$", file.read(), re.MULTILINE))
    shown = set()
    for line in lines:
        module, name = line.split(": ", 1)[0].split(" ", 1)
        # `subscript(_:)` and names with labels have colons and no blank after them.
        if module == "Settle" or (module in INSIDE and name.split(".")[0] in exported):
            shown.add(name)
    return sorted(shown)


def write(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if "--names" in sys.argv:
        with open(LIST) as file:
            write(NAMES, names(file.read().splitlines()))
        return
    products = subprocess.run(
        ["swift", "build", "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    folder = os.path.join(os.path.dirname(products), "symbolgraph")
    present = [line for module in MODULES for line in declarations(module, folder)]
    if not present:
        sys.exit(f"{folder} has no symbol graphs; `make api` makes them")
    if "--check" not in sys.argv:
        write(LIST, present)
        write(NAMES, names(present))
        print(f"{len(present)} public declarations in {LIST}, {len(names(present))} names in {NAMES}")
        return
    with open(LIST) as file:
        known = file.read().splitlines()
    gone, new = sorted(set(known) - set(present)), sorted(set(present) - set(known))
    for line in gone:
        print(f"gone or changed: {line}")
    for line in new:
        print(f"new:             {line}")
    if gone:
        print("Apps that use these no longer compile: CHANGELOG.md must say what replaces them.")
    if gone or new:
        sys.exit("`make api` writes the list anew.")
    print(f"The {len(present)} public declarations are those of {LIST}.")


if __name__ == "__main__":
    main()
