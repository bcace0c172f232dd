#!/usr/bin/env python3
"""How the cost of a request grows with the database: the same requests at several sizes, and the ratio of the largest to the
smallest.

    growth.py --settle PATH --folder FOLDER [--sizes 100000,1000000] [--times 101] [--json]
    growth.py --url http://127.0.0.1:5984 --password WORD [--sizes …]       the same requests to another server of the API

Each size has a folder and a server of its own, on a free port. Documents have about 450 bytes and ids in random order; all
are imported before anything is measured. A request is made `times` times with other keys each time; its figure is the median
in milliseconds. A database that is there already from an earlier run is used again. Beside the many documents there are one
with 4,000 leaves and one with 20,000 edits, in a database of their own.
"""
import json
import os
import random
import shutil
import statistics
import sys
import time

from connection import Connection
from options import add_settle, parser, positive, sizes
from processes import Server

options = parser(__doc__)
add_settle(options)
options.add_argument("--folder", help="where databases are made; 10 million documents take 10 GB")
options.add_argument("--url", help="a server that runs already; its databases `big` and `long` are removed")
options.add_argument("--user", default="admin")
options.add_argument("--password", default="growth")
options.add_argument("--sizes", type=sizes, default="100000,1000000")
options.add_argument("--times", type=positive, default=101)
options.add_argument("--json", action="store_true", help="prints the figures as JSON")
given = options.parse_args()
if not given.url and not (given.settle and given.folder):
    options.error("--settle and --folder are needed, or --url")


def identifier(number):
    """Ids in random order, the same for the same number."""
    return f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}"


def document(number):
    text = "lorem ipsum dolor sit amet consetetur sadipscing elitr " * 6
    return {
        "_id": identifier(number), "type": "item", "n": number, "group": number % 100,
        "owner": {"id": number % 1000, "name": f"Owner {number % 1000}"}, "text": text[:300],
    }


class Peer:
    """A server that runs already, and a connection to it."""

    def __init__(self, url):
        self.connection = Connection(url, given.user, given.password)
        for database in ("big", "long"):
            self.ask("DELETE", f"/{database}")

    def ask(self, *request, **more):
        return self.connection.ask_json(*request, **more)

    def ask_until_done(self, method, path, body=None):
        """Asks for what takes long; CouchDB gives up on the request, and goes on with the index."""
        while self.ask(method, path, body, good=(200, 500)).get("error") == "timeout":
            time.sleep(1)

    def milliseconds(self, requests):
        """The median of the times these take, each after the other; the requests are made before the clock starts."""
        made = [self.connection.request(method, path, b"" if body is None else json.dumps(body).encode())
                for method, path, body in requests]
        times = []
        for request in made:
            start = time.perf_counter()
            status, answer = self.connection.exchange(request)
            times.append((time.perf_counter() - start) * 1000)
            if status >= 400:
                sys.exit(f"{request[:200]!r}: {status} {answer[:200]!r}")
        return statistics.median(times)

    def stop(self):
        self.connection.socket.close()


class Own(Peer):
    """A server on a folder, and a connection to it."""

    def __init__(self, folder):
        self.server = Server(given.settle, folder, given.password, user=given.user)
        self.connection = Connection(self.server.url, given.user, given.password)

    def stop(self):
        super().stop()
        self.server.stop()


def fill(server, size):
    """Imports the documents of a size, unless they are there."""
    count = server.ask("GET", "/big").get("doc_count", 0)
    if count >= size:
        return None
    server.ask("PUT", "/big")
    began = time.perf_counter()
    for start in range(count - count % 1000, size, 1000):
        documents = [document(number) for number in range(start, min(start + 1000, size))]
        server.ask("POST", "/big/_bulk_docs", {"docs": documents})
        if start % max(100_000, size // 10) == 0:
            print(f"  {start:,} of {size:,} documents", file=sys.stderr, flush=True)
    return (size - count) / (time.perf_counter() - began)


def grow_revisions(server):
    """A document with 4,000 leaves and one with 20,000 edits, unless they are there."""
    if server.ask("PUT", "/long").get("error"):
        return
    leaves = [{"_id": "wide", "_rev": f"1-{number:032x}", "n": number} for number in range(4000)]
    server.ask("POST", "/long/_bulk_docs", {"docs": leaves, "new_edits": False})
    revision = server.ask("PUT", "/long/deep", {"n": 0})["rev"]
    for number in range(1, 20_000):
        revision = server.ask("PUT", "/long/deep", {"n": number, "_rev": revision})["rev"]


def edits_of_deep(server, times):
    """Milliseconds of one more edit of the document with many."""
    taken = []
    for number in range(times):
        revision = server.ask("GET", "/long/deep")["_rev"]
        taken.append(server.milliseconds([("PUT", "/long/deep", {"n": -number, "_rev": revision})]))
    return statistics.median(taken)


def places(server, size, chance):
    """Sequences as the server names them, at places all over the database. Only Settle takes a number for one."""
    if given.settle:
        newest = int(str(server.ask("GET", "/big")["update_seq"]).split("-")[0])
        numbers = [chance.randrange(max(1, newest - 1000)) for _ in range(given.times)]
        return [server.ask("GET", f"/big/_changes?limit=1&since={number}")["last_seq"] for number in numbers]
    marks = ["0"]
    for _ in range(99):
        marks.append(server.ask("GET", f"/big/_changes?limit={size // 100}&since={marks[-1]}")["last_seq"])
    return [chance.choice(marks) for _ in range(given.times)]


def measure(size):
    folder = given.folder and os.path.join(given.folder, f"growth-{size}")
    chance = random.Random(size)
    server = Peer(given.url) if given.url else Own(folder)
    figures = {}
    rate = fill(server, size)
    if rate:
        figures["import, microseconds a document"] = 1e6 / rate
    server.ask("POST", "/big/_index", {"index": {"fields": ["n"]}, "name": "by-n", "ddoc": "by-n"})
    views = {"by_n": {"map": "function (doc) { emit(doc.n, null) }", "reduce": "_count"}}
    server.ask("PUT", "/big/_design/views", {"views": views})
    print("  the view and the index are built", file=sys.stderr, flush=True)
    server.ask_until_done("GET", "/big/_design/views/_view/by_n?limit=1&reduce=false")
    server.ask_until_done("POST", "/big/_find", {"selector": {"n": 5}, "use_index": "by-n"})

    times = range(given.times)
    some = [chance.randrange(size) for _ in times]
    marks = places(server, size, chance)
    ask = server.milliseconds
    quoted = ['"' + identifier(number) + '"' for number in some]
    figures |= {
        "GET a document": ask([("GET", f"/big/{identifier(n)}", None) for n in some]),
        "PUT a new document": ask([("PUT", f"/big/new-{os.urandom(8).hex()}", {"n": 1}) for _ in times]),
        "PUT a change": ask([
            ("PUT", f"/big/{identifier(n)}", {"n": n, "_rev": server.ask("GET", f"/big/{identifier(n)}")["_rev"]})
            for n in dict.fromkeys(some)]),
        "the database's info": ask([("GET", "/big", None) for _ in times]),
        "_all_docs, 100 rows from a random id": ask(
            [("GET", f"/big/_all_docs?limit=100&startkey={key}", None) for key in quoted]),
        "_all_docs, 100 rows after 90 % are skipped": ask(
            [("GET", f"/big/_all_docs?limit=100&skip={size * 9 // 10}", None) for _ in times]),
        "_changes, 100 rows from a random place": ask(
            [("GET", f"/big/_changes?limit=100&since={mark}", None) for mark in marks]),
        "_changes, the newest": ask([("GET", "/big/_changes?limit=1&descending=true", None) for _ in times]),
        "_changes of ten documents by their ids": ask([
            ("POST", "/big/_changes?filter=_doc_ids", {"doc_ids": [identifier(n) for n in chance.sample(range(size), 10)]})
            for _ in times]),
        "_revs_diff of 100 documents": ask([
            ("POST", "/big/_revs_diff", {identifier(chance.randrange(size)): ["1-abc"] for _ in range(100)})
            for _ in times]),
        "_bulk_get of 100 documents": ask([
            ("POST", "/big/_bulk_get", {"docs": [{"id": identifier(chance.randrange(size))} for _ in range(100)]})
            for _ in times]),
        "a view, 100 rows from a random key": ask(
            [("GET", f"/big/_design/views/_view/by_n?reduce=false&limit=100&startkey={n}", None) for n in some]),
        "a view, 100 rows after 90 % are skipped": ask(
            [("GET", f"/big/_design/views/_view/by_n?reduce=false&limit=100&skip={size * 9 // 10}", None)
             for _ in times]),
        "a view, _count of a random half": ask(
            [("GET", f"/big/_design/views/_view/by_n?startkey={n // 2}&endkey={n // 2 + size // 2}", None)
             for n in some]),
        "a view, the row of one key": ask(
            [("GET", f"/big/_design/views/_view/by_n?reduce=false&key={n}", None) for n in some]),
        "_find, one document of an index": ask(
            [("POST", "/big/_find", {"selector": {"n": n}, "use_index": "by-n", "limit": 1}) for n in some]),
        "_find, 25 documents of an index": ask(
            [("POST", "/big/_find", {"selector": {"n": {"$gte": n}}, "use_index": "by-n", "limit": 25}) for n in some]),
    }
    grow_revisions(server)
    figures["GET a document with 4,000 leaves"] = ask([("GET", "/long/wide", None) for _ in times])
    figures["PUT an edit after 20,000"] = edits_of_deep(server, given.times)
    if given.url:
        server.stop()
        return figures
    figures["a replication that has nothing to do"] = replication(server, folder)
    server.stop()
    opened = []
    for _ in range(5):
        server = Own(folder)
        # The first request derives a key from the password, which takes a tenth of a second.
        server.ask("GET", "/_session")
        start = time.perf_counter()
        server.ask("GET", "/big/" + identifier(1))
        opened.append((time.perf_counter() - start) * 1000)
        server.stop()
    figures["opening, and one document"] = statistics.median(opened)
    return figures


def replication(server, folder):
    """Milliseconds of a replication to a copy of the database that has all of it."""
    copy = os.path.join(folder, "copy.settle")
    if not os.path.exists(copy):
        server.stop()
        shutil.copytree(os.path.join(folder, "big.settle"), copy, ignore=shutil.ignore_patterns("views", "lock"))
        server.__init__(folder)
    place = server.server.url.replace("http://", f"http://{given.user}:{given.password}@")
    job = {"source": f"{place}/big", "target": f"{place}/copy"}
    print("  the first replication", file=sys.stderr, flush=True)
    server.ask("POST", "/_replicate", job)
    return server.milliseconds([("POST", "/_replicate", job)] * 5)


table = {}
for size in given.sizes:
    print(f"{size:,} documents", file=sys.stderr, flush=True)
    table[size] = measure(size)
if given.json:
    print(json.dumps(table, indent=2))
else:
    print(f"{'milliseconds, medians':48}" + "".join(f"{size:>14,}" for size in given.sizes) + f"{'ratio':>8}")
    for name in table[given.sizes[-1]]:
        row = [table[size].get(name, float("nan")) for size in given.sizes]
        print(f"{name:48}" + "".join(f"{value:14.2f}" for value in row) + f"{row[-1] / row[0]:8.1f}")
