#!/usr/bin/env python3
"""What Couchbase Lite's clients cost a server: the processor for each document both ways, and the memory of an idle connection.

    Benchmarks/mobile/load.py --settle .build/release/settle [--documents N] [--connections N] [--idle N] [--vectors]

Clients are processes in Python, which need far more of the processor than the server does. So the documents a second are those of
the clients; the server's own share is what its processor time says.
"""
import argparse
import base64
import hashlib
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Tests/Mobile"))
from client import Client, hexadecimal, http, push, serve  # noqa: E402


def status(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(") ", 1)[1].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds, int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def version(name, number):
    """A version of Couchbase Lite 4: a time, and the connection as its source."""
    source = base64.b64encode(hashlib.md5(name.encode()).digest()).decode().rstrip("=")
    return f"{0x18eb55accf3a0000 + (number << 16):x}@{source}"


def pushes(port, name, count, vectors):
    client = Client(port, "db", *PROTOCOL[vectors])
    for start in range(0, count, 200):
        body = {"text": "some text of a document", "tags": ["a", "b"]}
        numbers = range(start, min(start + 200, count))
        documents = [(f"{name}-{n:06}", version(name, n) if vectors else f"1-{hexadecimal(name, n)}", [], {**body, "n": n}, False) for n in numbers]
        assert set(push(client, documents).values()) == {"stored"}
    client.close()


def pulls(port, _, count, vectors):
    client, found = Client(port, "db", *PROTOCOL[vectors]), {}
    client.pull(found, batch="200", versioning="version-vectors" if vectors else "rev-trees")
    assert len(found) == count
    client.close()


PROTOCOL = {False: [], True: ["BLIP_3+CBMobile_4"]}


def measure(what, server, work, port, connections, count, vectors):
    before, begin = status(server)[0], time.monotonic()
    processes = [multiprocessing.Process(target=work, args=(port, f"{what}-{connections}-{number}", count // connections, vectors)) for number in range(connections)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    wall, spent = time.monotonic() - begin, status(server)[0] - before
    print(f"{what} by {connections}: {count / wall:,.0f} documents/s, {spent / count * 1e6:.0f} µs of the server's processor each", flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--settle", default=".build/release/settle")
    arguments.add_argument("--documents", type=int, default=20_000)
    arguments.add_argument("--connections", type=int, default=20)
    arguments.add_argument("--idle", type=int, default=500)
    arguments.add_argument("--vectors", action="store_true", help="version vectors instead of trees")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="settle-mobile-") as folder:
        server, port = serve(chosen.settle, folder)
        try:
            http(port, "PUT", "/db")
            measure("push", server, pushes, port, 1, chosen.documents, chosen.vectors)
            measure("push", server, pushes, port, chosen.connections, chosen.documents, chosen.vectors)
            measure("pull", server, pulls, port, 1, chosen.documents * 2, chosen.vectors)
            before = status(server)[1]
            clients = [Client(port, "db") for _ in range(chosen.idle)]
            for client in clients:
                client.ask({"Profile": "subChanges", "continuous": "true", "since": "100000000"})
            print(f"{chosen.idle} idle continuous connections: {(status(server)[1] - before) / chosen.idle / 1024:.0f} KiB each", flush=True)
            spent = status(server)[0]
            time.sleep(5)
            print(f"and {(status(server)[0] - spent) / 5 * 100:.1f} % of a core", flush=True)
        finally:
            server.terminate()
            server.wait(timeout=30)


if __name__ == "__main__":
    main()
