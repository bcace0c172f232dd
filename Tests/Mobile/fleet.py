#!/usr/bin/env python3
"""Devices of all kinds on one server: random edits apart, and what is left of them when all have met.

    fleet.py PORT DATABASE SEED          ends with 0 if all devices say the same, nothing is in conflict, and no edit is lost

A document is a set of words, and an edit adds one; a device that finds a conflict unites both sides. So a lost edit is a word
that is missing at the end.

    by tree      Couchbase Lite 2 and 3: one branch, ids of a tree, the server refuses what would branch
    by vector    Couchbase Lite 4: version vectors; a side that has all words wins without a new version
    by branches  CouchDB and PouchDB: writes branches, and settles them later, as it likes
"""
import base64
import json
import random
import sys

from client import ERROR, Client, error, hexadecimal, http


class Tree:
    """A device whose documents are paths of a tree."""

    protocols = "BLIP_3+CBMobile_3,BLIP_3+CBMobile_2"
    versioning = "rev-trees"

    def __init__(self, name, port, database, dice):
        self.name, self.port, self.database, self.dice = name, port, database, dice
        self.documents, self.dirty, self.pushed = {}, set(), 0

    def words(self, id):
        return self.documents[id]["words"] if id in self.documents else set()

    def edit(self, id, word):
        self.write(id, self.words(id) | {word}, self.documents.get(id, {}).get("path", []))

    def write(self, id, words, path):
        rev = f"{len(path) + 1}-{hexadecimal(self.name, id, sorted(words), path[:1])}"
        known = self.documents.get(id, {}).get("known", "")
        self.documents[id] = {"words": words, "path": [rev] + path, "known": known}
        self.dirty.add(id)

    def proposal(self, id):
        one = self.documents[id]
        return [id, one["path"][0], one["known"]]

    def revision(self, id):
        path = self.documents[id]["path"]
        return {"rev": path[0], "history": ",".join(path[1:])}

    def accepted(self, id):
        self.documents[id]["known"] = self.documents[id]["path"][0]

    def take(self, id, rev, history, words):
        path = [rev] + [one for one in history.split(",") if one]
        own = self.documents.get(id)
        if own and rev in own["path"]:
            own["known"] = rev
        elif not own or own["path"][0] in path or own["words"] <= words:
            self.documents[id] = {"words": words, "path": path, "known": rev}
            self.dirty.discard(id)
        else:
            own["known"] = rev
            self.write(id, own["words"] | words, path)

    def sync(self):
        client = Client(self.port, self.database, self.protocols)
        for _ in range(2):
            self.push(client)
            found = {}
            client.pull(found, versioning=self.versioning)
            for id, message in found.items():
                self.take(id, message.properties["rev"], message.properties.get("history", ""), set(message.json()["words"]))
        self.push(client)
        client.close()

    def push(self, client):
        ids = sorted(self.dirty)
        if not ids:
            return
        answer = client.ask({"Profile": "proposeChanges", "conflictIncludesRev": "true"}, json.dumps([self.proposal(id) for id in ids]).encode())
        statuses = answer.json() + [0] * len(ids)
        for id, status in zip(ids, statuses):
            if status == 0:
                said = client.ask({"Profile": "rev", "id": id, "noconflicts": "true", **self.revision(id)},
                                  json.dumps({"words": sorted(self.words(id))}).encode())
                if said.kind == ERROR:
                    assert error(said) == ("HTTP", 409), (self.name, said.body)
                    continue
                self.pushed += 1
            elif status != 304:
                assert (status if isinstance(status, int) else status["status"]) == 409, status
                continue
            self.accepted(id)
            self.dirty.discard(id)


class Vector(Tree):
    """A device whose documents have version vectors."""

    protocols = "BLIP_3+CBMobile_4"
    versioning = "version-vectors"
    now = 0x18E9CCB8AD570000

    def __init__(self, name, *rest):
        super().__init__(name, *rest)
        self.source = base64.b64encode(bytes.fromhex(hexadecimal(name))[:16]).decode()[:-2]

    def tick(self):
        Vector.now += 0x10000
        return Vector.now

    def edit(self, id, word):
        own = self.documents.get(id, {"vector": {}, "known": ""})
        self.put(id, self.words(id) | {word}, self.source, {**own["vector"], self.source: self.tick()}, own["known"])

    def put(self, id, words, source, vector, known):
        self.documents[id] = {"words": words, "source": source, "vector": vector, "known": known}
        self.dirty.add(id)

    def text(self, id):
        one = self.documents[id]
        others = [f"{time:x}@{source}" for source, time in one["vector"].items() if source != one["source"]]
        return f"{one['vector'][one['source']]:x}@{one['source']}", ", ".join(others)

    def proposal(self, id):
        return [id, self.text(id)[0], self.documents[id]["known"]]

    def revision(self, id):
        rev, history = self.text(id)
        return {"rev": rev, "history": history}

    def accepted(self, id):
        # As LiteCore does: a single version, after its own push as after a pull.
        self.documents[id]["known"] = self.text(id)[0]

    def take(self, id, rev, history, words):
        versions = [one.strip().split("@") for one in f"{rev},{history}".replace(";", ",").split(",") if "@" in one]
        vector = {source: int(time, 16) for time, source in reversed(versions)}
        text, own = rev, self.documents.get(id)

        def covers(one, other):
            return all(time <= one.get(source, 0) for source, time in other.items())

        if own and covers(own["vector"], vector):
            own["known"] = text
            return
        both = {source: max((own or {"vector": {}})["vector"].get(source, 0), vector.get(source, 0)) for source in {*vector, *(own or {"vector": {}})["vector"]}}
        if not own or covers(vector, own["vector"]) or own["words"] <= words:
            self.documents[id] = {"words": words, "source": versions[0][1], "vector": both, "known": text}
            self.dirty.discard(id)
        elif words <= own["words"] and own["source"] == self.source:
            # The own side wins, as it is.
            self.put(id, own["words"], self.source, both, text)
        else:
            self.put(id, own["words"] | words, self.source, {**both, self.source: self.tick()}, text)


class Branches(Tree):
    """A client of CouchDB's protocol, which writes branches and settles them."""

    def sync(self, settles=None):
        for id in sorted(self.dirty):
            self.store(id, self.documents[id]["path"], {"words": sorted(self.words(id))})
            self.pushed += 1
        self.dirty.clear()
        settles = self.dice.random() < 0.5 if settles is None else settles
        rows = json.loads(http(self.port, "GET", f"/{self.database}/_all_docs"))["rows"]
        for id in [row["id"] for row in rows]:
            leaves = [one["ok"] for one in json.loads(http(self.port, "GET", f"/{self.database}/{id}?open_revs=all&revs=true", kind="application/json"))]
            live = [one for one in leaves if not one.get("_deleted")]
            winner = json.loads(http(self.port, "GET", f"/{self.database}/{id}?revs=true"))
            if len(live) > 1 and settles:
                words = set().union(*(one["words"] for one in live))
                for one in live:
                    path = self.path(one)
                    if one["_rev"] == winner["_rev"]:
                        if words != set(winner["words"]):
                            self.store(id, [f"{len(path) + 1}-{hexadecimal(id, sorted(words), path[0])[:32]}"] + path, {"words": sorted(words)})
                    else:
                        self.store(id, [f"{len(path) + 1}-{hexadecimal('end', path[0])[:32]}"] + path, {"_deleted": True})
                    self.pushed += 1
                winner = json.loads(http(self.port, "GET", f"/{self.database}/{id}?revs=true"))
            self.documents[id] = {"words": set(winner["words"]), "path": self.path(winner), "known": ""}

    @staticmethod
    def path(document):
        start, ids = document["_revisions"]["start"], document["_revisions"]["ids"]
        return [f"{start - index}-{one}" for index, one in enumerate(ids)]

    def store(self, id, path, body):
        revisions = {"start": len(path), "ids": [one.split("-", 1)[1] for one in path]}
        document = {"_id": id, "_rev": path[0], "_revisions": revisions, **body}
        failed = json.loads(http(self.port, "POST", f"/{self.database}/_bulk_docs", json.dumps({"docs": [document], "new_edits": False})))
        assert not failed, failed


def main(port, database, seed):
    dice = random.Random(seed)
    kinds = [Tree, Tree, Vector, Vector, Branches, Branches]
    devices = [kind(f"{kind.__name__}{index}", port, database, dice) for index, kind in enumerate(kinds)]
    ids, words = ["a", "b", "c"], {}
    for step in range(40):
        device = dice.choice(devices)
        if dice.random() < 0.6:
            id, word = dice.choice(ids), f"{device.name}.{step}"
            device.edit(id, word)
            words.setdefault(id, set()).add(word)
        else:
            device.sync()
    rounds = 0
    while True:
        before = [device.pushed for device in devices]
        for device in dice.sample(devices, len(devices)):
            device.sync(True) if isinstance(device, Branches) else device.sync()
        rounds += 1
        if [device.pushed for device in devices] == before:
            break
        assert rounds < 12, f"seed {seed}: the devices do not become quiet"
    for id in words:
        found = json.loads(http(port, "GET", f"/{database}/{id}?conflicts=true"))
        assert "_conflicts" not in found, (seed, id, found)
        assert set(found["words"]) == words[id], (seed, id, words[id] - set(found["words"]))
        for device in devices:
            assert device.words(id) == words[id], (seed, id, device.name, words[id] - device.words(id))
    print(f"seed {seed}: {sum(map(len, words.values()))} edits, {sum(device.pushed for device in devices)} writes, quiet after {rounds} rounds")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
