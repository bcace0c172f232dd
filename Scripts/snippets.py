#!/usr/bin/env python3
"""Runs the code of the articles, and compares what it prints with what the articles say that it prints.

    Scripts/snippets.py NAME...

Each NAME is a file of Snippets. A comment that begins with an arrow, `// → Milk 3`, is the next line of the output. A snippet
without arrows has only to end without an error.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def expected(name):
    with open(os.path.join(ROOT, "Snippets", name + ".swift"), encoding="utf-8") as file:
        return re.findall(r"^\s*// → ?(.*)$", file.read(), re.MULTILINE)


def run(name, binaries, room):
    ended = subprocess.run(
        [os.path.join(binaries, name)], cwd=room, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if ended.returncode != 0:
        return f"{name} ended with {ended.returncode}: {ended.stderr.strip()[-2000:]}"
    wanted, printed = expected(name), ended.stdout.splitlines()
    if not wanted or wanted == printed:
        return None
    for row, line in enumerate(wanted):
        if row >= len(printed) or printed[row] != line:
            return f"{name}: line {row + 1} of the output is {printed[row:row + 1]}, and the article says {line!r}"
    return f"{name} prints more than the article says: {printed[len(wanted)]!r}"


def main(names):
    if not names or names[0].startswith("-"):
        sys.exit(__doc__)
    # One build has all of them; a build of each alone plans the whole package again.
    only = ["--product", names[0]] if len(names) == 1 else []
    subprocess.run(["Scripts/swift-debug.sh", "build", "-q", *only], cwd=ROOT, check=True, stdout=sys.stderr)
    binaries = subprocess.run(
        ["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as room:
        failures = [failure for name in names if (failure := run(name, binaries, room))]
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(names) - len(failures)} of {len(names)} snippets print what the articles say")
    sys.exit(1 if failures else 0)


main(sys.argv[1:])
