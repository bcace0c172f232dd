#!/usr/bin/env python3
"""A device with version vectors that behaves as LiteCore 4.1.0 does, and what has to arrive from it and at it.

    vectors.py PORT SCENARIO          ends with 0 if all is as expected; the database has the scenario's name

What its public source says (VectorDocument.cc, RevFinder.cc, Pusher.cc), and what a server therefore has to expect:

- A proposal names two single versions: the device's own, and the one that it takes for the server's. After a push the latter is the
  version that was pushed, and not a vector.
- Of two vectors the one is newer that has a version of the other one's current source that is not older than the other one's
  current version. Other sources do not count.
- A row of `changes` that is not newer is not asked for; the device only takes it for the server's version from then on.
- A document of a database that was upgraded from trees keeps its id until its next edit. It is compared with a version of the
  source `Revision+Tree+Encoding` by generation and digest.
"""
import base64
import json
import sys

from client import ERROR, REPLY, Client, error, hexadecimal, http

TREE = "Revision+Tree+Encoding"


class Conflict(AssertionError):
    """The device found a conflict, which its default resolver would settle for one side."""


def encoded(id):
    """The version that an id of a tree is."""
    generation, digest = id.split("-")
    return f"{int(generation) << 40 | int((digest + '0' * 10)[:10], 16):x}@{TREE}"


def parts(text):
    """The versions of a text, as pairs of a time and a source; the ids of a tree in it."""
    names = [one.strip() for one in text.replace(";", ",").split(",") if one.strip()]
    versions = [(int(time, 16), source) for time, source in (one.split("@") for one in names if "@" in one)]
    return versions, [one for one in names if "@" not in one]


def has(vector, version):
    return any(source == version[1] and time >= version[0] for time, source in vector)


def order(own, other):
    """`same`, `newer`, `older` or `conflict`: how one vector is to another one."""
    if own[0] == other[0]:
        return "same"
    mine, theirs = has(own, other[0]), has(other, own[0])
    return "conflict" if mine == theirs else "newer" if mine else "older"


class Device:
    now = 0x18E9CCB8AD570000

    def __init__(self, name, port, database, pulls=True):
        self.name, self.port, self.database, self.pulls = name, port, database, pulls
        self.source = base64.b64encode(bytes.fromhex(hexadecimal(name))[:16]).decode()[:-2]
        self.documents, self.unsent, self.since, self.failures = {}, [], 0, []
        # Documents that a lookup of `changes` fails for.
        self.broken = set()

    def edit(self, id, body, deleted=False):
        Device.now += 0x10000
        own = self.documents.get(id, {"vector": [], "remote": ""})
        vector = [one for one in own.get("vector", []) if one[1] != self.source]
        self.documents[id] = {"vector": [(Device.now, self.source)] + vector, "body": body, "deleted": deleted, "remote": own["remote"],
                              "legacy": own.get("id") or own.get("legacy")}
        if id not in self.unsent:
            self.unsent.append(id)

    @staticmethod
    def vector(document):
        return parts(encoded(document["id"]))[0] if "id" in document else document["vector"]

    def name_of(self, document):
        return document.get("id") or "{:x}@{}".format(*document["vector"][0])

    def sync(self, reset=False):
        if reset:
            self.since, self.unsent = 0, [id for id, one in self.documents.items() if one["remote"] != self.name_of(one)]
        client = Client(self.port, self.database, "BLIP_3+CBMobile_4")
        # The replicator pulls while it pushes. What it pushes is taken for the server's version when that was answered.
        if self.pulls:
            self.pull(client)
        self.push(client)
        client.close()

    def push(self, client):
        rows, ids = [], [id for id in self.unsent]
        for id in ids:
            one = self.documents[id]
            rows.append([id, self.name_of(one), one["remote"], 10])
        if not rows:
            return
        answer = client.ask({"Profile": "proposeChanges", "conflictIncludesRev": "true"}, json.dumps(rows).encode())
        assert answer.kind == REPLY, answer.body
        for id, status in zip(ids, answer.json() + [0] * len(ids)):
            one = self.documents[id]
            name = self.name_of(one)
            if status == 0:
                properties = {"Profile": "rev", "id": id, "rev": name, "sequence": "1", "noconflicts": "true"}
                others = [f"{time:x}@{source}" for time, source in one.get("vector", [])[1:]]
                # The last id of the tree, and that of the server, if it is one and no version.
                ids = {one.get("legacy"), one["remote"] if "-" in one["remote"] else None} - {None, name}
                others += sorted(ids, key=lambda id: -int(id.split("-")[0]))
                if others:
                    properties["history"] = ", ".join(others)
                if one["deleted"]:
                    properties["deleted"] = "1"
                said = client.ask(properties, json.dumps(one["body"]).encode())
                if said.kind == ERROR:
                    self.failures.append((id, "rev", error(said), said.body.decode()))
                    continue
            elif status != 304:
                self.failures.append((id, "proposeChanges", status))
                continue
            one["remote"] = name
            self.unsent.remove(id)

    def pull(self, client):
        answer = client.ask({"Profile": "subChanges", "since": str(self.since), "versioning": "version-vectors", "batch": "200"})
        assert answer.kind == REPLY, answer.body
        while True:
            message = client.next_request()
            if message.profile == "rev":
                self.take(message)
                client.respond(message)
            elif message.profile == "norev":
                self.failures.append((message.properties["id"], "norev", message.properties["reason"]))
            elif message.json():
                rows = message.json()
                bad = [row[1] for row in rows if row[1] in self.broken]
                if bad:
                    client.write(ERROR, message.number, {"Error-Domain": "SQLite", "Error-Code": "1"}, b"SQLite error 1")
                    continue
                client.respond(message, json.dumps([self.wish(*row[:3]) for row in rows]).encode())
                self.since = rows[-1][0]
            else:
                return

    def wish(self, sequence, id, rev):
        """The element of the answer to `changes`: 0, or what the device has of the document."""
        own = self.documents.get(id)
        if not own:
            return []
        if order(self.vector(own), parts(rev)[0]) in ("same", "newer"):
            own["remote"] = rev
            return 0
        return [self.name_of(own)]

    def take(self, message):
        id, versions = message.properties["id"], parts(message.properties["rev"] + "," + message.properties.get("history", ""))
        own = self.documents.get(id)
        document = {"vector": versions[0], "body": message.json(), "deleted": message.properties.get("deleted") == "1", "remote": message.properties["rev"]}
        if own and "id" in own and own["id"] not in versions[1]:
            raise Conflict(id, own["id"], message.properties)
        if own and "id" not in own:
            how = order(own["vector"], versions[0])
            if how == "conflict":
                raise Conflict(id, own["vector"], message.properties)
            if how != "older":
                own["remote"] = message.properties["rev"]
                return
        self.documents[id] = document
        if id in self.unsent:
            self.unsent.remove(id)


class Room:
    """A database of its own, and what clients of CouchDB do there."""

    def __init__(self, port, database):
        self.port, self.database = port, database
        http(port, "PUT", f"/{database}")

    def device(self, name, **options):
        return Device(name, self.port, self.database, **options)

    def get(self, id, query=""):
        return json.loads(http(self.port, "GET", f"/{self.database}/{id}{query}"))

    def put(self, id, body):
        try:
            body = {**body, "_rev": self.get(id)["_rev"]}
        except AssertionError:
            pass
        return json.loads(http(self.port, "PUT", f"/{self.database}/{id}", json.dumps(body)))["rev"]

    def branch(self, id, path, body):
        """Writes a revision with its ancestors, as a replicator of CouchDB does."""
        revisions = {"start": int(path[0].split("-")[0]), "ids": [one.split("-")[1] for one in path]}
        document = {"_id": id, "_rev": path[0], "_revisions": revisions, **body}
        failed = json.loads(http(self.port, "POST", f"/{self.database}/_bulk_docs", json.dumps({"docs": [document], "new_edits": False})))
        assert not failed, failed

    def expect(self, id, value, *devices):
        """The server's document and those of devices have a value, and nothing waits or has failed."""
        found = self.get(id)
        assert found["t"] == value, (value, found, [device.failures for device in devices])
        for device in devices:
            assert not device.failures and not device.unsent, (device.name, device.failures, device.unsent)
            assert device.documents[id]["body"] == {"t": value}, (device.name, device.documents[id])

    def edits(self, device, id, first=1, count=3, **options):
        """A device edits several times, and each edit arrives."""
        for value in range(first, first + count):
            device.edit(id, {"t": value})
            device.sync(**options)
            self.expect(id, value, device)


# A device edits what somebody else has touched

def http_document(room):
    """y: a document of a client of CouchDB."""
    device = room.device("anna")
    room.put("d", {"t": 0})
    device.sync()
    room.edits(device, "d")


def after_reset(room):
    """y, and the checkpoint is lost before each sync."""
    device = room.device("anna")
    room.put("d", {"t": 0})
    device.sync()
    room.edits(device, "d", reset=True)


def push_only(room):
    """y, and the second replicator only pushes."""
    device = room.device("anna")
    room.put("d", {"t": 0})
    device.sync()
    device.pulls = False
    room.edits(device, "d")


def tree_document(room):
    """z: a document of a device with trees."""
    path = ["2-" + hexadecimal("z2"), "1-" + hexadecimal("z1")]
    room.branch("d", path, {"t": 0})
    device = room.device("anna")
    device.sync()
    room.edits(device, "d")


def two_devices(room):
    """x: one creates, the other one edits, then the first one does, again and again."""
    anna, bert = room.device("anna"), room.device("bert")
    room.edits(anna, "d", count=1)
    bert.sync()
    room.edits(bert, "d", first=2, count=2)
    anna.sync()
    room.edits(anna, "d", first=4, count=3)
    bert.sync()
    room.expect("d", 6, anna, bert)
    room.edits(bert, "d", first=7, count=3)


def deletion(room):
    """v: the second edit is a deletion."""
    device = room.device("anna")
    room.put("d", {"t": 0})
    device.sync()
    room.edits(device, "d", count=1)
    device.edit("d", {}, deleted=True)
    device.sync()
    assert not device.failures and not device.unsent, device.failures
    changes = json.loads(http(room.port, "GET", f"/{room.database}/_changes"))["results"]
    assert [one.get("deleted") for one in changes if one["id"] == "d"] == [True], changes
    # And the document comes back by a further edit.
    room.edits(device, "d", first=5)


def deleted_by_http(room):
    """The server's state is a tombstone that a client of CouchDB wrote."""
    device = room.device("anna")
    room.edits(device, "d", count=2)
    rev = room.get("d")["_rev"]
    http(room.port, "DELETE", f"/{room.database}/d?rev={rev}")
    device.sync()
    assert device.documents["d"]["deleted"]
    room.edits(device, "d", first=5)


def settled_branch(room):
    """A branch that is added and ended later leaves the winner, so the device does not pull anything."""
    device = room.device("anna")
    root = room.put("d", {"t": 0})
    device.sync()
    room.edits(device, "d", count=2)
    low = "2-00" + hexadecimal("low")[2:32]
    room.branch("d", [low, root], {"t": "low"})
    room.branch("d", ["3-" + hexadecimal("end")[:32], low, root], {"_deleted": True})
    room.expect("d", 2, device)
    room.edits(device, "d", first=3)


def settled_beside_id(room):
    """The same, and the winner is a revision of a client of CouchDB that the device has pulled."""
    device = room.device("anna")
    root = room.put("d", {"t": 0})
    room.put("d", {"t": 1})
    device.sync()
    low = "2-00" + hexadecimal("low")[2:32]
    device.edit("d", {"t": 2})
    room.branch("d", [low, root], {"t": "low"})
    room.branch("d", ["3-" + hexadecimal("end")[:32], low, root], {"_deleted": True})
    # It pushes before it pulls.
    client = Client(room.port, room.database, "BLIP_3+CBMobile_4")
    device.push(client)
    client.close()
    room.expect("d", 2, device)
    room.edits(device, "d", first=3)


def open_branch(room):
    """A branch is open that a client of CouchDB wrote, which devices do not see."""
    device = room.device("anna")
    root = room.put("d", {"t": 0})
    device.sync()
    room.edits(device, "d", count=2)
    room.branch("d", ["2-00" + hexadecimal("low")[2:32], root], {"t": "low"})
    room.edits(device, "d", first=3)
    assert len(room.get("d", "?conflicts=true")["_conflicts"]) == 1


def deleted_beside(room, number, *devices):
    """A client of CouchDB writes a branch that wins, all devices pull it, and the client deletes it."""
    path = room.get("d", "?revs=true")["_revisions"]
    parents = [f"{path['start'] - place}-{digest}" for place, digest in enumerate(path["ids"])][1:]
    high = f"{path['start']}-ff" + hexadecimal(f"high{number}")[2:32]
    room.branch("d", [high, *parents], {"t": "high"})
    for device in devices:
        # The branch was made apart from what a device has, whose resolver takes the server's side.
        try:
            device.sync()
        except Conflict as conflict:
            *_, properties = conflict.args
            theirs, mine = parts(properties["rev"] + "," + properties.get("history", ""))[0], device.documents["d"]["vector"]
            others = {}
            for time, source in theirs[1:] + mine:
                others[source] = max(time, others.get(source, 0))
            vector = theirs[:1] + [(time, source) for source, time in others.items() if source != theirs[0][1]]
            device.documents["d"] = {"vector": vector, "body": {"t": "high"}, "deleted": False, "remote": properties["rev"]}
            device.sync()
    room.expect("d", "high", *devices)
    http(room.port, "DELETE", f"/{room.database}/d?rev={high}")


def returned(room):
    """The winner beside an open branch is deleted, and the branch, which devices have seen before, is the state again."""
    anna, bert = room.device("anna"), room.device("bert")
    room.edits(anna, "d", count=2)
    bert.sync()
    for number in range(3):
        deleted_beside(room, number, anna, bert)
        for device in (anna, bert):
            device.sync()
            room.expect("d", 2, device)
        # And once more without a change.
        for device in (anna, bert):
            device.sync(reset=True)
        room.expect("d", 2, anna, bert)
    fresh = room.device("carl")
    fresh.sync()
    room.expect("d", 2, anna, bert, fresh)
    room.edits(bert, "d", first=3)
    anna.sync()
    room.expect("d", 5, anna, bert)
    room.edits(anna, "d", first=6)


def returned_unsent(room):
    """A device has an unsent edit of the branch: it was made on the state, which has got another name."""
    anna, bert = room.device("anna"), room.device("bert")
    room.edits(anna, "d", count=2)
    deleted_beside(room, 0)
    anna.edit("d", {"t": 3})
    client = Client(room.port, room.database, "BLIP_3+CBMobile_4")
    anna.push(client)
    client.close()
    room.expect("d", 3, anna)
    anna.sync()
    bert.sync()
    room.edits(anna, "d", first=4)
    bert.sync()
    room.expect("d", 6, anna, bert)


def returned_far_below(room):
    """The deleted branch is much longer, so each edit of the other one is still below it; all of them arrive."""
    anna, bert = room.device("anna"), room.device("bert")
    room.edits(anna, "d", count=2)
    bert.sync()
    path = room.get("d", "?revs=true")["_revisions"]
    root = f"1-{path['ids'][-1]}"
    long = [f"{place}-" + hexadecimal(f"long{place}")[:32] for place in range(9, 1, -1)]
    room.branch("d", [*long, root], {"t": "long"})
    http(room.port, "DELETE", f"/{room.database}/d?rev={long[0]}")
    for value in range(3, 12):
        device, other = (anna, bert) if value % 2 else (bert, anna)
        device.sync()
        room.edits(device, "d", first=value, count=1)
        other.sync()
        room.expect("d", value, anna, bert)


def apart(room):
    """An edit that was made apart is refused, also with the right source."""
    anna, bert = room.device("anna"), room.device("bert")
    room.edits(anna, "d", count=2)
    bert.sync()
    bert.edit("d", {"t": "bert"})
    room.edits(anna, "d", first=3, count=1)
    client = Client(room.port, room.database, "BLIP_3+CBMobile_4")
    bert.push(client)
    client.close()
    assert [one[1:2] for one in bert.failures] == [("proposeChanges",)] and bert.failures[0][2]["status"] == 409, bert.failures
    name = bert.name_of(bert.documents["d"])
    said = Client(room.port, room.database, "BLIP_3+CBMobile_4").ask(
        {"Profile": "rev", "id": "d", "rev": name, "history": "{:x}@{}".format(*bert.documents["d"]["vector"][1]), "noconflicts": "true"}, b"{}")
    assert error(said) == ("HTTP", 409), said.body
    assert room.get("d")["t"] == 3


# A database of trees that was opened with vectors

def upgraded(room):
    """D1b: an unsent edit under an id of a tree, and a client of CouchDB has written another one that counts as older."""
    root = room.put("d", {"t": 0})
    device = room.device("anna")
    device.documents["d"] = {"id": "2-ff" + hexadecimal("unsent")[2:], "body": {"t": "device"}, "deleted": False, "remote": root}
    device.unsent = ["d"]
    other = room.put("d", {"t": "http"})
    device.sync()
    assert device.documents["d"]["remote"] in (encoded(other), device.documents["d"]["id"])
    # The device took the server's revision for an ancestor, so it is one: a settled branch, and no conflict.
    room.expect("d", "device", device)
    found = room.get("d", "?conflicts=true&deleted_conflicts=true")
    assert "_conflicts" not in found and len(found["_deleted_conflicts"]) == 1, found
    assert other.split("-")[1] in http(room.port, "GET", f"/{room.database}/d?open_revs=all&revs=true").decode()
    bert = room.device("bert")
    bert.sync()
    room.expect("d", "device", device, bert)
    device.sync()
    room.edits(device, "d")
    bert.sync()
    room.expect("d", 3, device, bert)


def upgraded_deletion(room):
    """D1b with a deletion that is not sent yet."""
    root = room.put("d", {"t": 0})
    device = room.device("anna")
    device.documents["d"] = {"id": "2-ff" + hexadecimal("unsent")[2:], "body": {}, "deleted": True, "remote": root}
    device.unsent = ["d"]
    room.put("d", {"t": "http"})
    device.sync()
    changes = json.loads(http(room.port, "GET", f"/{room.database}/_changes"))["results"]
    assert not device.failures and [one.get("deleted") for one in changes] == [True], (device.failures, changes)


def upgraded_beside_deletion(room):
    """D1b, and the client of CouchDB has deleted the document."""
    root = room.put("d", {"t": 0})
    device = room.device("anna")
    device.documents["d"] = {"id": "2-ff" + hexadecimal("unsent")[2:], "body": {"t": "device"}, "deleted": False, "remote": root}
    device.unsent = ["d"]
    http(room.port, "DELETE", f"/{room.database}/d?rev={root}")
    device.sync()
    room.expect("d", "device", device)
    # It takes the server's state, which has a version.
    device.sync()
    room.edits(device, "d")


def upgraded_alone(room):
    """An unsent edit under an id of a tree, and nobody else has edited."""
    root = room.put("d", {"t": 0})
    device = room.device("anna")
    device.documents["d"] = {"id": "2-ff" + hexadecimal("unsent")[2:], "body": {"t": "device"}, "deleted": False, "remote": root}
    device.unsent = ["d"]
    device.pull = lambda client: None
    device.sync()
    found = room.get("d", "?conflicts=true")
    assert found["t"] == "device", (found, device.failures)


def upgraded_meanwhile(room):
    """The server's revision changes between the proposal and the revision, which is refused then."""
    root = room.put("d", {"t": 0})
    known = room.put("d", {"t": 1})
    client = Client(room.port, room.database, "BLIP_3+CBMobile_4")
    name = "2-ff" + hexadecimal("unsent")[2:]
    answer = client.ask({"Profile": "proposeChanges", "conflictIncludesRev": "true"}, json.dumps([["d", name, encoded(known), 10]]).encode())
    assert answer.json() == [], answer.json()
    room.put("d", {"t": 2})
    said = client.ask({"Profile": "rev", "id": "d", "rev": name, "noconflicts": "true"}, b'{"t":"device"}')
    assert error(said) == ("HTTP", 409), (said.properties, said.body)
    assert room.get("d")["t"] == 2 and root


# A device that has edited nothing, and more edits of others than the server keeps

def stemmed(room, limit=None, edits=1001):
    """D3: the device has a version that the server has forgotten."""
    if limit:
        http(room.port, "PUT", f"/{room.database}/_revs_limit", str(limit))
    anna, bert = room.device("anna"), room.device("bert")
    room.edits(anna, "d", count=1)
    bert.sync()
    rev = room.get("d")["_rev"]
    for value in range(edits):
        rev = json.loads(http(room.port, "PUT", f"/{room.database}/d", json.dumps({"t": value, "_rev": rev})))["rev"]
    anna.sync()
    bert.sync()
    room.expect("d", edits - 1, anna, bert)
    room.edits(anna, "d", first=5000, count=2)
    bert.sync()
    room.expect("d", 5001, anna, bert)
    # The device's own edits pass the limit, too, for one that knows an edit of a client of CouchDB alone.
    room.put("d", {"t": 5002})
    carl = room.device("carl")
    carl.sync()
    anna.sync()
    room.edits(anna, "d", first=6000, count=(limit or 0) * 2)
    for device in (bert, carl):
        device.sync()
    room.expect("d", room.get("d")["t"], anna, bert, carl)


def stemmed_early(room):
    """The same with few revisions, so that all that is kept of others passes the limit again and again."""
    stemmed(room, limit=3, edits=20)


def stemmed_authors(room):
    """Many devices write one after the other beyond the limit, and each knows its own version again."""
    http(room.port, "PUT", f"/{room.database}/_revs_limit", "2")
    devices = [room.device(f"device-{number}") for number in range(12)]
    for device in devices * 3:
        device.sync()
        device.edit("d", {"t": device.now})
        device.sync()
        room.expect("d", device.documents["d"]["body"]["t"], device)
    room.put("d", {"t": "last"})
    for device in devices:
        device.sync()
        room.expect("d", "last", device)
    # As many as there are authors, and the two of the limit.
    assert len(json.loads(http(room.port, "GET", f"/{room.database}/d?revs=true"))["_revisions"]["ids"]) == 2


# A document that the device can't look up

def unreadable(room):
    """D8: LiteCore answers a page with an error if one of its documents is such; all others arrive, also later ones."""
    device = room.device("anna")
    docs = [{"_id": f"doc-{n:03}", "t": n} for n in range(450)]
    http(room.port, "POST", f"/{room.database}/_bulk_docs", json.dumps({"docs": docs}))
    device.broken = {"doc-000", "doc-077", "doc-078", "doc-199", "doc-200", "doc-449"}
    device.edit("mine", {"t": "mine"})
    device.sync()
    missing = {one["_id"] for one in docs} - set(device.documents)
    assert missing == device.broken, sorted(missing)
    room.expect("mine", "mine", device)
    room.put("doc-077", {"t": "again"})
    room.put("later", {"t": "later"})
    device.sync()
    room.expect("later", "later", device)
    # Nothing but such a document is left.
    room.put("doc-077", {"t": "and again"})
    device.sync()
    assert not device.failures, device.failures
    device.broken = set()
    device.sync(reset=True)
    room.expect("doc-077", "and again", device)
    assert not {one["_id"] for one in docs} - set(device.documents)


def unreadable_continuous(room):
    """The same while the device stays connected, and wants the rest of a page before anything else is sent."""
    docs = [{"_id": f"doc-{n:03}", "t": n} for n in range(40)]
    http(room.port, "POST", f"/{room.database}/_bulk_docs", json.dumps({"docs": docs}))
    client = Client(room.port, room.database, "BLIP_3+CBMobile_4")
    assert client.ask({"Profile": "subChanges", "batch": "16", "continuous": "true", "versioning": "version-vectors"}).kind == REPLY
    found, offered = [], []
    while len(found) < 39 or offered[-1:] != [[]]:
        message = client.next_request()
        if message.profile == "changes":
            ids = [row[1] for row in message.json()]
            offered.append(ids)
            if "doc-005" in ids:
                client.write(ERROR, message.number, {"Error-Domain": "SQLite", "Error-Code": "1"}, b"SQLite error 1")
            else:
                client.respond(message, json.dumps([[] for _ in ids]).encode())
        else:
            found.append(message.properties["id"])
            client.respond(message)
    assert sorted(found) == [one["_id"] for one in docs if one["_id"] != "doc-005"], sorted(found)
    # The other rows of the first page came first, though the second page was answered before.
    assert sorted(found[:15]) == [f"doc-{n:03}" for n in range(16) if n != 5], found[:15]
    assert ["doc-005"] in offered, offered
    http(room.port, "PUT", f"/{room.database}/next", b"{}")
    message = client.next_request()
    assert [row[1] for row in message.json()] == ["next"], message.body


def main():
    port, scenario = int(sys.argv[1]), sys.argv[2]
    globals()[scenario](Room(port, scenario.replace("_", "-")))
    print("all is as expected")


if __name__ == "__main__":
    main()
