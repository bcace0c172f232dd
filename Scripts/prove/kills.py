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

With --kills N a round is N kills. After each of them the server starts, and the live leaves of the documents with one writer and the states of
all other items are compared. Everything else of the above is checked after the last one.

The seed determines requests and delays; which requests are in flight when the signal arrives also depends on the machine.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from checks import check, check_copy, reread
from ledger import Ledger, leaf
from proof import Proof, parser
from server import Client, Server
from writers import Writer, chosen_kinds, design

IMPORTED = 400


class Import:
    """`settle import` into a folder of its own, which is killed with the server."""

    def __init__(self, settle, folder, number, dice):
        self.settle, self.path = settle, os.path.join(folder, f"import-{number}.settle")
        self.lines = os.path.join(folder, f"import-{number}.jsonl")
        with open(self.lines, "w") as file:
            for document in range(IMPORTED):
                revision = f"1-{dice.getrandbits(128):032x}"
                file.write(json.dumps({"_id": f"i{document}", "_rev": revision, "text": "y" * dice.randrange(500)}) + "\n")
        self.process = self.run()

    def run(self):
        return subprocess.Popen([self.settle, "import", self.path, self.lines, "--batch", "20", "--quiet"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def check(self, ledger):
        """After the kill: what is there is sound, and a second import completes it."""
        self.process.kill()
        self.process.communicate()
        # An import that was killed at its beginning may leave a folder without a database.
        if os.path.exists(os.path.join(self.path, "database.sqlite")):
            self.verify(ledger)
        again = self.run()
        complaints = again.communicate()[1]
        if again.returncode != 0:
            ledger.complain("an import that can't be repeated", f"{again.returncode} {complaints}")
        if self.verify(ledger) != IMPORTED:
            ledger.complain("an import without all documents", self.path)
        shutil.rmtree(self.path)
        os.remove(self.lines)

    def verify(self, ledger):
        run = subprocess.run([self.settle, "verify", self.path, "--json"], capture_output=True, text=True)
        result = json.loads(run.stdout) if run.stdout else {}
        if run.returncode != 0 or not result.get("ok"):
            ledger.complain("a damaged import", f"{self.path}: {run.stdout} {run.stderr}")
        return result.get("documents")


def prepare(server, ledger, replicates=True):
    """The databases and the design document that all rounds use."""
    client = Client(server.port)
    for name in ("main", "copy", "_replicator"):
        client.ask("PUT", "/" + name)
    _, answer = client.ask("PUT", "/main/_design/views", design(0))
    ledger.item("main", "_design/views", first=frozenset([leaf(answer["rev"], "design-0")]))
    if replicates:
        client.ask("PUT", "/_replicator/all", {"source": server.url + "main", "target": server.url + "copy", "continuous": True})
    client.close()


def start(server, dice, ledger):
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


def load(server, ledger, seed, given, dice):
    """Lets clients write until the server is killed."""
    crowd = [Writer(server, ledger, seed, number, chosen_kinds(given.only)) for number in range(given.writers)]
    for writer in crowd:
        writer.start()
    time.sleep(dice.uniform(0.02, given.longest))
    server.kill()
    ledger.count("kills")
    for writer in crowd:
        writer.join()


def one_round(server, ledger, seed, given, since):
    dice = random.Random(f"{seed} kills")
    beside = Import(server.settle, server.folder, "beside", dice)
    for number in range(given.kills):
        load(server, ledger, seed if number == 0 else f"{seed}-{number}", given, dice)
        if number == 0:
            beside.check(ledger)
        is_last = number == given.kills - 1
        if is_last and dice.random() < 0.3:
            verify(server, ledger)
        if not start(server, dice, ledger):
            return since
        since = check_now(server, ledger, since, is_last)
    return since


def check_now(server, ledger, since, is_whole):
    """After a start: everything, or the states of items. Gives the last position of the feed that is known."""
    client = Client(server.port)
    try:
        if is_whole:
            return check(client, ledger, since=since)
        reread(client, ledger, after_kill=True)
    except Exception:
        ledger.complain("an answer that the check does not understand", traceback.format_exc())
    finally:
        client.close()
    return since


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=20)
    arguments.add_argument("--kills", type=int, default=1, help="how many kills are a round")
    arguments.add_argument("--writers", type=int, default=4)
    arguments.add_argument("--longest", type=float, default=3, help="seconds until the signal, at most")
    given = arguments.parse_args()
    proof, ledger = Proof("kills", given), Ledger()
    folder = tempfile.mkdtemp(prefix="settle-kills-")
    server, since = Server(given.settle, folder), None
    try:
        if not server.start():
            raise SystemExit(f"the server does not start: {server.last_lines()}")
        prepare(server, ledger)
        for number in proof.rounds(given.rounds):
            since = one_round(server, ledger, f"{proof.seed}-{number}", given, since)
            close(proof, ledger)
        if not proof.problems:
            client = Client(server.port)
            check_copy(client, ledger, 120, lambda: time.sleep(0.5))
            status = server.stop()
            if status != 0:
                ledger.complain("a stop that fails", f"{status}: {server.last_lines()}")
            verify(server, ledger)
            close(proof, ledger)
    finally:
        if server.process.poll() is None:
            server.kill()
        if not proof.problems:
            shutil.rmtree(folder)
    sys.exit(proof.end(**({"folder": folder} if proof.problems else {})))


def close(proof, ledger):
    """Moves what the ledger counted into the state of the proof."""
    proof.add(**ledger.figures)
    ledger.figures.clear()
    for kind, text in ledger.complaints:
        proof.problem(kind, text[:2000])
    ledger.complaints.clear()


if __name__ == "__main__":
    main()
