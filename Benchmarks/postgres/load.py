#!/usr/bin/env python3
"""Measures the goals of the design through the HTTP server, beside plain SQL for the same rows in the same run.

    load.py [--settle PATH] [--documents 100000] [--seconds 4] [--nodes 4] [--tests batches,updates,…]

The floor is what pgbench reaches with one statement for the same work, without HTTP, trees or checks; a `put` has no group
commit there. A goal that is missed is printed as missed; with --strict the status is 1 then, and else only when an answer was
wrong. PostgreSQL has fsync on. Client, nodes and PostgreSQL share the machine, so take ratios for more than rates.
"""
import concurrent.futures
import hashlib
import http.client
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time

from nodes import Client, Fleet, Unavailable, Violations, main, parser
from options import check_order, positive, words
from rush import Connection, request, rush

options = parser(__doc__, nodes=4)
options.add_argument("--documents", type=positive, default=100_000)
options.add_argument("--seconds", type=positive, default=4, help="of each measure of a rate")
options.add_argument("--attachment", type=positive, default=100, help="in MiB")
TESTS = ("batches", "updates", "puts", "gets", "functions", "changes", "pending", "attachment", "nodes")
NEEDS = dict.fromkeys(("updates", "gets", "functions", "changes", "pending", "nodes"), "batches")
options.add_argument("--tests", type=words(*TESTS), default=",".join(TESTS))
options.add_argument("--strict", action="store_true")
BATCH, PAGE = 1000, 200
FLOOR = """
CREATE SCHEMA floor;
CREATE TABLE floor.counter (id int PRIMARY KEY, last bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO floor.counter VALUES (1, 0);
CREATE TABLE floor.documents (database_id bigint, id bytea, sequence bigint NOT NULL, flags smallint NOT NULL,
  tree bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY (database_id, id));
CREATE UNIQUE INDEX ON floor.documents (database_id, sequence);
CREATE SEQUENCE floor.numbers;
"""
INSERT = """
BEGIN;
UPDATE floor.counter SET last = last + {0} WHERE id = 1;
INSERT INTO floor.documents SELECT 1, convert_to(format('doc-%s', n), 'UTF8'), n, 0, decode(repeat('61', 30), 'hex'),
  convert_to(repeat('x', 500), 'UTF8') FROM (SELECT nextval('floor.numbers') AS n FROM generate_series(1, {0})) x;
COMMIT;
"""
PAGES = ("\\set n random(1, {{documents}})\nSELECT {} FROM floor.documents "
         "WHERE database_id = 1 AND sequence > :n::bigint ORDER BY sequence LIMIT 200;\n")
FLOORS = {
    "batch": INSERT.format(BATCH), "put": INSERT.format(1),
    "get": "\\set n random(1, {documents})\nSELECT tree, body FROM floor.documents "
           "WHERE database_id = 1 AND id = convert_to(format('doc-%s', :n::bigint), 'UTF8');\n",
    "page": PAGES.format("id, sequence, tree"), "page with bodies": PAGES.format("*"),
}


# Answers without writing anything.
UPDATE = "function (doc, req) { return [null, 'done']; }"


class Load:
    def __init__(self, given):
        self.given, self.rows, self.chance = given, [], random.Random(given.seed)
        self.fleet = Fleet(given, given.nodes, durable=True, shared_buffers="1GB", max_wal_size="4GB")
        self.node, self.cluster = self.fleet.nodes[0], self.fleet.cluster
        self.node.start()
        self.client, self.revisions = Client(self.fleet, timeout=600), []
        self.client.sure(self.node, "PUT", "/load")
        if self.cluster:
            self.cluster.ask(FLOOR)

    def row(self, what, value, unit, floor=None, least=None, most=None):
        """One line of the table; with a goal it is met or missed."""
        goal = f"≥ {least:,}" if least is not None else f"≤ {most:,.1f}" if most is not None else ""
        met = None if not goal else value >= least if least is not None else value <= most
        self.rows.append({"what": what, "value": value, "unit": unit, "floor": floor, "goal": goal, "met": met})
        ratio = f"{value / floor:8.2f}" if floor else " " * 8
        verdict = {None: "", True: "met", False: "missed"}[met]
        self.say(f"{what:44} {value:12,.1f} {unit:7} {f'{floor:,.1f}' if floor else '':>12} {ratio} {goal:>10} {verdict}")

    def say(self, line):
        """Prints a line of the table, beside the result if that is JSON."""
        print(line, file=sys.stderr if self.given.json else sys.stdout, flush=True)

    def floor(self, script, clients=1):
        """Transactions a second and their mean time in ms, by pgbench."""
        pgbench = os.path.join(self.cluster.primary.bin, "pgbench") if self.cluster else ""
        if not os.path.exists(pgbench):
            return None, None
        path = self.fleet.room.write("floor.sql", FLOORS[script].replace("{documents}", str(self.given.documents)))
        done = subprocess.run(
            [pgbench, "-n", "-M", "prepared", "-c", str(clients), "-T", str(self.given.seconds), "-f", path,
             self.cluster.string("postgres")],
            env=os.environ | {"PGPASSFILE": self.cluster.passwords}, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"pgbench failed: {done.stderr}")
        rate = re.search(r"tps = ([\d.]+)", done.stdout)
        if not rate:
            self.say(f"pgbench made no transaction with {clients} clients: there is no floor, --seconds is too short")
            return None, None
        return float(rate[1]), clients / float(rate[1]) * 1000

    def document(self, number):
        """About 500 bytes of JSON."""
        value = {"type": "item", "n": number, "group": number % 100, "name": f"Item {number}", "at": "2026-01-01T00:00:00Z"}
        return value | {"text": "x" * (490 - len(json.dumps(value)))}

    def bulk(self, docs):
        """Writes documents in one request; the milliseconds it takes, and their revisions."""
        text = request(self.fleet, "POST", "/load/_bulk_docs", json.dumps({"docs": docs}).encode())
        began = time.perf_counter()
        answer = self.line.exchange(text)
        took = (time.perf_counter() - began) * 1000
        answer = answer[answer.index(b"["):answer.rindex(b"]") + 1]
        return took, re.findall(rb'"rev":"([^"]+)"', answer)

    def batches(self):
        rate, _ = self.floor("batch")
        times = []
        for start in range(0, self.given.documents, BATCH):
            took, revisions = self.bulk([
                {"_id": f"doc-{number:08}"} | self.document(number) for number in range(start, start + BATCH)])
            if len(revisions) != BATCH:
                raise Unavailable("a batch was not written whole")
            times.append(took)
            self.revisions += revisions
        reached = BATCH * len(times) / sum(times) * 1000
        self.row("batches of 1,000 × 500 bytes", reached, "docs/s", rate and rate * BATCH, least=20_000)

    def updates(self):
        times = []
        for _ in range(20):
            numbers = self.chance.sample(range(len(self.revisions)), min(BATCH, len(self.revisions)))
            took, revisions = self.bulk([
                {"_id": f"doc-{number:08}", "_rev": self.revisions[number].decode()} | self.document(number)
                for number in numbers])
            times.append(took)
            for number, revision in zip(numbers, revisions, strict=True):
                self.revisions[number] = revision
        self.row(f"1,000 random updates in {len(self.revisions):,}, median", statistics.median(times), "ms", most=100)

    def puts(self):
        flush = self.flush()
        self.row("a flush of the disk, median", flush, "ms")
        body = json.dumps(self.document(0)).encode()
        for clients, goal in ((1, None), (16, 1_500), (64, 3_500), (256, 6_000)):
            requests = (request(self.fleet, "PUT", f"/load/put-{clients}-{n}", body) for n in itertools.count())
            rate, times = rush([self.node], requests, clients, self.given.seconds)
            floor, mean = self.floor("put", clients)
            self.row(f"single puts, {clients} clients", rate, "docs/s", floor, least=goal)
            most = 2 * flush + 1 if clients == 1 else None
            self.row(f"single puts, {clients} clients, median", middle(times), "ms", mean, most=most)
            self.row(f"single puts, {clients} clients, p99", late(times), "ms")

    def flush(self):
        """The milliseconds of a small write that is forced to the disk."""
        times = []
        with open(self.fleet.room.path("flushed"), "wb", buffering=0) as file:
            for _ in range(101):
                began = time.perf_counter()
                file.write(b"x" * 8192)
                os.fdatasync(file.fileno())
                times.append((time.perf_counter() - began) * 1000)
        return statistics.median(times)

    def some_gets(self):
        while True:
            yield request(self.fleet, "GET", f"/load/doc-{self.chance.randrange(len(self.revisions)):08}")

    def gets(self):
        for clients, goal in ((1, 0.2), (16, None)):
            rate, times = rush([self.node], self.some_gets(), clients, self.given.seconds)
            floor, mean = self.floor("get", clients)
            self.row(f"random gets, {clients} clients", rate, "/s", floor)
            self.row(f"random gets, {clients} clients, median", middle(times), "ms", mean, most=goal)

    def functions(self):
        """What one client waits for: an update function, whose argument has the database's info, and that info alone."""
        self.client.sure(self.node, "PUT", "/load/_design/calls", {"updates": {"f": UPDATE}})
        calls = (request(self.fleet, "POST", f"/load/_design/calls/_update/f/doc-{self.chance.randrange(len(self.revisions)):08}", b"{}")
                 for _ in itertools.count())
        info = itertools.repeat(request(self.fleet, "GET", "/load"))
        for what, requests in (("a call of an update function", calls), ("the database's info", info)):
            _, times = rush([self.node], requests, 1, self.given.seconds)
            self.row(f"{what}, 1 client, median", middle(times), "ms")

    def changes(self):
        for bodies, script, goal in (("", "page", 200_000), ("&include_docs=true", "page with bodies", 100_000)):
            floor, _ = self.floor(script)
            count, since, began = 0, "0", time.perf_counter()
            while True:
                answer = self.line.exchange(request(self.fleet, "GET", f"/load/_changes?limit={PAGE}&since={since}{bodies}"))
                rows = answer.count(b'"changes":[')
                count += rows
                since = re.search(rb'"last_seq":\s*"?([^",}]+)', answer)[1].decode()
                if rows < PAGE:
                    break
            took = time.perf_counter() - began
            if count < len(self.revisions):
                raise Unavailable(f"{count} changes of {len(self.revisions)} documents")
            what = "with" if bodies else "without"
            self.row(f"changes {what} bodies, pages of {PAGE}", count / took, "rows/s", floor and floor * PAGE, least=goal)
            began = time.perf_counter()
            answer = self.line.exchange(request(self.fleet, "GET", f"/load/_changes?since=0{bodies}"))
            took = time.perf_counter() - began
            self.row(f"changes {what} bodies, all at once", answer.count(b'"changes":[') / took, "rows/s")

    def pending(self):
        last, name = re.search(rb'"last_seq":\s*"(\d+)(-[^"]*)"', self.line.exchange(
            request(self.fleet, "GET", "/load/_changes?limit=1&descending=true"))).groups()
        requests = (
            request(self.fleet, "GET", f"/load/_changes?limit=1&since={self.chance.randrange(int(last))}{name.decode()}")
            for _ in itertools.count())
        _, times = rush([self.node], requests, 1, self.given.seconds)
        self.row(f"pending in {len(self.revisions):,}, median", middle(times), "ms", most=2)
        self.row(f"pending in {len(self.revisions):,}, p99", late(times), "ms")

    def attachment(self):
        # The peak is that of a process, so this one has done nothing else.
        self.node.kill()
        self.node.start()
        self.client.sure(self.node, "GET", "/load")
        before, size = self.node.peak(), self.given.attachment
        block = self.chance.randbytes(1 << 20)
        sent, received = hashlib.sha256(), hashlib.sha256()

        def pieces():
            for number in range(size):
                piece = number.to_bytes(8, "big") + block[8:]
                sent.update(piece)
                yield piece

        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=600)
        fields = self.fleet.fields | {"Content-Type": "application/octet-stream"}
        began = time.perf_counter()
        connection.request("PUT", "/load/large/file", pieces(), fields | {"Content-Length": str(size << 20)})
        answer = connection.getresponse()
        if answer.status != 201:
            raise Unavailable(f"the attachment was refused: {answer.status} {answer.read()!r}")
        answer.read()
        self.row(f"an attachment of {size} MiB, write", size / (time.perf_counter() - began), "MiB/s", least=30)
        began = time.perf_counter()
        connection.request("GET", "/load/large/file", headers=fields)
        answer = connection.getresponse()
        while piece := answer.read(1 << 20):
            received.update(piece)
        self.row(f"an attachment of {size} MiB, read", size / (time.perf_counter() - began), "MiB/s", least=80)
        if sent.digest() != received.digest():
            raise Unavailable("the attachment came back other than it was sent")
        self.row("memory for it, over that at the start", self.node.peak() - before, "MiB", most=64)
        self.line = Connection(self.node)

    def nodes(self):
        """What PostgreSQL does not limit, with 1, 2, 4 nodes: reads, functions, and indexes, of which each node has its own."""
        functions = {"map": "function (doc) { emit(doc.n % 100, doc.text.length); }"}
        for count in (1, 2, 4):
            if count <= len(self.fleet.nodes):
                views = {"_id": f"_design/by-n-{count}", "views": {"v": functions}, "updates": {"f": UPDATE}}
                self.client.sure(self.node, "PUT", f"/load/{views['_id']}", views)
        one = {}
        for count in (1, 2, 4):
            some = self.fleet.nodes[:count]
            if len(some) < count:
                break
            for node in some:
                if node.port is None:
                    node.start()
            rates = {
                "random gets": rush(some, self.some_gets(), 16 * count, self.given.seconds)[0],
                "calls of an update function": rush(some, self.some_calls(count), 8 * count, self.given.seconds)[0],
                "documents into views": self.index(some, f"/load/_design/by-n-{count}/_view/v?limit=1"),
            }
            for what, rate in rates.items():
                self.row(f"{what}, {count} nodes", rate, "/s", one.setdefault(what, rate))

    def some_calls(self, count):
        while True:
            yield request(self.fleet, "POST", f"/load/_design/by-n-{count}/_update/f", b"{}")

    def index(self, nodes, path):
        """Documents a second that nodes put into their own indexes, all at the same time."""
        clients = [(Client(self.fleet, timeout=600), node) for node in nodes]
        began = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(len(nodes)) as pool:
            list(pool.map(lambda pair: pair[0].sure(pair[1], "GET", path), clients))
        return len(self.revisions) * len(nodes) / (time.perf_counter() - began)

    def run(self):
        peak = 0
        for test in self.given.tests:
            # A server may end a connection that has been idle while pgbench ran.
            self.line = Connection(self.node)
            getattr(self, test)()
            # `attachment` starts the node anew.
            peak = max(peak, self.node.peak())
        self.row("memory of the first node, at most", peak, "MiB", most=64)


def middle(times):
    return times[len(times) // 2]


def late(times):
    return times[int(len(times) * 0.99)]


def measure(given):
    load, violations = Load(given), Violations()
    load.say(f"{'':44} {'':12} {'':7} {'floor':>12} {'ratio':>8} {'goal':>10}")
    try:
        load.run()
    except Unavailable as reason:
        violations.add("a wrong answer", str(reason))
    for row in load.rows:
        if given.strict and row["met"] is False:
            violations.add("a goal is missed", f"{row['what']}: {row['value']:.1f} {row['unit']}, goal {row['goal']}")
    return violations.report({"rows": load.rows} if given.json else {}, given.json, load.fleet)


if __name__ == "__main__":
    chosen = options.parse_args()
    check_order(options, chosen.tests, NEEDS)
    main(measure, chosen)
