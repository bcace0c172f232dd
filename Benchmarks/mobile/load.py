#!/usr/bin/env python3
"""What Couchbase Lite's clients cost a server: the processor for each document both ways, and the memory of an idle connection.

    Benchmarks/mobile/load.py --settle .build/release/settle [--documents N] [--connections N] [--idle N] [--vectors]

Clients are processes in Python, which need far more of the processor than the server does. So the documents a second are those of
the clients; the server's own share is what its processor time says.
"""
import base64
import hashlib
import multiprocessing
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../Tests/Mobile"), os.path.join(HERE, "../server")]
from client import Client, hexadecimal, http, push  # noqa: E402
from options import BUILT, add_settle, parser, positive  # noqa: E402
from processes import Server, scratch  # noqa: E402


def status(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(") ", 1)[1].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds, int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def version(name, number):
    """A version of Couchbase Lite 4: a time, and the connection as its source."""
    source = base64.b64encode(hashlib.md5(name.encode()).digest()).decode().rstrip("=")
    return f"{0x18eb55accf3a0000 + (number << 16):x}@{source}"


def pushes(port, name, count, vectors):
    client = Client(port, "db", *PROTOCOL[vectors])
    for start in range(0, count, 200):
        body = {"text": "some text of a document", "tags": ["a", "b"]}
        numbers = range(start, min(start + 200, count))
        documents = [(f"{name}-{n:06}", version(name, n) if vectors else f"1-{hexadecimal(name, n)}", [], {**body, "n": n}, False)
                     for n in numbers]
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
    names = [f"{what}-{connections}-{number}" for number in range(connections)]
    processes = [multiprocessing.Process(target=work, args=(port, name, count // connections, vectors), daemon=True) for name in names]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    wall, spent = time.monotonic() - begin, status(server)[0] - before
    each = spent / count * 1e6
    print(f"{what} by {connections}: {count / wall:,.0f} documents/s, {each:.0f} µs of the server's processor each", flush=True)


def main():
    options = parser(__doc__)
    add_settle(options, default=BUILT)
    options.add_argument("--documents", type=positive, default=20_000)
    options.add_argument("--connections", type=positive, default=20)
    options.add_argument("--idle", type=positive, default=500, help="connections that wait for changes")
    options.add_argument("--vectors", action="store_true", help="version vectors instead of trees")
    chosen = options.parse_args()
    each = chosen.documents // chosen.connections * chosen.connections
    if not each:
        options.error("there are fewer documents than connections")
    own = Server(chosen.settle, scratch("mobile"), "admin")
    server, port = own.process, own.port
    http(port, "PUT", "/db")
    measure("push", server, pushes, port, 1, chosen.documents, chosen.vectors)
    measure("push", server, pushes, port, chosen.connections, each, chosen.vectors)
    measure("pull", server, pulls, port, 1, chosen.documents + each, chosen.vectors)
    before = status(server)[1]
    clients = [Client(port, "db") for _ in range(chosen.idle)]
    for client in clients:
        client.ask({"Profile": "subChanges", "continuous": "true", "since": "100000000"})
    print(f"{chosen.idle} idle continuous connections: {(status(server)[1] - before) / chosen.idle / 1024:.0f} KiB each", flush=True)
    spent = status(server)[0]
    time.sleep(5)
    print(f"and {(status(server)[0] - spent) / 5 * 100:.1f} % of a core", flush=True)


if __name__ == "__main__":
    main()
