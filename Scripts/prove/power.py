#!/usr/bin/env python3
"""Rebuilds what power failures may leave of a server's files, and checks that each acknowledged write is there.

    power.py [--rounds 200] [--seed N] [--settle PROGRAM]

A server runs with the library of power.c before the C library, which records all changes of its files and all calls of fsync, while
clients send requests of every kind and add to the record when they send each one and when it is acknowledged. Then, for random
moments of the record, half of them right after an acknowledgment, the files are rebuilt in another folder as a failure may leave
them: disk.py says what is modelled, and what is not. A server opens them, and must have each write that was acknowledged before that
moment, and of the others all or nothing; all that kills.py checks is checked, and `settle verify` finds nothing.

If the failure tore the transaction that was being written, `settle verify` may say that the log ended early and one transaction could not
be read, because it can't know that this was never acknowledged. That is counted, and no problem, as all acknowledged writes are there.

`settle serve` always runs with full durability (`Durability.full`, docs/OPERATION.md): that is what is tested. --durability-off counts
a completed fsync as nothing, which must be found.
"""
import itertools
import os
import random
import re
import shutil
import sys
import time

import shim
from checks import check
from disk import FORCED, MARK, Disk, Records, mark_record
from kills import checking, close, prepare
from ledger import Ledger
from proof import Proof, at_least, parser
from server import Server
from writers import Writer, chosen_kinds, end

TORN = re.compile(r"the write-ahead log ended early: a page after the first \d+ is damaged, and 1 transaction after it could not be read")


class Marks:
    """Adds the marks of requests and acknowledgments to the record, each by one write at its end."""

    def __init__(self, path):
        self.file, self.number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 0

    def __call__(self, letter):
        # Numbers of two threads may be written in the other order; only their places in the record count.
        self.number += 1
        number = self.number
        os.write(self.file, mark_record(letter, number))
        return number


def record(proof, folder, seed, seconds):
    """Runs a server under load. Gives its record, its ledger, and the mark before the load."""
    kinds = chosen_kinds(proof.given.only)
    log, library = os.path.join(folder, "record"), shim.build(proof.given.state)
    marks = Marks(log)
    server, ledger = Server(proof.given.settle, folder), Ledger(marks)
    server.environment = shim.environment(library, server.data, log)
    prepare(server, ledger)
    begun = marks("B")
    crowd = [Writer(server, ledger, seed, number, kinds) for number in range(proof.given.writers)]
    for writer in crowd:
        writer.start()
    time.sleep(seconds)
    end(crowd, ledger)
    server.kill()
    os.close(marks.file)
    return server, Records(log), ledger, begun


def moments(dice, records, begun, count):
    """Places in the record after the preparation, half of them right after an acknowledgment; and where each mark is."""
    marks, acknowledged, last, forced = {}, [], 0, 0
    for place, (operation, flags, _, number, _, _) in enumerate(records):
        last, forced = place, forced + (operation == FORCED)
        if operation == MARK:
            marks[number] = place
            if flags == ord("A") and begun in marks:
                acknowledged.append(place)
    start = marks[begun] + 1
    after = {place + 1 for place in dice.sample(acknowledged, min(count // 2, len(acknowledged)))}
    others = [place for place in range(start, last + 2) if place not in after]
    return sorted({*after, *dice.sample(others, min(count - len(after), len(others)))}), marks, forced


def failures(proof, server, records, ledger, begun, dice, count):
    chosen, places, forced = moments(dice, records, begun, count)
    disk = Disk(server.data)
    ledger.count("calls of fsync", forced)
    # The last place is after the last record.
    for place, record in enumerate(itertools.chain(records, [None])):
        while chosen and chosen[0] == place:
            one_failure(proof, server, disk, ledger, lambda mark: mark == 0 or places.get(mark, place) < place, dice, chosen.pop(0))
            if ledger.complaints:
                return
        if record and not (proof.given.durability_off and record[0] == FORCED):
            disk.replay(record)
    ledger.count("recorded calls", disk.calls)


def inspect(server, ledger):
    """`settle verify`, apart from the transaction that was being written."""
    checked, problems = server.verify()
    ledger.count("bodies and attachments verified", checked)
    for problem in problems:
        if TORN.search(problem):
            ledger.count("torn logs that verify names")
        else:
            ledger.complain("settle verify", problem)


def one_failure(proof, server, disk, ledger, seen, dice, place):
    """Opens what a failure left."""
    folder = os.path.join(server.folder, f"failure-{place}")
    left = Server(proof.given.settle, folder)
    ledger.count("changes lost or torn", disk.fail(dice, left.data))
    ledger.count("failures")
    left.port = server.port
    if dice.random() < 0.3:
        inspect(left, ledger)
    if not left.start():
        return ledger.complain("a server that does not start", f"{folder}: {left.last_lines()}")
    with checking(left, ledger) as client:
        check(client, ledger, seen, then=lambda *_: None)
    left.kill()
    inspect(left, ledger)
    if ledger.complaints:
        ledger.complaints = [(kind, f"at {place} of {server.folder}: {text}") for kind, text in ledger.complaints]
    else:
        shutil.rmtree(folder)


def main():
    arguments = parser(__doc__, kinds=Writer.KINDS)
    arguments.add_argument("--rounds", type=at_least(1), default=200, help="how many failures")
    arguments.add_argument("--each", type=at_least(1), default=10, help="how many failures of one run of the server")
    arguments.add_argument("--writers", type=at_least(1), default=4)
    arguments.add_argument("--longest", type=at_least(0.05, float), default=6, help="seconds of the load, at most")
    arguments.add_argument("--durability-off", action="store_true", help="count no fsync, to see that this is found")
    given = arguments.parse_args()
    proof = Proof("power", given)
    for place, count in proof.rounds(given.each):
        seed = f"{proof.seed}-{place // given.each}"
        dice = random.Random(f"{seed} power {place % given.each}" if place % given.each else f"{seed} power")
        folder = os.path.join(proof.folder, f"run-{place}")
        os.mkdir(folder)
        server, records, ledger, begun = record(proof, folder, seed, dice.uniform(min(1, given.longest), given.longest))
        if not ledger.complaints:
            failures(proof, server, records, ledger, begun, dice, count)
        close(proof, ledger)
        if not proof.problems:
            shutil.rmtree(folder)
    sys.exit(proof.end())


if __name__ == "__main__":
    main()
