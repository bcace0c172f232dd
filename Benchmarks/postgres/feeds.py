#!/usr/bin/env python3
"""Thousands of continuous feeds at several nodes: how late they hear of a commit at another node, and whether they hear of all.

    feeds.py [--settle PATH] [--nodes 3] [--feeds 1000] [--databases 500] [--seconds 20] [--rate 200] [--bells on,silent,refused]

--feeds are those of each node. Of --bells, `on` is with notifications, `silent` with a proxy that swallows them, and `refused`
with one that makes LISTEN an error; each has nodes and tables of its own. A latency counts from the answer that acknowledged
the write until the row has arrived here. Status 1 if a feed missed a change, or if a node has more connections to
PostgreSQL than --connections and one to listen; goals of latency that are missed are printed as missed.
"""
import random
import re
import resource
import selectors
import socket
import sys
import threading
import time

from nodes import Client, Fleet, Lost, Violations, main, parser, say
from options import above_zero, positive, words
from proxy import Proxy
from rush import request

options = parser(__doc__, nodes=3)
options.add_argument("--feeds", type=positive, default=1000)
options.add_argument("--databases", type=positive, default=500)
options.add_argument("--seconds", type=above_zero, default=20)
options.add_argument("--rate", type=above_zero, default=200, help="writes a second, at random nodes")
options.add_argument("--writers", type=positive, default=8)
# The 99th percentile from another node, in seconds.
GOALS = {"on": 0.1, "silent": 1.2, "refused": 0.6}
options.add_argument("--bells", type=words(*GOALS), default=",".join(GOALS))
ROW = re.compile(rb'"id":"w-(\d+)"')


class Feed:
    """One connection with rows in chunks."""

    def __init__(self, fleet, node, database):
        self.node, self.database, self.raw, self.text, self.heard = node, database, b"", b"", {}
        self.socket = socket.create_connection(("127.0.0.1", node.port), timeout=60)
        self.socket.sendall(request(fleet, "GET", f"/{database}/_changes?feed=continuous&since=now&heartbeat=10000"))

    def begin(self):
        """Waits for the head of the answer."""
        while b"\r\n\r\n" not in self.raw:
            self.raw += self.socket.recv(65536) or b"\r\n\r\n"
        head, self.raw = self.raw.split(b"\r\n\r\n", 1)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise Lost(head.decode(errors="replace"))
        self.socket.setblocking(False)

    def receive(self):
        """Notes the writes that have arrived; false at the end of the connection."""
        if not (piece := self.socket.recv(1 << 20)):
            return False
        now = time.monotonic()
        self.raw += piece
        while (end := self.raw.find(b"\r\n")) >= 0:
            size = int(self.raw[:end], 16)
            if len(self.raw) < end + 4 + size:
                break
            self.text += self.raw[end + 2:end + 2 + size]
            self.raw = self.raw[end + 4 + size:]
        lines = self.text.split(b"\n")
        self.text = lines.pop()
        for line in lines:
            for number in ROW.findall(line):
                self.heard.setdefault(int(number), now)
        return True


class Listener(threading.Thread):
    """Reads all feeds."""

    def __init__(self, feeds, violations):
        super().__init__(daemon=True)
        self.selector, self.violations, self.ending = selectors.DefaultSelector(), violations, False
        for feed in feeds:
            self.selector.register(feed.socket, selectors.EVENT_READ, feed)

    def run(self):
        while not self.ending:
            for key, _ in self.selector.select(timeout=0.2):
                try:
                    alive = key.data.receive()
                except OSError:
                    alive = False
                if not alive:
                    self.selector.unregister(key.fileobj)
                    self.violations.add("a feed ended", f"of {key.data.database} at {key.data.node.name}")


def write(fleet, given, violations, number, written, end):
    """One writer: writes at random nodes into random databases, at its part of the rate."""
    client, chance, turn = Client(fleet), random.Random(f"{given.seed} {number}"), 0
    due = time.monotonic()
    while (now := time.monotonic()) < end:
        due += chance.expovariate(given.rate / given.writers)
        time.sleep(max(0, due - now))
        node, database = chance.choice(fleet.nodes), f"feeds-{chance.randrange(given.databases)}"
        mark = turn * given.writers + number
        turn += 1
        try:
            status, answer = client.ask(node, "PUT", f"/{database}/w-{mark}", {"n": mark})
        except Lost as reason:
            status, answer = 0, reason
        if status != 201:
            violations.add("a write was refused", f"{status} {answer}")
        else:
            written[mark] = (database, node, time.monotonic())


def measure(given, bells, violations):
    fleet = Fleet(given, given.nodes)
    fleet.environment["SETTLE_CONNECTIONS"] = str(given.feeds + 200)
    if bells != "on" and fleet.cluster:
        proxy = Proxy(fleet.room, fleet.cluster.primary.port)
        proxy.tell("bells " + bells)
        fleet.string = fleet.cluster.string(ports=[proxy.port])
    fleet.start()
    client = Client(fleet)
    for number in range(given.databases):
        client.sure(fleet.nodes[0], "PUT", f"/feeds-{number}")
    began = time.monotonic()
    feeds = [Feed(fleet, node, f"feeds-{number % given.databases}") for node in fleet.nodes for number in range(given.feeds)]
    for feed in feeds:
        feed.begin()
    say(f"bells {bells}: {len(feeds)} feeds opened in {time.monotonic() - began:.1f} s")
    listener, written, end = Listener(feeds, violations), {}, time.monotonic() + given.seconds
    listener.start()
    threads = [threading.Thread(target=write, args=(fleet, given, violations, number, written, end), daemon=True)
               for number in range(given.writers)]
    for thread in threads:
        thread.start()
    most = 0
    while time.monotonic() < end:
        if fleet.cluster:
            most = max(most, len(fleet.cluster.primary.backends()))
        time.sleep(0.25)
    for thread in threads:
        thread.join()
    figures = judge(given, bells, feeds, written, violations)
    listener.ending = True
    listener.join()
    if fleet.cluster:
        figures["connections to PostgreSQL"] = most
        if most > len(fleet.nodes) * (given.connections + 1):
            violations.add("too many connections", f"{most} of {len(fleet.nodes)} nodes")
    for feed in feeds:
        feed.socket.close()
    fleet.close()
    return {f"bells {bells}: {name}": value for name, value in figures.items()}


def judge(given, bells, feeds, written, violations, patience=10):
    """Waits for the last rows, and computes latencies."""
    wanted = {}
    for mark, (database, _, _) in written.items():
        wanted.setdefault(database, set()).add(mark)
    end = time.monotonic() + patience
    late = feeds
    while late and time.monotonic() < end:
        late = [feed for feed in late if wanted.get(feed.database, set()) - feed.heard.keys()]
        time.sleep(0.05)
    for feed in late:
        missing = sorted(wanted[feed.database] - feed.heard.keys())
        violations.add("missed by a feed", f"of {feed.database} at {feed.node.name}, bells {bells}: {missing[:5]}")
    here, there = [], []
    for feed in feeds:
        for mark in wanted.get(feed.database, set()) & feed.heard.keys():
            _, node, answered = written[mark]
            (here if node is feed.node else there).append(max(0, feed.heard[mark] - answered))
    figures = {"writes": len(written), "rows heard": len(here) + len(there)}
    for name, values in (("the same node", here), ("another node", there)):
        values.sort()
        if values:
            figures |= {f"from {name}, ms, {part}": values[int(len(values) * share)] * 1000
                        for part, share in (("p50", 0.5), ("p99", 0.99), ("worst", 0.999999))}
    if there:
        p99 = there[int(len(there) * 0.99)]
        figures[f"goal: p99 at most {GOALS[bells] * 1000:.0f} ms"] = "met" if p99 <= GOALS[bells] else "missed"
    return figures


def run(given):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, given.nodes * given.feeds + 500)), hard))
    # Writers and the listener share an interpreter; a thread that waits for it should not wait long.
    sys.setswitchinterval(0.0005)
    violations, figures = Violations(), {"seed": given.seed}
    for bells in given.bells if given.engine == "postgres" else ["on"]:
        figures |= measure(given, bells, violations)
    return violations.report(figures, given.json)


if __name__ == "__main__":
    main(run, options.parse_args())
