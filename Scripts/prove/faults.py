#!/usr/bin/env python3
"""Lets calls of the system fail while a server answers requests, and checks its answers, and what it has after its next start.

    faults.py [--rounds N] [--seed N] [--settle PROGRAM]

A round is one kind of request, such as an attachment as multipart, a purge, or a compaction. For each of the faults below it is sent
again and again: with the first such call failing, then the second, and so on until the request makes no more of them. The library of
power.c lets the calls fail, for files below the folder of data.

Each time the answer is a success, or an error from 500 on with a reason; the state is then that before the request or that after it;
and once the fault is gone the same server writes again. A server may also end, with a reason in its log. At the end of a round it is
killed, and after its next start all that kills.py checks is checked, and `settle verify` finds nothing. The last kind of round is no
request but the start: it succeeds, or ends with a reason, and the next start without a fault has everything.
"""
import errno
import mmap
import os
import shutil
import struct
import sys
import time
import traceback

import shim
from checks import check, reread
from kills import close, prepare, verify
from ledger import Ledger
from proof import Proof, at_least, parser
from server import Client, Lost, Server
from writers import Refused, Writer

# The calls by their numbers in power.c, the error, and whether each later call fails, too.
FAULTS = {
    "a write, EIO": (1, errno.EIO, False), "all writes, ENOSPC": (1, errno.ENOSPC, True), "an fsync, EIO": (2, errno.EIO, False),
    "all fsyncs, EIO": (2, errno.EIO, True), "an open, EIO": (3, errno.EIO, False), "an open, ENOSPC": (3, errno.ENOSPC, False),
    "a rename, EIO": (4, errno.EIO, False), "a mkdir, ENOSPC": (5, errno.ENOSPC, False), "an unlink, EIO": (6, errno.EIO, False),
}
START = "the start"
# What reads alone makes no calls that fail. Replications write on their own.
KINDS = [kind for kind in Writer.KINDS if kind not in ("feed", "replication")] + [START]
BEFORE = ["put", "put", "inline", "branch", "alone", "bulk", "local", "put", "branch", "index", "database"]
# A row of `_bulk_docs` has no status, but the name that the server gives to an error from 500 on.
FAILURES = ("internal_server_error", "unknown_error", "insufficient_storage", "service_unavailable")
FIELDS = struct.Struct("<iiiii7i")


class Control:
    """The page in which the library of power.c reads which call fails."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(4096))
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)

    def set(self, kind=0, number=0, error=0, repeats=False):
        # The countdown comes last, so that nothing fails before all is set.
        struct.pack_into("<i", self.page, 4, 0)
        struct.pack_into("<i", self.page, 0, kind)
        struct.pack_into("<iii", self.page, 8, error, repeats, 0)
        struct.pack_into("<i", self.page, 4, number)

    def clear(self):
        """Nothing fails any more. Gives how many calls have failed."""
        hits = self.hits
        self.set()
        return hits

    @property
    def hits(self):
        return FIELDS.unpack_from(self.page)[4]


class Scene:
    """A server with some documents, whose calls may fail."""

    def __init__(self, proof, place):
        self.folder = os.path.join(proof.folder, f"round-{place}")
        os.mkdir(self.folder)
        self.control = Control(os.path.join(self.folder, "control"))
        self.server, self.ledger = Server(proof.given.settle, self.folder), Ledger()
        library = shim.build(proof.given.state)
        self.server.environment = shim.environment(library, self.server.data, control=os.path.join(self.folder, "control"))
        prepare(self.server, self.ledger, replicates=False)
        self.writer = Writer(self.server, self.ledger, f"{proof.seed}-{place}", 0, strict=False)
        for kind in BEFORE * 2:
            self.step(kind)

    def step(self, kind):
        """Sends a request of a kind; gives the errors. A kind that finds no document to change is done after another one."""
        self.writer.errors.clear()
        self.writer.step(kind)
        return list(self.writer.errors)

    def request(self, kind, fault, number):
        """One request with a failing call. Gives whether a call has failed."""
        code, error, repeats = FAULTS[fault]
        self.control.set(code, number, error, repeats)
        before = self.ledger.figures.get("requests", 0)
        refused, lost = None, None
        try:
            getattr(self.writer, kind)()
            if kind == "compact":
                self.wait_for_compaction()
        except Refused as reason:
            refused = reason
        except Lost as reason:
            lost = reason
        hits = self.control.clear()
        what = f"{kind}, {fault}, call {number}"
        if refused and not hits:
            self.ledger.complain("an error without a fault", f"{what}: {refused}")
        if hits:
            self.ledger.count("requests with a fault")
            self.judge(what, refused, lost)
        elif lost:
            self.ledger.complain("an answer lost without a fault", f"{what}: {lost}")
        return hits > 0, self.ledger.figures.get("requests", 0) > before

    def wait_for_compaction(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            status, answer = self.writer.client.ask("GET", "/main")
            if status != 200 or not answer["compact_running"]:
                return
            time.sleep(0.02)

    def judge(self, what, refused, lost):
        """After a request with a failed call: a clear answer, one of two states, and a server that goes on, or has ended with a reason."""
        if lost:
            time.sleep(0.2)
            if self.server.process.poll() is None:
                self.ledger.count("answers that were cut off")
            else:
                self.ledger.count("servers that ended")
                if not self.server.last_lines().strip():
                    self.ledger.complain("a server that ends without a reason", what)
                return self.restart(what)
        elif refused:
            self.ledger.count("clear errors")
            answer = refused.answer if isinstance(refused.answer, dict) else {}
            is_failure = refused.status >= 500 if refused.status else answer.get("error") in FAILURES
            if not (is_failure and answer.get("error") and answer.get("reason")):
                self.ledger.complain("an answer that is not a clear error", f"{what}: {refused}")
        else:
            self.ledger.count("successes in spite of a fault")
        client = Client(self.server.port)
        try:
            reread(client, self.ledger)
            if errors := self.step("put"):
                self.ledger.complain("a server that does not go on", f"{what}: {errors}")
        except Lost as reason:
            self.ledger.complain("a server that does not go on", f"{what}: {reason}")
        finally:
            client.close()

    def restart(self, what):
        if not self.server.start():
            return self.ledger.complain("a server that does not start", f"{what}: {self.server.last_lines()}")
        client = Client(self.server.port)
        try:
            check(client, self.ledger)
        except Exception:
            self.ledger.complain("an answer that the check does not understand", f"{what}: {traceback.format_exc()}")
        finally:
            client.close()
            self.writer.client.close()

    def requests(self, kind, proof):
        for fault in FAULTS:
            for number in range(1, proof.given.calls + 1):
                failed = sent = False
                for _ in range(20):
                    failed, sent = self.request(kind, fault, number)
                    if sent or self.ledger.complaints:
                        break
                    # There was nothing to purge, to settle, to detach.
                    self.step(self.writer.dice.choice(BEFORE))
                if self.ledger.complaints:
                    return
                if not failed:
                    break
        self.server.kill()
        self.restart("the end of the round")

    def starts(self, proof):
        """The first, the second … call of a start fails, then of a read that opens the databases."""
        for fault, (code, error, repeats) in FAULTS.items():
            for number in range(1, proof.given.calls + 1):
                self.server.kill()
                self.control.set(code, number, error, repeats)
                started = self.server.start()
                if started:
                    client = Client(self.server.port)
                    for path in ("/main/_all_docs?limit=1", "/main/_design/views/_view/by_v", "/_users"):
                        try:
                            client.ask("GET", path)
                        except Lost:
                            pass
                    client.close()
                hits = self.control.clear()
                what = f"{START}, {fault}, call {number}"
                if not hits:
                    if not started:
                        self.ledger.complain("a server that does not start", f"{what}: {self.server.last_lines()}")
                    break
                self.ledger.count("starts with a fault")
                if not started:
                    self.ledger.count("starts that ended")
                    if not self.server.last_lines().strip():
                        self.ledger.complain("a server that ends without a reason", what)
                    self.server.process.wait(timeout=30)
                    self.restart(what)
                if self.ledger.complaints:
                    return
            self.server.kill()
            self.restart(f"{START}, {fault}")
            if self.ledger.complaints:
                return


def main():
    arguments = parser(__doc__, kinds=KINDS)
    arguments.add_argument("--rounds", type=at_least(1), help=f"how many kinds of requests; {len(KINDS)} are all, or those of --only")
    arguments.add_argument("--calls", type=at_least(1), default=40, help="at most the call of this number fails")
    given = arguments.parse_args()
    kinds = given.only or KINDS
    given.rounds = given.rounds or len(kinds)
    proof = Proof("faults", given)
    for place, _ in proof.rounds():
        kind = kinds[place % len(kinds)]
        scene = Scene(proof, place)
        if kind == START:
            scene.starts(proof)
        else:
            scene.requests(kind, proof)
        scene.server.kill()
        verify(scene.server, scene.ledger)
        close(proof, scene.ledger)
        if not proof.problems:
            shutil.rmtree(scene.folder)
    sys.exit(proof.end())


if __name__ == "__main__":
    main()
