#!/usr/bin/env python3
"""Pulls and pushes a database over a slow line, and prints seconds and bytes in both directions.

    slow_line.py [--settle .build/release/settle] [--documents 20000] [--round-trip 100] [--down 8000] [--up 2000] [--runs 1] [--cut 5]

The line is a relay in this process, which delays and spaces what it passes on: milliseconds of a round trip, and kilobits a
second in each direction. The documents have about 340 bytes and one revision each. With --cut, pushes and pulls are
repeated over a line that breaks every so many seconds.
"""
import asyncio
import json
import os
import random
import statistics
import subprocess
import threading
import time

from connection import Connection
from options import BUILT, above_zero, add_settle, at_least, parser, positive
from processes import Server, launch, run, scratch

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


class Measured:
    """The seconds and bytes of what was done, by its name."""

    def __init__(self, settle, line):
        self.settle, self.seconds, self.sizes, self.line = settle, {}, {}, line

    def run(self, what, verb, path, address):
        began = time.monotonic()
        run([self.settle, verb, path, address])
        self.add(what, time.monotonic() - began)
        self.sizes[what] = self.line.counted()

    def first(self, what, path, address):
        """How long a pull takes until it has stored its first document."""
        began = time.monotonic()
        pull = launch([self.settle, "pull", path, address, "--events", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        next(line for line in pull.stdout if b'"document"' in line)
        self.add(what, time.monotonic() - began)
        pull.stdout.read()
        pull.wait()
        self.line.counted()

    def add(self, what, seconds):
        self.seconds.setdefault(what, []).append(seconds)

    def show(self):
        for what, seconds in self.seconds.items():
            sizes = self.sizes.get(what)
            carried = f"   {sizes['up']:9,} bytes up  {sizes['down']:9,} bytes down" if sizes else ""
            print(f"{what:32} {statistics.median(seconds):6.2f} s{carried}")


def main():
    options = parser(__doc__)
    add_settle(options, default=BUILT)
    options.add_argument("--documents", type=positive, default=20_000)
    options.add_argument("--round-trip", type=at_least(0), default=100, help="milliseconds")
    options.add_argument("--down", type=positive, default=8000, help="kilobits a second")
    options.add_argument("--up", type=positive, default=2000, help="kilobits a second")
    options.add_argument("--runs", type=positive, default=1, help="how often; the medians are printed")
    options.add_argument("--cut", type=above_zero, help="seconds after which the line breaks, again and again")
    given = options.parse_args()
    room = scratch("line")
    server = Server(given.settle, f"{room}/data", "over a line", user="anna")
    write_documents(f"{room}/documents.jsonl", given.documents)
    print(f"{given.documents:,} documents, {os.path.getsize(room + '/documents.jsonl') / 1e6:.2f} MB as JSON lines", flush=True)
    line = Line(server.port, given)
    measured = Measured(given.settle, line)
    owner = Connection(server.url, "anna", "over a line")

    def make(path):
        run([given.settle, "create", path])
        return path

    def address(name):
        owner.ask("PUT", f"/{name}", good=(201, 412))
        return f"http://anna:over%20a%20line@127.0.0.1:{line.port}/{name}"

    for turn in range(given.runs):
        source, copy, notes = make(f"{room}/source-{turn}"), make(f"{room}/copy-{turn}"), address(f"notes-{turn}")
        run([given.settle, "import", source, f"{room}/documents.jsonl"])
        measured.run("push", "push", source, notes)
        measured.run("push again, nothing new", "push", source, notes)
        measured.run("pull", "pull", copy, notes)
        measured.run("pull again, nothing new", "pull", copy, notes)
        measured.first("pull, the first document", make(f"{room}/first-{turn}"), notes)
    if given.cut:
        line.cut(given.cut)
        for turn in range(given.runs):
            measured.run(f"push, cut every {given.cut:g} s", "push", f"{room}/source-{turn}", address(f"cut-{turn}"))
            measured.run(f"pull, cut every {given.cut:g} s", "pull", make(f"{room}/cut-{turn}"), address(f"notes-{turn}"))
    server.stop()
    measured.show()
    if given.cut:
        print(f"The line broke {line.cuts} times.")


if __name__ == "__main__":
    main()
