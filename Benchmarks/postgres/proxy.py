#!/usr/bin/env python3
"""A proxy before a PostgreSQL, without TLS, that knows the messages of its protocol and can do harm at an exact place.

    proxy.py TARGET_PORT        prints its own port; then reads commands, a line each

    cut PROBABILITY [MODE…]     of transactions, each at its COMMIT, by a mode picked at random:
        answer   the COMMIT is done, and its answer is dropped (default)
        sent     the COMMIT is on its way, and nobody waits for it
        before   the COMMIT does not arrive
    bells on|silent|refused     notifications pass (default), or are swallowed, or a LISTEN is made an error
    count                       prints as JSON what was done, and forgets it
"""
import argparse
import asyncio
import collections
import json
import os
import random
import struct
import subprocess
import sys

# What a connection may begin with, before messages have types: the wish for TLS or GSSAPI, which is declined.
DECLINED = {80877103, 80877104}


class Cut(Exception):
    """The connection ends here."""


class Harm:
    """What is to be done, and what was."""

    def __init__(self):
        self.chance, self.modes, self.bells, self.counts = 0.0, ["answer"], "on", collections.Counter()

    def obey(self, line):
        words = line.split()
        if words[:1] == ["cut"]:
            self.chance, self.modes = float(words[1]), words[2:] or ["answer"]
        elif words[:1] == ["bells"]:
            self.bells = words[1]
        elif words[:1] == ["count"]:
            print(json.dumps(self.counts), flush=True)
            self.counts.clear()


class Link:
    """One connection of a client and its connection to the server."""

    def __init__(self, harm, client, server):
        self.harm, self.client, self.server = harm, client, server
        # Texts of prepared statements and portals by name, as the client sent them.
        self.statements, self.portals, self.mode = {}, {}, None

    async def begin(self):
        """Passes on the first message, which has no type."""
        reader, writer = self.client
        while True:
            length, code = struct.unpack("!II", await reader.readexactly(8))
            rest = await reader.readexactly(length - 8)
            if code not in DECLINED:
                self.server[1].write(struct.pack("!II", length, code) + rest)
                return
            writer.write(b"N")

    async def ask(self):
        """From the client to the server."""
        reader, writer = self.client[0], self.server[1]
        while True:
            kind, body = await message(reader)
            text = self.text(kind, body)
            if text.startswith((b"COMMIT", b"END")) and self.mode is None and random.random() < self.harm.chance:
                self.mode = random.choice(self.harm.modes)
                self.harm.counts[self.mode] += 1
                if self.mode == "before":
                    raise Cut
            if text.startswith(b"LISTEN") and kind in b"PQ" and self.harm.bells == "refused":
                self.harm.counts["refused"] += 1
                place = body.upper().index(b"LISTEN")
                body = body[:place] + b"LISTEX" + body[place + 6:]
            writer.write(kind + struct.pack("!I", len(body) + 4) + body)
            await writer.drain()
            if self.mode == "sent" and kind in b"SQ":
                raise Cut

    def text(self, kind, body):
        """The statement that a message runs, or prepares, in capitals."""
        if kind == b"Q":
            return begin_of(body)
        if kind == b"P":
            name, query = body.split(b"\0", 2)[:2]
            self.statements[name] = begin_of(query)
            # What prepares a COMMIT does not run it.
            return b"" if self.statements[name].startswith((b"COMMIT", b"END")) else self.statements[name]
        if kind == b"B":
            portal, name = body.split(b"\0", 2)[:2]
            self.portals[portal] = self.statements.get(name, b"")
        return self.portals.get(body.split(b"\0", 1)[0], b"") if kind == b"E" else b""

    async def answer(self):
        """From the server to the client."""
        reader, writer = self.server[0], self.client[1]
        while True:
            kind, body = await message(reader)
            if self.mode:
                # Answers to what came before the COMMIT in the same pipeline are dropped as well.
                if kind == b"C" and body.startswith((b"COMMIT", b"ROLLBACK")):
                    self.harm.counts["cut, done" if body.startswith(b"COMMIT") else "cut, rolled back"] += 1
                    raise Cut
                continue
            if kind == b"A" and self.harm.bells == "silent":
                self.harm.counts["swallowed"] += 1
                continue
            writer.write(kind + struct.pack("!I", len(body) + 4) + body)
            await writer.drain()


def begin_of(query):
    return query[:40].strip().upper()


async def message(reader):
    head = await reader.readexactly(5)
    return head[:1], await reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)


async def serve(harm, port, *client):
    server = None
    try:
        server = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        link = Link(harm, client, server)
        await link.begin()
        ways = [asyncio.create_task(link.ask()), asyncio.create_task(link.answer())]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        for _, writer in filter(None, [client, server]):
            writer.close()


async def main(port):
    harm = Harm()
    listener = await asyncio.start_server(lambda *client: serve(harm, port, *client), "127.0.0.1", 0, limit=1 << 20)
    print(listener.sockets[0].getsockname()[1], flush=True)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        harm.obey(line.decode())


class Proxy:
    """The proxy as a process, for a harness."""

    def __init__(self, room, port):
        self.process = room.start(
            [sys.executable, os.path.abspath(__file__), str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def count(self):
        self.tell("count")
        return json.loads(self.process.stdout.readline())


if __name__ == "__main__":
    options = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    options.add_argument("port", type=int, metavar="TARGET_PORT")
    asyncio.run(main(options.parse_args().port))
