#!/usr/bin/env python3
"""The public declarations of the libraries, one a line, in docs/API.txt.

    Scripts/api.py            write the list
    Scripts/api.py --check    compare it; exit 1 when a declaration is gone, changed or new

Reads the symbol graphs that `swift package dump-symbol-graph` has written last. A declaration that is gone breaks apps, so its
removal must show in a review: it is a removed line of docs/API.txt, and CHANGELOG.md says what to use instead.
"""
import glob
import json
import os
import subprocess
import sys

MODULES = ["SettleCore", "SettleDatabase", "SettleViews", "SettleReplication", "SettleServer", "SettlePostgres",
           "SettleTesting"]
LIST = "docs/API.txt"


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


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    products = subprocess.run(
        ["swift", "build", "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    folder = os.path.join(os.path.dirname(products), "symbolgraph")
    present = [line for module in MODULES for line in declarations(module, folder)]
    if not present:
        sys.exit(f"{folder} has no symbol graphs; `make api` makes them")
    if "--check" not in sys.argv:
        with open(LIST, "w") as file:
            file.write("\n".join(present) + "\n")
        print(f"{len(present)} public declarations in {LIST}")
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
