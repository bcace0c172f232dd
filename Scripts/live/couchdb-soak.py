#!/usr/bin/env python3
"""Lets a CouchDB replicate continuously with a server of Settle, both ways, while both are edited.

    Scripts/live/couchdb-soak.py COUCHDB SETTLE [SECONDS]

Both are addresses with an administrator's name and password, such as http://admin:secret@127.0.0.1:5984. CouchDB does the
work: one of its replications pulls from Settle, another pushes to it. In each round documents are written, changed at both
sides at once, deleted and given attachments; then the script waits until both hold the same leaves and compares bodies,
histories and attachments. Every third round both replications are cancelled, what is edited meanwhile waits, and they start
again: then they must go on from their checkpoint instead of reading everything again. It ends after SECONDS (600) and
prints what it did; the status is 1 when anything differed. Databases it made are removed. Python 3's standard library is
all it needs.
"""
import argparse
import base64
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks/server"))
from options import positive  # noqa: E402

NAME = "settle-soak"
PATIENCE = 120


class Failure(Exception):
    pass


class Server:
    def __init__(self, address):
        parts = urllib.parse.urlsplit(address)
        self.address = address.rstrip("/")
        self.base = "%s://%s:%d" % (parts.scheme, parts.hostname, parts.port or 5984)
        login = "%s:%s" % (parts.username or "", parts.password or "")
        self.login = "Basic " + base64.b64encode(login.encode()).decode()

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        request.add_header("Authorization", self.login)
        request.add_header("Accept", "application/json")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def ask(self, method, path, body=None):
        status, answer = self.send(method, path, body)
        if status >= 300:
            raise Failure("%s %s%s: %d %s" % (method, self.base, path, status, answer))
        return answer

    def leaves(self):
        """The leaves of each document, from the changes feed."""
        rows = self.ask("GET", "/%s/_changes?style=all_docs" % NAME)["results"]
        return {row["id"]: sorted(change["rev"] for change in row["changes"]) for row in rows}

    def whole(self, identifiers):
        """Bodies, histories and attachments of all leaves of some documents."""
        found = {}
        for identifier in identifiers:
            rows = self.ask("GET", "/%s/%s?open_revs=all&revs=true&attachments=true" % (NAME, identifier))
            found[identifier] = sorted(json.dumps(row["ok"], sort_keys=True) for row in rows)
        return found


class Soak:
    def __init__(self, couch, settle):
        self.couch, self.settle = couch, settle
        self.chance = random.Random(3500)
        self.counts = {"rounds": 0, "edits": 0, "refused": 0, "conflicts": 0, "restarts": 0, "documents": 0}
        self.ids = []

    def replicate(self, cancels=False):
        here, there = self.couch.address + "/" + NAME, self.settle.address + "/" + NAME
        for source, target in ((here, there), (there, here)):
            body = {"source": source, "target": target, "continuous": True}
            if cancels:
                # A replication that is not running can't be cancelled, which is fine.
                self.couch.send("POST", "/_replicate", {**body, "cancel": True})
            else:
                self.couch.ask("POST", "/_replicate", body)

    def jobs(self):
        return [job for job in self.couch.ask("GET", "/_scheduler/jobs")["jobs"] if NAME in job["source"]]

    def edit(self, server):
        """One edit of a document that may be edited at the other side at the same time."""
        kind = self.chance.randint(0, 9)
        if kind < 3 or not self.ids:
            identifier = "doc-%d" % len(self.ids)
            self.ids.append(identifier)
            body = {"n": self.chance.getrandbits(70), "f": self.chance.uniform(-9, 9), "text": "ä😀" * kind}
            status = server.send("PUT", "/%s/%s" % (NAME, identifier), body)[0]
        else:
            identifier = self.chance.choice(self.ids[-60:])
            status, body = server.send("GET", "/%s/%s" % (NAME, identifier))
            if status == 200 and kind == 3:
                status = server.send("DELETE", "/%s/%s?rev=%s" % (NAME, identifier, body["_rev"]))[0]
            elif status == 200:
                if kind == 4:
                    # No empty attachments: CouchDB 3.5.0 waits indefinitely for one, from another CouchDB too.
                    content = bytes(self.chance.getrandbits(8) for _ in range(self.chance.choice([9, 3000, 90000])))
                    body.setdefault("_attachments", {})["file-%d" % self.chance.randint(0, 3)] = {
                        "content_type": self.chance.choice(["image/png", "text/plain"]),
                        "data": base64.b64encode(content).decode()}
                body["by"] = "couch" if server is self.couch else "settle"
                body["v"] = self.chance.getrandbits(30)
                status = server.send("PUT", "/%s/%s" % (NAME, identifier), body)[0]
        self.counts["edits" if status < 300 else "refused"] += 1
        if status >= 500:
            raise Failure("an edit of %s at %s: status %d" % (identifier, server.base, status))

    def settle_conflicts(self):
        """Closes the losing leaves of some documents, at one side or the other."""
        for identifier in self.chance.sample(self.ids, min(5, len(self.ids))):
            server = self.chance.choice([self.couch, self.settle])
            status, body = server.send("GET", "/%s/%s?conflicts=true" % (NAME, identifier))
            for revision in body.get("_conflicts", []) if status == 200 else []:
                server.send("DELETE", "/%s/%s?rev=%s" % (NAME, identifier, revision))
                self.counts["conflicts"] += 1

    def wait_until_same(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            here, there = self.couch.leaves(), self.settle.leaves()
            if here == there and len(here) == len(self.ids):
                return here
            jobs = self.jobs()
            crashes = [event.get("reason") for job in jobs for event in job["history"] if event["type"] == "crashed"]
            if len(jobs) != 2 or crashes:
                raise Failure("%d of 2 replications run; %s" % (len(jobs), crashes or "CouchDB's log says why"))
            time.sleep(0.5)
        differing = [name for name in here.keys() | there.keys() if here.get(name) != there.get(name)]
        example = sorted(differing)[:3]
        raise Failure("after %d s %d documents differ: %s" % (
            PATIENCE, len(differing), [(name, here.get(name), there.get(name)) for name in example]))

    def compare(self, identifiers):
        here, there = self.couch.whole(identifiers), self.settle.whole(identifiers)
        for identifier in identifiers:
            if here[identifier] != there[identifier]:
                raise Failure("%s differs:\n%s\n%s" % (identifier, here[identifier], there[identifier]))

    def read(self):
        """How many documents each replication has read, all its runs together."""
        return {job["source"]: (job.get("info") or {}).get("docs_read") or 0 for job in self.jobs()}

    def restart(self):
        """Cancels, edits, and starts again, which must go on from the checkpoints."""
        before = self.read()
        self.replicate(cancels=True)
        for _ in range(40):
            self.edit(self.chance.choice([self.couch, self.settle]))
        self.replicate()
        self.wait_until_same()
        for source, read in self.read().items():
            # Only changes since the last checkpoint are read again.
            again = read - before.get(source, 0)
            if len(self.ids) > 300 and again > len(self.ids) // 2:
                raise Failure("the replication from %s read %d of %d documents again" % (source, again, len(self.ids)))
        self.counts["restarts"] += 1

    def run(self, seconds):
        # An earlier failed run leaves its databases and replications for inspection.
        self.clean()
        for server in (self.couch, self.settle):
            server.ask("PUT", "/" + NAME)
        self.replicate()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = len(self.ids)
            for _ in range(60):
                self.edit(self.chance.choice([self.couch, self.settle]))
            self.settle_conflicts()
            self.wait_until_same()
            self.compare(self.ids[before:] + self.chance.sample(self.ids, min(20, len(self.ids))))
            self.counts["rounds"] += 1
            if self.counts["rounds"] % 3 == 0:
                self.restart()
            # More than 5 seconds between edits let CouchDB write a checkpoint.
            time.sleep(self.chance.choice([0, 1, 6]))
        self.wait_until_same()
        self.compare(self.ids)
        self.counts["documents"] = len(self.ids)
        self.counts["checkpoints"] = sorted(
            (job.get("info") or {}).get("checkpointed_source_seq") is not None for job in self.jobs())

    def clean(self):
        self.replicate(cancels=True)
        for server in (self.couch, self.settle):
            server.send("DELETE", "/" + NAME)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("couch", type=Server, metavar="COUCHDB")
    options.add_argument("settle", type=Server, metavar="SETTLE")
    options.add_argument("seconds", type=positive, nargs="?", default=600, metavar="SECONDS")
    given = options.parse_args()
    soak = Soak(given.couch, given.settle)
    status = 0
    try:
        soak.run(given.seconds)
    except (Failure, urllib.error.URLError) as failure:
        print("FAILED: %s" % failure)
        status = 1
    print(json.dumps(soak.counts))
    if status == 0:
        soak.clean()
    sys.exit(status)


main()
