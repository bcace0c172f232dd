#!/usr/bin/env python3
"""Runs Scripts/live/mobile-mixed.py for one seed after the other: real replicators of several makers at one server.

    fleets.py [--rounds 20] [--seed N] [--settle PROGRAM] [--litecore PROGRAM[:vectors]]... [--pouchdb FOLDER]

Without the programs of other makers the fleet has two of Settle's devices, over HTTP and over WebSockets, and a client of CouchDB's API.
Rounds take turns: edits that replace, edits with deletions where no PouchDB takes part, and edits that add members, of which none may be
lost.
"""
import os
import re
import subprocess
import sys

from proof import ROOT, Proof, parser

SCRIPT = os.path.join(ROOT, "Scripts/live/mobile-mixed.py")
KINDS = [["--documents", "4"], ["--documents", "3", "--deletions", "0.3"], ["--uniting", "--documents", "3"]]


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=20)
    arguments.add_argument("--litecore", action="append", default=[])
    arguments.add_argument("--pouchdb")
    given = arguments.parse_args()
    proof = Proof("fleets", given)
    kinds = KINDS[:1] if given.pouchdb else KINDS
    others = [word for program in given.litecore for word in ("--litecore", program)]
    others += ["--pouchdb", given.pouchdb] if given.pouchdb else []
    for number in proof.rounds(given.rounds):
        words = [SCRIPT, str(proof.seed + number), "--settle", given.settle, *kinds[number % len(kinds)], *others]
        result = subprocess.run([sys.executable, *words], capture_output=True, text=True)
        if result.returncode != 0:
            proof.problem("a fleet that does not agree", f"{' '.join(words)}: {result.stdout[-2000:]} {result.stderr[-1000:]}")
            continue
        devices, edits = re.search(r"(\d+) devices, (\d+) edits", result.stdout).groups()
        proof.add(fleets=1, edits=int(edits))
        proof.maximum(**{"most devices": int(devices)})
    sys.exit(proof.end())


if __name__ == "__main__":
    main()
