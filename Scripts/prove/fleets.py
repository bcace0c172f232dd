#!/usr/bin/env python3
"""Runs Scripts/live/mobile-mixed.py for one seed after the other: real replicators of several makers at one server.

    fleets.py [--rounds 20] [--seed N] [--settle PROGRAM] [--litecore PROGRAM[:vectors]]... [--pouchdb FOLDER]

Without the programs of other makers the fleet has two of Settle's devices, over HTTP and over WebSockets, and a client of CouchDB's API.
Rounds take turns: edits that replace, edits with deletions where no PouchDB takes part, and edits that add members, of which none may be
lost.
"""
import os
import re
import sys

from proof import ROOT, Proof, at_least, give_up, parser, run

SCRIPT = os.path.join(ROOT, "Scripts/live/mobile-mixed.py")
KINDS = [["--documents", "4"], ["--documents", "3", "--deletions", "0.3"], ["--uniting", "--documents", "3"]]


def last_lines(text, count=12):
    return "\n".join(text.splitlines()[-count:])


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=at_least(1), default=20)
    arguments.add_argument("--litecore", action="append", default=[])
    arguments.add_argument("--pouchdb")
    given = arguments.parse_args()
    proof = Proof("fleets", given)
    kinds = KINDS[:1] if given.pouchdb else KINDS
    others = [word for program in given.litecore for word in ("--litecore", program)]
    others += ["--pouchdb", given.pouchdb] if given.pouchdb else []
    for place, _ in proof.rounds():
        words = [SCRIPT, str(proof.seed + place), "--settle", given.settle, *kinds[place % len(kinds)], *others]
        result = run([sys.executable, *words])
        if result.returncode == 2:
            give_up(last_lines(result.stderr, 1))
        counted = re.search(r"(\d+) devices, (\d+) edits", result.stdout)
        if result.returncode != 0 or not counted:
            # Only a fleet that came to its end was compared.
            kind = "a fleet that does not agree" if counted else "a device or a server that fails"
            proof.problem(kind, f"{' '.join(words)}:\n{last_lines(result.stdout, 100)}\n{last_lines(result.stderr)}")
            continue
        devices, edits = counted.groups()
        proof.add(fleets=1, edits=int(edits))
        proof.maximum(**{"most devices": int(devices)})
    sys.exit(proof.end())


if __name__ == "__main__":
    main()
