#!/usr/bin/env python3
"""Runs `settle-simulate` in pieces, so that a long run can be ended and continued.

    schedules.py [--count 10000] [--seed N] [--program settle-simulate]

Each round is some schedules in one kind of the simulator: as drawn from the seed, with wall clocks that are wrong, and with databases in
files where a crash is a real reopening. Fleets of models of other replicators follow every third round; --count does not count them. The
schedules of a round have the seeds that follow those of the round before it.
"""
import json
import re
import sys

from proof import Proof, at_least, give_up, parser, run

KINDS = {"drawn": [], "clocks": ["--clocks"], "files": ["--files"]}
FLEETS = "fleets"


def simulate(proof, kind, first, count):
    """Runs schedules, and adds their figures."""
    is_fleet = kind == FLEETS
    words = [proof.given.settle, "--seed", str(first), "--rounds", str(count), *(["--fleet"] if is_fleet else KINDS[kind])]
    result = run(words + ([] if is_fleet else ["--json"]))
    if result.returncode == 2:
        give_up(f"{' '.join(words)}: {result.stderr}")
    if result.returncode != 0:
        kind = "a broken rule" if result.returncode == 1 else "a simulator that fails"
        proof.problem(kind, f"{' '.join(words)}: {result.returncode} {result.stdout[-3000:]} {result.stderr[-500:]}")
    elif is_fleet:
        seeds, edits = re.search(r"(\d+) seeds, (\d+) edits", result.stdout).groups()
        proof.add(**{"fleets": int(seeds), "edits of fleets": int(edits)})
    else:
        printed = json.loads(result.stdout)
        proof.add(**{f"schedules, {kind}": printed["schedules"], "steps": printed["steps"], "revisions": printed["revisions"]})


def main():
    arguments = parser(__doc__, program="settle-simulate")
    arguments.add_argument("--count", type=at_least(1), default=10000, help="how many schedules")
    arguments.add_argument("--each", type=at_least(1), default=250, help="how many in a round")
    given = arguments.parse_args()
    proof, kinds, each = Proof("schedules", given), list(KINDS), given.each
    for place, count in proof.rounds(each):
        turn, kind = divmod(place // each, len(kinds))
        # Each turn has the seeds of its fleets, too.
        first = proof.seed + turn * each + place
        simulate(proof, kinds[kind], first, count)
        if kind == len(kinds) - 1 and (place + count) % each == 0 and not proof.problems:
            # A fleet takes as long as some tens of schedules.
            simulate(proof, FLEETS, first + count, max(1, each // 25))
    sys.exit(proof.end())


if __name__ == "__main__":
    main()
