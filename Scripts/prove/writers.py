"""Clients that send random requests of every kind, and note in the ledger what they leave."""
import base64
import json
import random
import threading
import traceback

from ledger import ABSENT, ANY, attachment, from_stubs, leaf
from server import Client, Lost

MAP = "function (doc) { if (doc.v !== undefined) emit(doc.v, doc.n); }"
MAXIMUM_ATTACHMENT = 3 << 20
DOCUMENTS = 12


def design(edit):
    """A design document with one view, whose index is rebuilt after an edit of its text."""
    return {"n": f"design-{edit}", "views": {"by_v": {"map": f"{MAP} // {edit}", "reduce": "_count"}}}


def chosen_kinds(only):
    """All kinds of requests with their weights, or those of a list, equally often."""
    return {kind: 1 for kind in only} if only else Writer.KINDS


def end(crowd, ledger):
    """Ends clients of a server that was not to end: each had all its answers."""
    for writer in crowd:
        writer.ending.set()
    for writer in crowd:
        writer.join()
        for lost in writer.lost:
            ledger.complain("an answer that was lost", lost)


class Refused(Exception):
    """The server answered with an error, so the request is not acknowledged."""

    def __init__(self, text, status=None, answer=None):
        super().__init__(text)
        self.status, self.answer = status, answer


class Writer(threading.Thread):
    """One client with documents of its own. Ends when an answer is lost or `ending` is set."""

    KINDS = {"put": 22, "bulk": 10, "branch": 7, "settle": 6, "delete": 5, "inline": 5, "multipart": 5, "alone": 6, "detach": 3, "purge": 3,
             "local": 6, "shared": 5, "view": 4, "find": 3, "feed": 2, "compact": 1, "design": 1, "index": 2, "database": 3,
             "replication": 1, "user": 0.5}

    def __init__(self, server, ledger, seed, number, kinds=None, limit=None, strict=True):
        super().__init__(daemon=True)
        self.server, self.ledger, self.number, self.dice = server, ledger, number, random.Random(f"{seed} {number}")
        self.client, self.ending, self.made = Client(server.port), threading.Event(), 0
        self.kinds, self.limit, self.strict, self.run_name = kinds or self.KINDS, limit, strict, seed
        self.errors, self.lost = [], []

    def run(self):
        try:
            while not self.ending.is_set() and self.limit != 0:
                if self.limit is not None:
                    self.limit -= 1
                self.step(self.dice.choices(list(self.kinds), list(self.kinds.values()))[0])
        except Lost as reason:
            self.lost.append(str(reason))
            self.ledger.count("lost answers")
        except Exception:
            self.ledger.complain("an answer that a writer does not understand", traceback.format_exc())
        finally:
            self.client.close()

    def step(self, kind):
        try:
            getattr(self, kind)()
        except Refused as reason:
            self.errors.append(str(reason))
            if self.strict:
                self.ledger.complain("an error", str(reason))

    # Requests

    def ask(self, changes, method, path, body=None, headers=None, good=(200, 201, 202), purges=False):
        """Sends a request that leaves states, {item: state}; gives the answer and the entries."""
        entries = self.ledger.begin(changes, purges)
        self.ledger.count("requests")
        status, answer = self.client.ask(method, path, body, headers)
        if status not in good:
            if status < 500:
                self.ledger.refuse(entries)
            raise Refused(f"{method} {path}: {status} {answer}", status, answer)
        return answer, entries

    def write(self, item, state, method, path, body=None, headers=None):
        """A request to one document, whose answer names the revision."""
        answer, entries = self.ask({item: state}, method, path, body, headers)
        entry = entries[item]
        entry.revisions.append(answer["rev"])
        entry.state = frozenset((answer["rev"], *one[1:]) if one[0] is None else one for one in state)
        self.ledger.acknowledge(entries)

    def read(self, path, body=None):
        self.ledger.count("requests")
        status, answer = self.client.ask("GET" if body is None else "POST", path, body)
        if status != 200:
            raise Refused(f"{path}: {status} {answer}", status, answer)
        return answer

    # Choices

    def token(self):
        self.made += 1
        return f"{self.run_name}-{self.number}-{self.made}"

    def document(self, least=0, most=99):
        """A document of this writer whose state is known, with a number of live leaves."""
        items = [self.ledger.item("main", f"d{self.number}-{number}") for number in range(DOCUMENTS)]
        items = [item for item in items if item.certain and least <= len(item.state) <= most]
        return self.dice.choice(items) if items else None

    def body(self, token, revision=None):
        pad = int(2 ** self.dice.uniform(0, 15 if self.dice.random() < 0.1 else 10))
        return {"n": token, "v": self.dice.randrange(40), "pad": "x" * pad} | ({"_rev": revision} if revision else {})

    def contents(self, count):
        """Attachments of 1 byte to 3 MB: {name: (content, type)}."""
        found = {}
        for number in range(count):
            size = min(int(2 ** self.dice.uniform(0, 21.6)), MAXIMUM_ATTACHMENT)
            if self.dice.random() < 0.2:
                found[f"t{number}"] = ((f"{self.token()} " * size)[:size].encode(), "text/plain")
            else:
                found[f"b{number}"] = (self.dice.randbytes(size), "application/octet-stream")
        return found

    @staticmethod
    def noted(contents):
        return [attachment(name, content, "text" if kind == "text/plain" else "bytes") for name, (content, kind) in contents.items()]

    def with_stubs(self, chosen):
        """A body that keeps the attachments of a leaf, and the leaf that it leaves."""
        revision, _, attachments = chosen
        token = self.token()
        body = self.body(token, revision)
        if attachments:
            body["_attachments"] = {name: {"stub": True} for name, *_ in attachments}
        return body, leaf(None, token, attachments)

    def edited(self, item):
        """The body of an edit of one leaf, or of a new document, and the state that it leaves."""
        chosen = self.dice.choice(sorted(item.state, key=str)) if item.state else (None, None, ())
        if self.dice.random() < 0.7:
            body, left = self.with_stubs(chosen)
        else:
            token = self.token()
            body, left = self.body(token, chosen[0]), leaf(None, token)
        return body, (item.state - {chosen}) | {left}

    # Kinds of requests

    def put(self):
        if item := self.document():
            body, state = self.edited(item)
            self.write(item, state, "PUT", "/main/" + item.key[1], body)

    def bulk(self):
        chosen = {item.key: item for item in (self.document() for _ in range(self.dice.randrange(1, 7))) if item}
        edits = {item: self.edited(item) for item in chosen.values()}
        if not edits:
            return
        docs = [body | {"_id": item.key[1]} for item, (body, _) in edits.items()]
        answer, entries = self.ask({item: state for item, (_, state) in edits.items()}, "POST", "/main/_bulk_docs", {"docs": docs})
        done = {}
        for (item, entry), row in zip(entries.items(), answer):
            if "rev" in row:
                done[item] = entry
                entry.revisions.append(row["rev"])
                entry.state = frozenset((row["rev"], *one[1:]) if one[0] is None else one for one in entry.state)
        if done:
            self.ledger.acknowledge(done)
        for row in answer:
            if "rev" not in row:
                raise Refused(f"_bulk_docs: {row}", answer=row)

    def branch(self, item=None, shared=False):
        """A branch with a history of its own, by new_edits=false."""
        item = item or self.document(most=4)
        if item is None:
            return
        ids = [f"{self.dice.getrandbits(128):032x}" for _ in range(self.dice.randrange(1, 5))]
        revision, token = f"{len(ids)}-{ids[0]}", self.token()
        body = self.body(token) | {"_id": item.key[1], "_revisions": {"start": len(ids), "ids": ids}, "_rev": revision}
        state = ANY if shared else item.state | {leaf(revision, token)}
        if self.dice.random() < 0.5:
            answer, entries = self.ask({item: state}, "POST", "/main/_bulk_docs", {"docs": [body], "new_edits": False})
            if answer != []:
                raise Refused(f"_bulk_docs: {answer}", answer=answer[0])
        else:
            _, entries = self.ask({item: state}, "PUT", f"/main/{item.key[1]}?new_edits=false", body)
        entries[item].revisions.append(revision)
        self.ledger.acknowledge(entries)

    def shared(self):
        """A branch in a document that all writers write to."""
        name = f"shared-{self.dice.randrange(3)}"
        self.branch(self.ledger.item("main", name, self.number, first=ANY), shared=True)

    def settle(self):
        item = self.document(least=2)
        if item is None:
            return
        leaves = sorted(revision for revision, *_ in item.state)
        try:
            self.settle_leaves(item, leaves)
        except Refused as reason:
            # A deletion that contradicts a live leaf is a leaf of the conflict, too.
            if reason.status != 409 or not set(leaves) < set(reason.answer["leaves"]):
                raise
            self.settle_leaves(item, reason.answer["leaves"])

    def settle_leaves(self, item, leaves):
        path = "/main/_settle/" + item.key[1]
        if self.dice.random() < 0.7:
            kept = self.dice.choice(sorted(item.state, key=str))
            # A leaf that does not win is kept by writing its content as a child of the winner.
            _, entries = self.ask({item: frozenset([leaf(None, kept[1], kept[2])])}, "POST", path, {"keep": kept[0], "leaves": leaves})
        else:
            policy = {"name": "threeWayMerge", "on_clash": "winner"}
            _, entries = self.ask({item: ANY}, "POST", path, {"policy": policy, "leaves": leaves})
        self.ledger.acknowledge(entries)
        self.find_state(item)

    def find_state(self, item):
        """After an acknowledged settlement: what there is now."""
        rows = self.read(f"/main/{item.key[1]}?open_revs=all")
        found = [row["ok"] for row in rows if not row["ok"].get("_deleted")]
        if len(found) > 1:
            self.ledger.complain("a conflict after it was settled", f"{item.key}: {rows}")
        known = {one for entry in item.entries[-3:-1] for before in entry.state or () for one in before[2]}
        item.entries[-1].state = frozenset(leaf(one["_rev"], one["n"], from_stubs(one.get("_attachments", {}), known)) for one in found)

    def delete(self):
        if item := self.document(least=1):
            gone = self.dice.choice(sorted(item.state, key=str))
            self.write(item, item.state - {gone}, "DELETE", f"/main/{item.key[1]}?rev={gone[0]}")

    def inline(self):
        if item := self.document(most=1):
            contents, token = self.contents(self.dice.randrange(1, 4)), self.token()
            body = self.body(token, next((one[0] for one in item.state), None))
            body["_attachments"] = {name: {"content_type": kind, "data": base64.b64encode(content).decode()}
                                    for name, (content, kind) in contents.items()}
            self.write(item, frozenset([leaf(None, token, self.noted(contents))]), "PUT", "/main/" + item.key[1], body)

    def multipart(self):
        if item := self.document(most=1):
            contents, token = self.contents(self.dice.randrange(1, 4)), self.token()
            body = self.body(token, next((one[0] for one in item.state), None))
            body["_attachments"] = {name: {"content_type": kind, "follows": True, "length": len(content)}
                                    for name, (content, kind) in contents.items()}
            parts = [b"Content-Type: application/json\r\n\r\n" + json.dumps(body).encode()]
            parts += [f'Content-Disposition: attachment; filename="{name}"\r\nContent-Type: {kind}\r\n\r\n'.encode() + content
                      for name, (content, kind) in contents.items()]
            border = f"border{self.dice.getrandbits(64):x}".encode()
            data = b"".join(b"--" + border + b"\r\n" + part + b"\r\n" for part in parts) + b"--" + border + b"--"
            kind = {"Content-Type": f'multipart/related; boundary="{border.decode()}"'}
            self.write(item, frozenset([leaf(None, token, self.noted(contents))]), "PUT", "/main/" + item.key[1], data, kind)

    def alone(self):
        if item := self.document(least=1, most=1):
            [(revision, token, attachments)] = item.state
            [(name, (content, kind))] = self.contents(1).items()
            left = {one for one in attachments if one[0] != name} | set(self.noted({name: (content, kind)}))
            self.write(item, frozenset([leaf(None, token, left)]), "PUT", f"/main/{item.key[1]}/{name}?rev={revision}", content,
                       {"Content-Type": kind})

    def detach(self):
        if item := self.document(least=1, most=1):
            [(revision, token, attachments)] = item.state
            if attachments:
                gone = self.dice.choice(sorted(attachments))
                self.write(item, frozenset([leaf(None, token, attachments - {gone})]), "DELETE",
                           f"/main/{item.key[1]}/{gone[0]}?rev={revision}")

    def purge(self):
        if item := self.document(least=1):
            rows = self.read(f"/main/{item.key[1]}?open_revs=all")
            # A purge that is never answered may be done, too.
            leaves = [row["ok"]["_rev"] for row in rows]
            answer, entries = self.ask({item: ABSENT}, "POST", "/main/_purge", {item.key[1]: leaves}, purges=True)
            self.ledger.acknowledge(entries)

    def local(self):
        item, path = self.ledger.item("local", f"l{self.number}"), f"/main/_local/l{self.number}"
        if not item.certain:
            return
        if item.state and self.dice.random() < 0.3:
            [(revision, *_)] = item.state
            _, entries = self.ask({item: ABSENT}, "DELETE", f"{path}?rev={revision}")
            self.ledger.acknowledge(entries)
        else:
            token = self.token()
            self.write(item, frozenset([leaf(None, token)]), "PUT", path, self.body(token, next((one[0] for one in item.state), None)))
            # A deleted local document begins with the same revision again.
            item.entries[-1].revisions.clear()

    def view(self):
        path = "/main/_design/views/_view/by_v" + self.dice.choice(["?reduce=false&limit=5", "?group=true", ""])
        self.read(path)

    def find(self):
        self.read("/main/_find", {"selector": {"v": {"$gt": self.dice.randrange(40)}}, "limit": 5})

    def feed(self):
        self.read("/main/_changes?limit=20&descending=true")

    def compact(self):
        self.ask({}, "POST", "/main/_compact", {})

    def design(self):
        if self.number != 0:
            return
        item = self.ledger.item("main", "_design/views")
        if item.certain:
            body = design(self.token()) | {"_rev": next((one[0] for one in item.state), None)}
            if not body["_rev"]:
                del body["_rev"]
            self.write(item, frozenset([leaf(None, body["n"])]), "PUT", "/main/_design/views", body)

    def index(self):
        name = f"i{self.number}"
        item = self.ledger.item("index", name, first="absent")
        if not item.certain:
            return
        if item.state == "absent":
            fields = self.dice.choice([["v"], ["n"], ["v", "n"]])
            body = {"index": {"fields": fields}, "ddoc": name, "name": name}
            _, entries = self.ask({item: ",".join(fields)}, "POST", "/main/_index", body)
        else:
            _, entries = self.ask({item: "absent"}, "DELETE", f"/main/_index/{name}/json/{name}")
        self.ledger.acknowledge(entries)

    def database(self):
        name = f"own{self.number}"
        item = self.ledger.item("database", name, first="absent")
        if not item.certain:
            return
        if item.state == "absent":
            _, entries = self.ask({item: "empty"}, "PUT", "/" + name)
        elif item.state == "empty":
            token = self.token()
            _, entries = self.ask({item: token}, "PUT", f"/{name}/x", {"n": token})
        else:
            _, entries = self.ask({item: "absent"}, "DELETE", "/" + name)
        self.ledger.acknowledge(entries)

    def replication(self):
        """A stored replication to the database `copy`. The server adds its state to the document."""
        name = f"r{self.number}"
        item = self.ledger.item("_replicator", name, first="absent")
        if not item.certain:
            return
        if item.state == "absent":
            token = self.token()
            body = {"n": token, "source": self.server.url + "main", "target": self.server.url + "copy"}
            _, entries = self.ask({item: token}, "PUT", "/_replicator/" + name, body)
        else:
            while True:
                revision = self.read("/_replicator/" + name)["_rev"]
                try:
                    _, entries = self.ask({item: "absent"}, "DELETE", f"/_replicator/{name}?rev={revision}")
                    break
                except Refused as reason:
                    # The server wrote the state of the replication meanwhile.
                    if reason.status != 409:
                        raise
        self.ledger.acknowledge(entries)

    def user(self):
        name = f"u{self.number}"
        item = self.ledger.item("_users", name, first="absent")
        if item.certain:
            token, revision = self.token(), None
            if item.state != "absent":
                revision = self.read(f"/_users/org.couchdb.user:{name}")["_rev"]
            body = {"_id": f"org.couchdb.user:{name}", "name": name, "type": "user", "roles": [], "n": token, "password": token}
            _, entries = self.ask({item: token}, "PUT", f"/_users/org.couchdb.user:{name}", body | ({"_rev": revision} if revision else {}))
            self.ledger.acknowledge(entries)
