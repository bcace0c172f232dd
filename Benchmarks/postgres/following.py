"""Feeds that follow a database through every failure, and the comparison of what they saw with what is there."""
import base64
import hashlib
import http.client
import json
import threading
import time
import traceback

from checks import complaints
from nodes import Client, Lost

# A feed sends a sign of life each second. Without one for so long its connection counts as dead.
SILENCE = 15


class Feed(threading.Thread):
    """A continuous feed of one node, or of another one while that is down; it goes on from where it was."""

    def __init__(self, fleet, database, node, violations):
        super().__init__(daemon=True)
        self.fleet, self.base, self.node, self.violations = fleet, "/" + database, node, violations
        self.seen, self.since, self.rows, self.reconnects = {}, "0", 0, -1

    def run(self):
        while not self.fleet.closed:
            try:
                self.follow((self.node.port and self.node) or (self.fleet.up() or [self.node])[0])
            except TimeoutError:
                self.violations.add("silence of a feed", f"of {self.node.name} for {SILENCE} s")
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.02)
            except Exception:
                self.violations.add("an answer that a feed does not understand", traceback.format_exc())
                return

    def follow(self, node):
        if node.port is None:
            raise ConnectionError
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=SILENCE)
        try:
            path = f"{self.base}/_changes?feed=continuous&style=all_docs&heartbeat=1000&since={self.since}"
            connection.request("GET", path, headers=self.fleet.fields)
            answer = connection.getresponse()
            if answer.status != 200:
                if answer.status != 503:
                    self.violations.add(f"status {answer.status} of a feed", str(answer.read()))
                raise ConnectionError
            self.reconnects += 1
            while line := answer.readline():
                if line.endswith(b"}\n"):
                    self.take(json.loads(line))
        finally:
            connection.close()

    def take(self, row):
        if "id" in row:
            self.seen[row["id"]] = leaves(row)
            self.rows += 1
        self.since = row.get("seq") or row.get("last_seq") or self.since


def leaves(row):
    return tuple(change["rev"] for change in row["changes"]), row.get("deleted", False)


class Inspector:
    """Compares a ledger with what all nodes, all feeds and the tables say, while nobody writes."""

    def __init__(self, fleet, database, ledger, feeds, violations):
        self.fleet, self.base, self.ledger, self.feeds, self.violations = fleet, "/" + database, ledger, feeds, violations
        self.marks = {node: ("0", {}) for node in fleet.nodes}
        self.client = Client(fleet, timeout=120)

    def ask(self, node, method, path, body=None):
        """An answer; there is calm now, so a node may take a moment after what happened to it, and no longer."""
        end = time.monotonic() + 30
        while True:
            try:
                status, answer = self.client.ask(node, method, self.base + path, body)
            except Lost as reason:
                status, answer = 503, reason
            if status != 503 or time.monotonic() > end:
                break
            time.sleep(0.1)
        if status not in (200, 201):
            self.violations.add(f"status {status} in calm", f"{method} {path} at {node.name}: {answer}")
            return None
        return answer

    def inspect(self, everything=False):
        """Looks at what changed since the last time, or at all."""
        with self.ledger.lock:
            names = sorted(self.ledger.revisions if everything else self.ledger.fresh)
            self.ledger.fresh = set()
        for node in self.fleet.nodes:
            if everything:
                before = self.read(node)
                self.marks[node] = ("0", {})
                if self.read(node) != before:
                    self.violations.add("a listing of changes", f"{node.name} lists all at once other than bit by bit")
            there = self.marks[node][1] if everything else self.read(node)
            self.trees(node, names)
            self.winners(node, [name for name in names if name in self.ledger.states], there)
            for name in names:
                if name not in there:
                    self.violations.add("lost: a document", f"{name} is not in the changes of {node.name}")
                elif not name.startswith("rep-") and len(there[name][0]) != 1:
                    self.violations.add("a conflict that nobody made", f"{name} at {node.name}: {there[name]}")
            if everything:
                info = self.ask(node, "GET", "")
                if info and info["doc_count"] + info["doc_del_count"] != len(there):
                    self.violations.add("counts", f"{node.name} counts {info}, and lists {len(there)}")
        self.contents(self.fleet.nodes[len(names) % len(self.fleet.nodes)], set(names))
        self.follow(names)
        if self.fleet.cluster:
            for kind, text in complaints(self.fleet.cluster):
                self.violations.add("tables: " + kind, text)

    def read(self, node):
        """The leaves of all documents, by the changes since the last time."""
        since, there = self.marks[node]
        answer = self.ask(node, "GET", f"/_changes?style=all_docs&since={since}")
        if answer:
            for row in answer["results"]:
                there[row["id"]] = leaves(row)
            self.marks[node] = (answer["last_seq"], there)
        return there

    def trees(self, node, names):
        for part in parts(names):
            missing = self.ask(node, "POST", "/_revs_diff", {name: sorted(self.ledger.revisions[name]) for name in part})
            for name, answer in (missing or {}).items():
                self.violations.add("lost: a revision", f"{name} at {node.name}: {answer['missing']}")

    def winners(self, node, names, there):
        for part in parts(names):
            answer = self.ask(node, "POST", "/_all_docs?include_docs=true", {"keys": part})
            for name, row in zip(part, answer["rows"] if answer else []):
                revision, deleted, stamp = self.ledger.states[name]
                value = row.get("value") or {}
                if (value.get("rev"), value.get("deleted", False)) != (revision, deleted):
                    self.violations.add("another winner", f"{name} at {node.name}: {row} instead of {revision}, {deleted}")
                elif stamp and (row.get("doc") or {}).get("stamp") != stamp:
                    self.violations.add("another body", f"{name} at {node.name}: {row} instead of {stamp}")
                elif there.get(name) != ((revision,), deleted):
                    self.violations.add("another leaf", f"{name} at {node.name}: {there.get(name)} instead of {revision}")

    def contents(self, node, names):
        """Attachments and local documents."""
        for (name, file), digest in self.ledger.files.items():
            if name in names:
                content = self.ask(node, "GET", f"/{name}/{file}")
                if content is not None and base64.b64encode(hashlib.md5(content).digest()).decode() != digest:
                    self.violations.add("another attachment", f"{name}/{file} at {node.name}")
        for name, stamp in self.ledger.locals.items():
            answer = self.ask(node, "GET", "/" + name)
            if answer and answer.get("stamp") != stamp:
                self.violations.add("another local document", f"{name} at {node.name}: {answer} instead of {stamp}")

    def follow(self, names, patience=20):
        """Every feed must come to the last state of each document."""
        end = time.monotonic() + patience
        there = self.marks[self.fleet.nodes[0]][1]
        for feed in self.feeds:
            while late := [name for name in names if feed.seen.get(name) != there.get(name)]:
                if time.monotonic() > end:
                    example = late[0]
                    self.violations.add("missed by a feed", (
                        f"{len(late)} documents by that of {feed.node.name}: "
                        f"{example} is {there.get(example)}, it saw {feed.seen.get(example)}"))
                    break
                time.sleep(0.05)


def parts(names, size=500):
    return [names[start:start + size] for start in range(0, len(names), size)]
