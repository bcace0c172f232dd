#!/usr/bin/env python3
"""Runs `settle-simulate` in pieces, so that a long run can be ended and continued.

    schedules.py [--count 10000] [--seed N] [--program settle-simulate]

Each round is some schedules in one kind of the simulator: as drawn from the seed, with wall clocks that are wrong, with databases in files
where a crash is a real reopening, and fleets of models of other replicators. The schedules of a round have the seeds that follow those
of the round before it.
"""
import json
import re
import subprocess
import sys

from proof import Proof, parser

KINDS = {"drawn": [], "clocks": ["--clocks"], "files": ["--files"], "fleets": ["--fleet"]}


def run(proof, kind, first, count):
    """Runs schedules; gives the figures."""
    words = [proof.given.settle, "--seed", str(first), "--rounds", str(count), *KINDS[kind]]
    is_fleet = kind == "fleets"
    result = subprocess.run(words + ([] if is_fleet else ["--json"]), capture_output=True, text=True)
    if result.returncode != 0:
        proof.problem("a broken rule", f"{' '.join(words)}: {result.stdout[-3000:]} {result.stderr[-500:]}")
        return {}
    if is_fleet:
        seeds, edits = re.search(r"(\d+) seeds, (\d+) edits", result.stdout).groups()
        return {"fleets": int(seeds), "edits of fleets": int(edits)}
    printed = json.loads(result.stdout)
    return {f"schedules, {kind}": printed["schedules"], "steps": printed["steps"], "revisions": printed["revisions"]}


def main():
    arguments = parser(__doc__, program="settle-simulate")
    arguments.add_argument("--count", type=int, default=10000, help="how many schedules")
    arguments.add_argument("--each", type=int, default=250, help="how many in a round")
    given = arguments.parse_args()
    proof = Proof("schedules", given)
    kinds = list(KINDS)
    for number in proof.rounds(-(-given.count // given.each)):
        # A fleet takes as long as some tens of schedules.
        kind = kinds[number % len(kinds)]
        proof.add(**run(proof, kind, proof.seed + number * given.each, given.each if kind != "fleets" else max(1, given.each // 25)))
    sys.exit(proof.end())


if __name__ == "__main__":
    main()
