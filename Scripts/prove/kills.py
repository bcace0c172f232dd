#!/usr/bin/env python3
"""Kills a server at random moments while clients send requests of every kind, and checks what it has after its next start.

    kills.py [--rounds 20] [--kills 1] [--seed N] [--settle PROGRAM]

All rounds of a call are over one folder of data. In each, four clients write documents (one by one, in batches, with histories of
their own), attachments of 1 byte to 3 MB, conflicts and their settlements, purges, design documents, indexes, local documents, users,
databases and stored replications, while `settle import` fills another database. After a random time the processes get SIGKILL. Then,
of an item with one writer, the state must be that of the last acknowledged request, or of a later one that had begun; every
acknowledged revision is in its tree; contents of attachments have their digests; the feed is in order, names no document twice, and goes
on from an earlier position; winners are those of CouchDB's rule; rows of views, of `_all_docs` and of `_find` are those that the
documents give; users can log in; `settle verify` finds nothing, in some rounds before the start and in others after the last; a repeated
import brings all documents. In some rounds the server is killed during its start, too. At the end a continuous replication, which was
killed in all rounds, has brought every leaf.

With --kills N a round is N kills, of which the first is that of the import, too. After each of them the server starts, and the live leaves
of the documents with one writer and the states of all other items are compared. Everything else of the above is checked after the last.

The seed determines requests and delays; which requests are in flight when the signal arrives also depends on the machine.
"""
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

from checks import check, check_copy, reread
from ledger import Ledger, leaf
from proof import Proof, at_least, give_up, parser, run, start
from server import Client, Lost, Server, verified
from writers import Writer, chosen_kinds, design

# Documents of an import that are written at a time.
PIECE = 100


class Import:
    """`settle import` of an input that has no end, so that the kill of the server finds it writing, too."""

    def __init__(self, settle, folder, dice):
        self.settle, self.dice, self.made = settle, random.Random(dice.random()), 0
        self.path, self.lines = os.path.join(folder, "import.settle"), os.path.join(folder, "import.jsonl")
        self.copy = open(self.lines, "w")
        # A transaction for each document: there are more of them, and fewer documents to repeat.
        self.process = start([settle, "import", self.path, "-", "--batch", "1", "--quiet"], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        self.feeder.start()

    def feed(self):
        """Sends documents until the import is killed, and keeps them for its repetition."""
        with contextlib.suppress(BrokenPipeError), self.copy as copy, self.process.stdin as pipe:
            while True:
                piece = "".join(f'{{"_id":"i{self.made + number}","_rev":"1-{self.dice.getrandbits(128):032x}",'
                                f'"text":"{"y" * self.dice.randrange(500)}"}}\n' for number in range(PIECE))
                copy.write(piece)
                self.made += PIECE
                pipe.write(piece)
                pipe.flush()

    def check(self, ledger):
        """After the kill: what is there is sound, and a second import completes it."""
        self.feeder.join()
        complaints = self.process.stderr.read()
        if self.process.wait() != -signal.SIGKILL:
            ledger.complain("an import that ends before its input", f"{self.process.returncode} {complaints}")
        ledger.count("imports killed")
        # An import that was killed at its beginning may leave a folder without a database.
        if os.path.exists(os.path.join(self.path, "database.sqlite")):
            ledger.count("documents of killed imports", self.verify(ledger) or 0)
        again = run([self.settle, "import", self.path, self.lines, "--quiet"])
        if again.returncode != 0:
            ledger.complain("an import that can't be repeated", f"{again.returncode} {again.stderr}")
        if self.verify(ledger) != self.made:
            ledger.complain("an import without all documents", self.path)
        if not ledger.complaints:
            shutil.rmtree(self.path)

    def verify(self, ledger):
        result, problems = verified(self.settle, self.path)
        for problem in problems:
            ledger.complain("a damaged import", problem)
        return result.get("documents")


def prepare(server, ledger, replicates=True):
    """Starts a server, with the databases and the design document that all rounds use."""
    if not server.start():
        give_up(f"the server does not start: {server.last_lines()}")
    client = Client(server.port)
    try:
        for name in ("main", "copy", "_replicator"):
            client.ask("PUT", "/" + name)
        _, answer = client.ask("PUT", "/main/_design/views", design(0))
        ledger.item("main", "_design/views", first=frozenset([leaf(answer["rev"], "design-0")]))
        if replicates:
            client.ask("PUT", "/_replicator/all", {"source": server.url + "main", "target": server.url + "copy", "continuous": True})
    except Lost as error:
        give_up(f"the server does not answer: {error}")
    client.close()


def restart(server, dice, ledger):
    """Starts the server, in some rounds after a start that was killed on its way."""
    if dice.random() < 0.25:
        server.start(waits=False)
        time.sleep(dice.uniform(0, 0.3))
        server.kill()
        ledger.count("kills during a start")
    if not server.start():
        ledger.complain("a server that does not start", server.last_lines())
        return False
    return True


def verify(server, ledger):
    checked, problems = server.verify()
    ledger.count("bodies and attachments verified", checked)
    for problem in problems:
        ledger.complain("settle verify", problem)


def load(server, ledger, seed, given, dice, beside):
    """Lets clients write until the server is killed, with the processes beside it."""
    crowd = [Writer(server, ledger, seed, number, chosen_kinds(given.only)) for number in range(given.writers)]
    for writer in crowd:
        writer.start()
    time.sleep(dice.uniform(0.02, given.longest))
    for process in (server.process, *beside):
        process.kill()
    server.kill()
    ledger.count("kills")
    for writer in crowd:
        writer.join()


def one_round(server, ledger, seed, given, since):
    dice = random.Random(f"{seed} kills")
    imported = Import(server.settle, server.folder, dice)
    for number in range(given.kills):
        load(server, ledger, seed if number == 0 else f"{seed}-{number}", given, dice, [] if number else [imported.process])
        if number == 0:
            imported.check(ledger)
        is_last = number == given.kills - 1
        if is_last and dice.random() < 0.3:
            verify(server, ledger)
        if not restart(server, dice, ledger):
            return since
        since = check_now(server, ledger, since, is_last)
    return since


@contextlib.contextmanager
def checking(server, ledger):
    """A client for checks. An answer that they don't understand is a complaint."""
    client = Client(server.port)
    try:
        yield client
    except Exception:
        ledger.complain("an answer that the check does not understand", traceback.format_exc())
    finally:
        client.close()


def check_now(server, ledger, since, is_whole):
    """After a start: everything, or the states of items. Gives the last position of the feed that is known."""
    with checking(server, ledger) as client:
        if is_whole:
            return check(client, ledger, since=since)
        reread(client, ledger, after_kill=True)
    return since


def finish(server, ledger):
    """After the last round: the replication has brought everything, and the server stops."""
    with checking(server, ledger) as client:
        check_copy(client, ledger, 120, lambda: time.sleep(0.5))
    status = server.stop()
    if status != 0:
        ledger.complain("a stop that fails", f"{status}: {server.last_lines()}")
    verify(server, ledger)


def main():
    arguments = parser(__doc__, kinds=Writer.KINDS)
    arguments.add_argument("--rounds", type=at_least(1), default=20)
    arguments.add_argument("--kills", type=at_least(1), default=1, help="how many kills are a round")
    arguments.add_argument("--writers", type=at_least(1), default=4)
    arguments.add_argument("--longest", type=at_least(0.05, float), default=3, help="seconds until the signal, at most")
    given = arguments.parse_args()
    proof, ledger = Proof("kills", given), Ledger()
    server, since = Server(given.settle, proof.folder), None
    prepare(server, ledger)
    for place, _ in proof.rounds():
        since = one_round(server, ledger, f"{proof.seed}-{place}", given, since)
        if place == given.rounds - 1 and not ledger.complaints:
            finish(server, ledger)
        close(proof, ledger)
    sys.exit(proof.end())


def close(proof, ledger):
    """Moves what the ledger counted into the state of the proof."""
    proof.add(**ledger.figures)
    ledger.figures.clear()
    for kind, text in ledger.complaints:
        proof.problem(kind, text[:2000])
    ledger.complaints.clear()


if __name__ == "__main__":
    main()
