#!/usr/bin/env python3
"""Pulls and pushes a database over a slow line, and prints seconds and bytes in both directions.

    slow_line.py [--settle .build/release/settle] [--documents 20000] [--round-trip 100] [--down 8000] [--up 2000] [--runs 1]

The line is a relay in this process, which delays and spaces what it passes on: milliseconds of a round trip, and kilobits a
second in each direction. The documents have about 340 bytes and one revision each.
"""
import argparse
import asyncio
import base64
import json
import os
import random
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

WORDS = "milk bread butter eggs cheese water juice apple pear lemon sugar salt flour".split()


class Line:
    """A relay from a free port to another one, in a thread of its own."""

    def __init__(self, target, given):
        self.target, self.given = target, given
        self.bytes, self.free = {"up": 0, "down": 0}, {"up": 0.0, "down": 0.0}
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.connected, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    async def connected(self, reader, writer):
        await asyncio.sleep(self.given.round_trip / 1000)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(self.passed(reader, far_writer, "up"), self.passed(far_reader, writer, "down"), return_exceptions=True)
        writer.close()
        far_writer.close()

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settle", default=".build/release/settle")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--round-trip", type=int, default=100, help="milliseconds")
    parser.add_argument("--down", type=int, default=8000, help="kilobits a second")
    parser.add_argument("--up", type=int, default=2000, help="kilobits a second")
    parser.add_argument("--runs", type=int, default=1, help="how often; the medians are printed")
    given = parser.parse_args()
    settle = os.path.abspath(given.settle)
    seconds, sizes = {}, {}
    with tempfile.TemporaryDirectory() as room:
        server = subprocess.Popen(
            [settle, "serve", "--dir", f"{room}/data", "--port", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | {"SETTLE_ADMIN": "anna", "SETTLE_ADMIN_PASSWORD": "over a line"})
        try:
            port = json.loads(server.stdout.readline())["port"]
            write_documents(f"{room}/documents.jsonl", given.documents)
            print(f"{given.documents:,} documents, {os.path.getsize(room + '/documents.jsonl') / 1e6:.2f} MB as JSON lines")
            for run in range(given.runs):
                source, copy, name = f"{room}/source-{run}", f"{room}/copy-{run}", f"notes-{run}"
                subprocess.run([settle, "create", source], check=True, stdout=subprocess.DEVNULL)
                subprocess.run([settle, "import", source, f"{room}/documents.jsonl"], check=True, capture_output=True)
                subprocess.run([settle, "create", copy], check=True, stdout=subprocess.DEVNULL)
                request = urllib.request.Request(f"http://127.0.0.1:{port}/{name}", method="PUT")
                request.add_header("Authorization", "Basic " + base64.b64encode(b"anna:over a line").decode())
                urllib.request.urlopen(request, timeout=60).close()
                line = Line(port, given)
                address = f"http://anna:over%20a%20line@127.0.0.1:{line.port}/{name}"
                for what, verb, path in (("push", "push", source), ("push again, nothing new", "push", source),
                                         ("pull", "pull", copy), ("pull again, nothing new", "pull", copy)):
                    began = time.monotonic()
                    subprocess.run([settle, verb, path, address], check=True, capture_output=True)
                    seconds.setdefault(what, []).append(time.monotonic() - began)
                    sizes[what] = line.counted()
        finally:
            server.terminate()
            server.wait()
    for what, all_seconds in seconds.items():
        up, down = sizes[what]["up"], sizes[what]["down"]
        print(f"{what:24} {statistics.median(all_seconds):6.2f} s   {up:9,} bytes up  {down:9,} bytes down")


if __name__ == "__main__":
    main()
