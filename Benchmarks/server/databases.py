#!/usr/bin/env python3
"""How the cost of a request grows with the number of databases: the same requests beside few databases and beside many.

    databases.py --settle PATH --folder FOLDER [--sizes 1000,10000] [--times 301] [--json]
    databases.py --url URL --user NAME --password PASSWORD [--pid PID] [--sizes …] [--times …] [--json]

With `--settle`, one server of Settle on a free port gets databases up to each size, and is restarted at each size. With
`--url`, the requests go to a running server, CouchDB or Settle, which is not restarted; `--pid` is its process, for the
memory. Databases have random names of their own and are not deleted. One connection makes all requests, one after the other.
"""
import json
import random
import statistics
import sys
import time

from connection import Connection
from options import add_settle, parser, positive, process, sizes
from processes import Server, memory

options = parser(__doc__)
add_settle(options)
options.add_argument("--folder", help="where the databases are made; an empty one takes 68 KiB of a disk")
options.add_argument("--url", help="a running server")
options.add_argument("--user", default="admin")
options.add_argument("--password", default="databases")
options.add_argument("--pid", type=process, help="the process of the running server")
options.add_argument("--sizes", type=sizes, default="1000,10000", help="numbers of databases, growing")
options.add_argument("--times", type=positive, default=301)
options.add_argument("--json", action="store_true", help="prints the figures as JSON")
given = options.parse_args()
if bool(given.url) == bool(given.settle and given.folder):
    options.error("give either --url, or --settle and --folder")


def name(number):
    """Names in random order, the same for the same number."""
    return f"user-{number * 0x9E3779B97F4A7C15 % 2**64:016x}"


class Peer:
    """A connection to a server, which runs already or is started here."""

    def __init__(self):
        start = time.perf_counter()
        self.server = None if given.url else Server(given.settle, given.folder, given.password, user=given.user)
        self.url, self.pid = (given.url, given.pid) if given.url else (self.server.url, self.server.pid)
        self.connection = Connection(self.url, given.user, given.password)
        self.connection.ask("GET", "/_up")
        self.started = time.perf_counter() - start

    def ask(self, *request):
        return self.connection.ask_json(*request)

    def times(self, requests):
        """The milliseconds of requests, each after the other."""
        made = [self.connection.request(method, path, body) for method, path, body in requests]
        times = []
        for request in made:
            start = time.perf_counter()
            status, answer = self.connection.exchange(request)
            times.append((time.perf_counter() - start) * 1000)
            if status >= 400:
                sys.exit(f"{request[:200]!r}: {status} {answer[:200]!r}")
        return times

    def stop(self):
        self.connection.socket.close()
        if self.server:
            self.server.stop()


def middle(times):
    return statistics.median(times)


def late(times):
    """The time that 99 of 100 do not exceed."""
    return sorted(times)[int(len(times) * 0.99)]


def create(server, size, count):
    """Creates the databases that are missing; a line now and then says how far it is."""
    times = []
    for start in range(count, size, 1000):
        times += server.times([("PUT", "/" + name(number), b"") for number in range(start, min(start + 1000, size))])
        print(f"  {start:,} of {size:,} databases", file=sys.stderr, flush=True)
    return times


def event(server, chance, size):
    """Milliseconds from a write to the line of a long-polling feed that waits for it."""
    since = server.ask("GET", "/_db_updates?since=now&limit=1")["last_seq"]
    feed = Connection(server.url, given.user, given.password)
    feed.socket.sendall(feed.request("GET", f"/_db_updates?feed=longpoll&since={since}&timeout=30000"))
    time.sleep(0.05)
    target = name(chance.randrange(size))
    start = time.perf_counter()
    server.ask("PUT", f"/{target}/event-{chance.getrandbits(64):016x}", {})
    received = b""
    while target.encode() not in received:
        received += feed.receive()
    took = (time.perf_counter() - start) * 1000
    feed.socket.close()
    return took


def measure(server, size, count):
    chance = random.Random()
    figures = {}
    times = create(server, size, count)
    if times:
        figures["create, median ms"] = middle(times)
        figures["create, p99 ms"] = late(times)
    body = json.dumps({"text": "a document of a user"}).encode()
    some = [name(chance.randrange(size)) for _ in range(given.times)]
    writes = server.times([("PUT", f"/{one}/{chance.getrandbits(64):016x}", body) for one in some])
    reads = server.times([("GET", f"/{name(chance.randrange(size))}", b"") for _ in range(given.times)])
    figures["write to a random one, median ms"] = middle(writes)
    figures["write to a random one, p99 ms"] = late(writes)
    figures["info of a random one, median ms"] = middle(reads)
    pages = server.times([
        ("GET", f'/_all_dbs?limit=100&startkey="{name(chance.randrange(size))}"', b"") for _ in range(given.times)])
    figures["_all_dbs, 100 from a random one, median ms"] = middle(pages)
    figures["_all_dbs, 100 from a random one, p99 ms"] = late(pages)
    after = []
    for _ in range(21):
        fresh = f"fresh-{chance.getrandbits(64):016x}"
        server.ask("PUT", "/" + fresh)
        after += server.times([("GET", f'/_all_dbs?limit=1&startkey="{fresh}"', b"")])
        server.ask("DELETE", "/" + fresh)
    figures["_all_dbs right after a creation, median ms"] = middle(after)
    if given.url:
        # CouchDB has no events without this database.
        server.ask("PUT", "/_global_changes")
    server.times([("GET", "/_db_updates?limit=1", b"")])
    figures["_db_updates, since=now, median ms"] = middle(
        server.times([("GET", "/_db_updates?since=now", b"") for _ in range(given.times)]))
    figures["a write until its line of _db_updates, median ms"] = middle(
        [event(server, chance, size) for _ in range(7)])
    if server.pid:
        figures["memory, MiB"] = memory(server.pid)
    return figures


def restarted(server, figures):
    """The same server, stopped and started again, with figures of that."""
    server.stop()
    server = Peer()
    figures["restart until the first answer, ms"] = server.started * 1000
    figures["the first _all_dbs after it, ms"] = server.times([("GET", "/_all_dbs?limit=100", b"")])[0]
    figures["memory after a restart, MiB"] = memory(server.pid)
    server.server.process.kill()
    server.stop()
    server = Peer()
    figures["restart after a kill, ms"] = server.started * 1000
    return server


table = {}
server = Peer()
there = sum(one.startswith("user-") for one in server.ask("GET", "/_all_dbs"))
for size in given.sizes:
    print(f"{size:,} databases", file=sys.stderr, flush=True)
    table[size] = measure(server, size, there)
    there = max(there, size)
    if given.settle:
        server = restarted(server, table[size])
server.stop()
if given.json:
    print(json.dumps(table, indent=2))
else:
    print(f"{'':52}" + "".join(f"{size:>12,}" for size in table))
    for row in dict.fromkeys(key for figures in table.values() for key in figures):
        print(f"{row:52}" + "".join(
            f"{figures[row]:12.2f}" if row in figures else f"{'':12}" for figures in table.values()))
