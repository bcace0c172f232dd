"""Writers that insist on an answer, at another node if one fails, and a ledger of what was acknowledged."""
import base64
import hashlib
import random
import threading
import time
import traceback
from urllib.parse import quote

from nodes import Client, Lost

# How long a writer tries one request before that counts as a violation.
PATIENCE = 90


class Stalled(Exception):
    """There was no answer within the patience; the violation is noted already."""


class Ledger:
    """What was acknowledged. Ids that begin with own or att have one writer; only those with rep may have conflicts."""

    def __init__(self):
        self.lock = threading.Lock()
        self.revisions, self.states, self.locals, self.files = {}, {}, {}, {}
        self.fresh, self.count = set(), 0

    def note(self, name, revisions, state=None):
        """Revisions that must be in the tree, and of a document of one writer what is to be seen: revision, deleted, stamp."""
        with self.lock:
            self.revisions.setdefault(name, set()).update(revisions)
            if state:
                self.states[name] = state
            self.fresh.add(name)
            self.count += 1

    def forget(self, name):
        """The state of a document is not known any more; what was acknowledged before still counts."""
        with self.lock:
            self.states.pop(name, None)


class Writer(threading.Thread):
    """One client that edits its own documents, and some that all writers edit."""

    KINDS = {"create": 25, "update": 25, "bulk": 10, "delete": 8, "replicate": 10, "local": 7, "attach": 6, "shared": 9}

    def __init__(self, fleet, database, ledger, violations, number, kinds=None):
        super().__init__(daemon=True)
        self.fleet, self.base, self.ledger, self.violations = fleet, "/" + database, ledger, violations
        self.number, self.chance = number, random.Random(f"{fleet.given.seed} {number}")
        self.client, self.node = Client(fleet), fleet.nodes[number % len(fleet.nodes)]
        self.kinds = kinds or self.KINDS
        self.live, self.chains, self.attached, self.local_revisions = {}, {}, {}, {}
        # Of each answer: when it came, how long it took with all tries, and from where.
        self.made, self.lost, self.refused, self.times = 0, 0, 0, []
        self.go, self.idle, self.ending = threading.Event(), threading.Event(), False

    def run(self):
        names, weights = list(self.kinds), list(self.kinds.values())
        while True:
            if not self.go.is_set():
                self.idle.set()
                self.go.wait()
            if self.ending:
                return
            try:
                getattr(self, self.chance.choices(names, weights)[0])()
            except Stalled:
                pass
            except Exception:
                self.violations.add("an answer that a writer does not understand", traceback.format_exc())

    def insist(self, method, path, body=None, good=(200, 201), kind="application/json"):
        """Status, answer, and whether an earlier try may have been done. Asks on until there is an answer, at any node."""
        began, repeated = time.monotonic(), False
        while True:
            try:
                status, answer = self.client.ask(self.node, method, self.base + path, body, kind)
                if status != 503:
                    break
                self.refused += 1
            except Lost:
                self.lost += 1
            repeated = True
            if time.monotonic() - began > PATIENCE:
                self.violations.add("no answer", f"{method} {path} for {PATIENCE} s")
                raise Stalled
            time.sleep(self.chance.uniform(0.005, 0.03))
            self.node = self.chance.choice(self.fleet.up() or self.fleet.nodes)
        now = time.monotonic()
        self.times.append((now, now - began, self.node))
        if status not in good:
            self.violations.add(f"status {status}", f"{method} {path} at {self.node.name}: {answer}")
            raise Stalled
        return status, answer, repeated

    def fresh_name(self, kind):
        self.made += 1
        return f"{kind}-{self.number}-{self.made}"

    def body(self, revision=None):
        self.made += 1
        return {"stamp": f"{self.number}-{self.made}", "text": "x" * self.chance.randrange(2000)} | (
            {"_rev": revision} if revision else {})

    def know(self, name, revision, deleted, stamp):
        self.ledger.note(name, [revision], (revision, deleted, stamp))
        self.live.pop(name, None)
        if not deleted:
            self.live[name] = revision

    def find(self, name, stamp, repeated, deleted=False):
        """After a conflict, though only this writer edits it: right if an earlier try was done whose answer was lost."""
        _, answer, _ = self.insist("POST", "/_all_docs?include_docs=true", {"keys": [name]})
        row = answer["rows"][0]
        value = row.get("value") or {}
        there = value.get("deleted", False) if deleted else (row.get("doc") or {}).get("stamp") == stamp
        if repeated and there:
            return self.know(name, value["rev"], deleted, stamp)
        self.violations.add("a conflict of one writer with itself", f"{name} {stamp}, repeated {repeated}, there is {row}")
        self.ledger.forget(name)
        self.live.pop(name, None)

    def put(self, name, body):
        status, answer, repeated = self.insist("PUT", "/" + name, body, (201, 409))
        if status == 201:
            return self.know(name, answer["rev"], False, body["stamp"])
        self.find(name, body["stamp"], repeated)

    def create(self):
        self.put(self.fresh_name("own"), self.body())

    def update(self):
        if self.live:
            name = self.chance.choice(list(self.live)[-200:])
            self.put(name, self.body(self.live[name]))

    def delete(self):
        if self.live:
            name = self.chance.choice(list(self.live)[-200:])
            status, answer, repeated = self.insist("DELETE", f"/{name}?rev={self.live[name]}", good=(200, 404, 409))
            if status == 200:
                return self.know(name, answer["rev"], True, None)
            self.find(name, None, repeated, deleted=True)

    def bulk(self):
        some = self.chance.sample(list(self.live)[-200:], min(len(self.live), self.chance.randrange(8)))
        docs = [{"_id": name} | self.body(self.live[name]) for name in some]
        docs += [{"_id": self.fresh_name("own")} | self.body() for _ in range(self.chance.randrange(1, 25))]
        _, rows, repeated = self.insist("POST", "/_bulk_docs", {"docs": docs})
        for doc, row in zip(docs, rows):
            if "rev" in row:
                self.know(doc["_id"], row["rev"], False, doc["stamp"])
            elif row.get("error") == "conflict":
                self.find(doc["_id"], doc["stamp"], repeated)
            else:
                self.violations.add("a row of _bulk_docs", str(row))
                self.ledger.forget(doc["_id"])

    def replicate(self):
        """Revisions made elsewhere: a branch of its own, or a longer one of those that are there."""
        docs, noted = [], []
        for name in {f"rep-{self.number}-{self.chance.randrange(40)}" for _ in range(self.chance.randrange(1, 6))}:
            chains = self.chains.setdefault(name, [])
            base = self.chance.choice(chains[-6:] + [[]])
            chain = [f"{self.chance.getrandbits(128):032x}" for _ in range(self.chance.randrange(1, 4))] + base
            chains.append(chain)
            revisions = [f"{len(chain) - place}-{mark}" for place, mark in enumerate(chain)]
            docs.append(self.body(revisions[0]) | {"_id": name, "_revisions": {"start": len(chain), "ids": chain}}
                        | ({"_deleted": True} if self.chance.random() < 0.1 else {}))
            noted.append((name, revisions))
        _, rows, _ = self.insist("POST", "/_bulk_docs", {"docs": docs, "new_edits": False})
        if rows:
            return self.violations.add("a row of _bulk_docs", str(rows))
        for name, revisions in noted:
            self.ledger.note(name, revisions)

    def local(self):
        name = f"_local/writer-{self.number}-{self.chance.randrange(3)}"
        body = self.body(self.local_revisions.get(name))
        status, answer, repeated = self.insist("PUT", "/" + name, body, (201, 409))
        if status == 409:
            _, answer, _ = self.insist("GET", "/" + name, good=(200, 404))
            if not repeated or answer.get("stamp") != body["stamp"]:
                self.violations.add("a conflict of one writer with itself", f"{name}: {answer}")
            self.local_revisions[name] = answer.get("_rev")
        else:
            self.local_revisions[name] = answer["rev"]
        self.ledger.locals[name] = body["stamp"]

    def attach(self):
        name = f"att-{self.number}-{self.chance.randrange(20)}"
        file = f"file{self.chance.randrange(3)}"
        content = self.chance.randbytes(self.chance.choice([200, 5_000, 70_000, 300_000]))
        digest = base64.b64encode(hashlib.md5(content).digest()).decode()
        old = self.attached.get(name)
        status, answer, repeated = self.insist(
            "PUT", f"/{name}/{file}{f'?rev={old}' if old else ''}", content, (201, 409), "application/octet-stream")
        revision = answer.get("rev")
        if status == 409:
            _, answer, _ = self.insist("GET", "/" + name, good=(200, 404))
            if not repeated or answer.get("_attachments", {}).get(file, {}).get("digest") != f"md5-{digest}":
                self.violations.add("a conflict of one writer with itself", f"{name}/{file}: {answer}")
                return self.attached.__setitem__(name, answer.get("_rev"))
            revision = answer["_rev"]
        self.attached[name] = revision
        self.ledger.files[name, file] = digest
        self.ledger.note(name, [revision], (revision, False, None))

    def shared(self):
        """A document that all edit: a conflict is an answer like another."""
        name = f"shared-{self.chance.randrange(20)}"
        status, answer, _ = self.insist("GET", "/" + name, good=(200, 404))
        body = self.body(answer["_rev"] if status == 200 else None)
        status, answer, _ = self.insist("PUT", "/" + quote(name), body, (201, 409))
        if status == 201:
            self.ledger.note(name, [answer["rev"]])


class Crowd:
    """Some writers, which write or all stand still."""

    def __init__(self, fleet, database, ledger, violations, count, kinds=None):
        self.writers = [Writer(fleet, database, ledger, violations, number, kinds) for number in range(count)]
        for writer in self.writers:
            writer.start()

    def resume(self):
        for writer in self.writers:
            writer.idle.clear()
            writer.go.set()

    def pause(self):
        """Returns when the last one has its answer."""
        for writer in self.writers:
            writer.go.clear()
        for writer in self.writers:
            writer.idle.wait()

    def total(self, what):
        return sum(getattr(writer, what) for writer in self.writers)
