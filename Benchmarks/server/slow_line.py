#!/usr/bin/env python3
"""Pulls and pushes a database over a slow line, and prints seconds and bytes in both directions.

    slow_line.py [--settle .build/release/settle] [--documents 20000] [--round-trip 100] [--down 8000] [--up 2000] [--runs 1] [--cut 5]
                 [--couchdb FOLDER] [--pouchdb FOLDER]

The line is a relay in this process, which delays and spaces what it passes on: milliseconds of a round trip, and kilobits a
second in each direction. The documents have about 340 bytes and one revision each. With --cut, pushes and pulls are
repeated over a line that breaks every so many seconds. With --couchdb, a release of CouchDB, as for beside.py, the same is done with a
CouchDB as server, and this CouchDB replicates over the line, too. With --pouchdb, the `dist` of PouchDB's repository, a PouchDB in Node
pulls from each server and pushes to it.
"""
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time

from connection import Connection
from couchdb import CouchDB, release
from options import BUILT, above_zero, add_settle, at_least, parser, positive
from processes import Server, launch, run, scratch

PASSWORD = "over-a-line"
WORDS = "milk bread butter eggs cheese water juice apple pear lemon sugar salt flour".split()


class Line:
    """A relay from a free port to another one, in a thread of its own."""

    def __init__(self, target, given):
        self.target, self.given = target, given
        self.bytes, self.free = {"up": 0, "down": 0}, {"up": 0.0, "down": 0.0}
        self.writers, self.cuts = set(), 0
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.connected, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    async def connected(self, reader, writer):
        await asyncio.sleep(self.given.round_trip / 1000)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        self.writers |= {writer, far_writer}
        await asyncio.gather(self.passed(reader, far_writer, "up"), self.passed(far_reader, writer, "down"), return_exceptions=True)
        self.writers -= {writer, far_writer}
        writer.close()
        far_writer.close()

    def cut(self, seconds):
        """Breaks all connections every so many seconds, from now on."""
        async def cutting():
            while True:
                await asyncio.sleep(seconds)
                self.cuts += 1
                for writer in list(self.writers):
                    writer.transport.abort()
        asyncio.run_coroutine_threadsafe(cutting(), self.loop)

    async def passed(self, reader, writer, way):
        """Passes pieces on when the line would have carried them."""
        rate = (self.given.up if way == "up" else self.given.down) * 1000 / 8
        pieces = asyncio.Queue(64)

        async def deliver():
            while True:
                moment, piece = await pieces.get()
                await asyncio.sleep(max(0, moment - self.loop.time()))
                if not piece:
                    break
                writer.write(piece)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()

        delivery = asyncio.ensure_future(deliver())
        while True:
            piece = await reader.read(4096)
            self.bytes[way] += len(piece)
            self.free[way] = max(self.loop.time(), self.free[way]) + len(piece) / rate
            await pieces.put((self.free[way] + self.given.round_trip / 2000, piece))
            if not piece:
                break
            ahead = self.free[way] - self.loop.time()
            if ahead > 0.2:
                await asyncio.sleep(ahead - 0.2)
        await delivery

    def counted(self):
        """The bytes since this was last called."""
        was, self.bytes = self.bytes, {"up": 0, "down": 0}
        return was


def write_documents(path, count):
    chance = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            document = {
                "_id": f"item-{number:06}", "name": " ".join(chance.choices(WORDS, k=6)), "count": chance.randrange(1000),
                "price": round(chance.random() * 100, 2), "tags": chance.sample(WORDS, 3),
                "created": f"2026-11-{chance.randrange(1, 28):02}T10:{chance.randrange(60):02}:00Z",
                "note": " ".join(chance.choices(WORDS, k=30))}
            file.write(json.dumps(document, separators=(",", ":")) + "\n")


class Far:
    """A server at the other end of a line."""

    def __init__(self, name, server, given):
        self.name, self.url = name, server.url
        self.line = Line(server.port, given)

    def owner(self):
        """A new connection: an old one may have been closed meanwhile."""
        return Connection(self.url, "anna", PASSWORD)

    def address(self, database, over_line=True):
        """The address of a database, which is made if it is not there."""
        owner = self.owner()
        owner.ask("PUT", f"/{database}", good=(201, 412))
        port = self.line.port if over_line else owner.port
        return f"http://anna:{PASSWORD}@127.0.0.1:{port}/{database}"


class Measured:
    """The seconds and bytes of what was done, by its name."""

    def __init__(self):
        self.seconds, self.sizes = {}, {}

    def run(self, what, far, work):
        far.line.counted()
        began = time.monotonic()
        work()
        self.seconds.setdefault(what, []).append(time.monotonic() - began)
        self.sizes[what] = far.line.counted()
        print(f"{what}: {self.seconds[what][-1]:.2f} s", file=sys.stderr, flush=True)

    def show(self):
        for what, seconds in self.seconds.items():
            sizes = self.sizes[what]
            print(f"{what:44} {statistics.median(seconds):6.2f} s   {sizes['up']:10,} bytes up  {sizes['down']:10,} bytes down")


def with_settle(settle, far, measured, room, turn):
    """Pushes and pulls by the tool."""
    def make(name):
        path = f"{room}/{name}-{far.name}-{turn}"
        run([settle, "create", path])
        return path

    def replicate(what, verb, path, remote):
        measured.run(f"settle: {what}", far, lambda: run([settle, verb, path, remote]))

    def first(path, remote):
        pull = launch([settle, "pull", path, remote, "--events", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        measured.run(f"settle: pull from {far.name}, first document", far, lambda: next(row for row in pull.stdout if b'"document"' in row))
        pull.stdout.read()
        pull.wait()

    source, copy, notes = make("source"), make("copy"), far.address(f"notes-{turn}")
    run([settle, "import", source, f"{room}/documents.jsonl"])
    replicate(f"push to {far.name}", "push", source, notes)
    replicate(f"push to {far.name} again, nothing new", "push", source, notes)
    replicate(f"pull from {far.name}", "pull", copy, notes)
    replicate(f"pull from {far.name} again, nothing new", "pull", copy, notes)
    first(make("first"), notes)


def with_couchdb(near, far, measured, turn):
    """Pulls and pushes by CouchDB's own replicator."""
    def replicate(what, source, target):
        body = {"source": source, "target": target}
        measured.run(f"CouchDB: {what}", far, lambda: near.owner().ask_json("POST", "/_replicate", body, good=(200,)))

    copy = near.address(f"copy-of-{far.name.lower()}-{turn}", over_line=False)
    replicate(f"pull from {far.name}", far.address(f"notes-{turn}"), copy)
    replicate(f"push to {far.name}", copy, far.address(f"by-couchdb-{turn}"))


def with_pouchdb(folder, far, measured, turn):
    """Pulls and pushes by PouchDB."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pouchdb-line.js")
    pouch = launch([script, folder, far.address(f"notes-{turn}"), far.address(f"by-pouchdb-{turn}")], stdout=subprocess.PIPE, text=True)

    def step():
        if not pouch.stdout.readline():
            sys.exit(f"PouchDB ended with {pouch.wait()}")

    step()
    for what in (f"pull from {far.name}", f"push to {far.name}"):
        measured.run(f"PouchDB: {what}", far, step)
    pouch.wait()


def main():
    options = parser(__doc__)
    add_settle(options, default=BUILT)
    options.add_argument("--documents", type=positive, default=20_000)
    options.add_argument("--round-trip", type=at_least(0), default=100, help="milliseconds")
    options.add_argument("--down", type=positive, default=8000, help="kilobits a second")
    options.add_argument("--up", type=positive, default=2000, help="kilobits a second")
    options.add_argument("--runs", type=positive, default=1, help="how often; the medians are printed")
    options.add_argument("--cut", type=above_zero, help="seconds after which the line breaks, again and again")
    options.add_argument("--couchdb", type=release, metavar="FOLDER", help="a release of CouchDB")
    options.add_argument("--pouchdb", metavar="FOLDER", help="PouchDB's own builds: pouchdb.js and pouchdb.memory.js")
    given = options.parse_args()
    if given.pouchdb and not os.path.exists(os.path.join(given.pouchdb, "pouchdb.memory.js")):
        options.error(f"there is no pouchdb.memory.js in {given.pouchdb}")
    room = scratch("line")
    write_documents(f"{room}/documents.jsonl", given.documents)
    print(f"{given.documents:,} documents, {os.path.getsize(room + '/documents.jsonl') / 1e6:.2f} MB as JSON lines", flush=True)
    settle, measured = Far("Settle", Server(given.settle, f"{room}/data", PASSWORD, user="anna"), given), Measured()
    couchdb = given.couchdb and Far("CouchDB", CouchDB(given.couchdb, f"{room}/couchdb", PASSWORD, user="anna"), given)
    fars = [settle, couchdb] if couchdb else [settle]
    for turn in range(given.runs):
        for far in fars:
            with_settle(given.settle, far, measured, room, turn)
            if couchdb:
                with_couchdb(couchdb, far, measured, turn)
            if given.pouchdb:
                with_pouchdb(given.pouchdb, far, measured, turn)
    if given.cut:
        settle.line.cut(given.cut)
        for turn in range(given.runs):
            copy, notes = f"{room}/cut-{turn}", settle.address(f"notes-{turn}")
            run([given.settle, "create", copy])
            for verb, path, remote in ("push", f"{room}/source-Settle-{turn}", settle.address(f"cut-{turn}")), ("pull", copy, notes):
                measured.run(f"settle: {verb}, cut every {given.cut:g} s", settle, lambda: run([given.settle, verb, path, remote]))
    measured.show()
    if given.cut:
        print(f"The line broke {settle.line.cuts} times.")


if __name__ == "__main__":
    main()
