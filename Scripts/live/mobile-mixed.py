#!/usr/bin/env python3
"""Real replicators of several makers on one server: edits apart, each settles by its own rule, until all are quiet.

    mobile-mixed.py SEED [--settle PROGRAM] [--litecore PROGRAM[:vectors]]... [--pouchdb FOLDER]
                    [--documents N] [--rounds N] [--syncs SHARE] [--deletions SHARE] [--uniting] [--seeds N]

Two Settle devices, over HTTP and over WebSockets, and a client of CouchDB's API that writes branches and deletes the losers, are always
there. LiteCore's programs have the commands of Benchmarks/mobile/litecore.py and these; FOLDER holds `pouchdb.js` and
`pouchdb.memory.js` of PouchDB's distribution, which Node runs.

    PROGRAM puts DB.cblite2              writes documents: lines of ID, tab, JSON; null deletes one
    PROGRAM all DB.cblite2               prints {"ID": {…}, …}, the documents
    PROGRAM sync DB.cblite2 URL          … settles conflicts as Couchbase Lite does, and prints "resolved": N, too;
                                         with --resolver unite it keeps the members of both sides

An edit replaces the document. With --uniting an edit adds a member, all devices keep the members of both sides of a conflict, and no
edit may be lost.

Ends with 0 if all devices and the server say the same, no conflict is open, and no edit is lost.
"""
import argparse
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Tests/Mobile"))
sys.path.append(os.path.join(os.path.dirname(__file__), "../../Benchmarks/server"))
from client import hexadecimal, http, serve  # noqa: E402
from fleet import Branches  # noqa: E402
from options import at_least, positive  # noqa: E402

MOST_ROUNDS = 14


def members(document):
    return {name: value for name, value in document.items() if not name.startswith("_")}


class Device:
    """Holds the edits between two syncs, and what the last sync has left, so that few processes run."""

    def __init__(self):
        self.edits, self.documents, self.conflicts = [], {}, []

    def edit(self, id, value):
        self.edits.append((id, value))
        self.documents[id] = value
        if value is None:
            del self.documents[id]

    def state(self):
        return self.documents

    def sync(self):
        edits, self.edits = self.edits, []
        moved, self.documents = self.exchange(edits)
        return moved


class LiteCore(Device):
    def __init__(self, program, folder, port, unites):
        super().__init__()
        self.program, _, kind = program.partition(":")
        self.name = f"{os.path.basename(self.program)} {kind or 'trees'}"
        self.path, self.url = os.path.join(folder, f"{self.name.replace(' ', '-')}.cblite2"), f"ws://127.0.0.1:{port}/db"
        self.resolver = ["--resolver", "unite"] if unites else []
        self.run("new", *(["--vv"] if kind == "vectors" else []))

    def run(self, command, *words, lines=""):
        result = subprocess.run([self.program, command, self.path, *words], input=lines, capture_output=True, text=True)
        assert result.returncode == 0, (self.name, command, result.stderr)
        return result.stdout

    def exchange(self, edits):
        if edits:
            self.run("puts", lines="".join(f"{id}\t{json.dumps(value)}\n" for id, value in edits))
        result = json.loads(self.run("sync", self.url, "--user", "admin", "--password", "admin", *self.resolver))
        assert result["error"] is None, (self.name, result)
        return result["documents"] + result["resolved"], json.loads(self.run("all"))


class Settle(Device):
    def __init__(self, program, folder, scheme, port):
        super().__init__()
        self.program, self.name = program, f"Settle over {scheme}"
        self.path, self.url = os.path.join(folder, scheme), f"{scheme}://admin:admin@127.0.0.1:{port}/db"
        subprocess.run([program, "create", self.path, "--quiet"], check=True)

    def exchange(self, edits):
        lines = [f"delete {id} --force" if value is None else f"put {id} {shlex.quote(json.dumps(value))} --force" for id, value in edits]
        lines += [f"sync {self.url} --policy threeWayMerge", "docs --bodies", "docs --conflicts"]
        printed = subprocess.run([self.program, "shell", self.path, "--json"], input="\n".join(lines), capture_output=True, text=True).stdout
        results = [json.loads(line) for line in printed.splitlines()]
        [result] = [result for result in results if "received" in result]
        moved = result["sent"]["revisions"] + result["received"]["revisions"] + result["received"]["settled"]
        self.conflicts = [document["id"] for document in results if "conflicts" in document]
        return moved, {document["_id"]: members(document) for document in results if "_id" in document}


class CouchDBClient(Branches):
    """Writes branches by CouchDB's API, keeps the winner, and deletes the others, as most apps do."""

    def __init__(self, port, unites):
        super().__init__("CouchDB's API", port, "db", None)
        self.unites = unites

    def edit(self, id, value):
        path = self.documents.get(id, {}).get("path", [])
        revision = f"{len(path) + 1}-{hexadecimal(self.name, id, json.dumps(value), path[:1])[:32]}"
        self.documents[id] = {"body": value, "path": [revision] + path}
        self.dirty.add(id)

    def state(self):
        return {id: document["body"] for id, document in self.documents.items() if document["body"] is not None}

    def sync(self):
        moved = len(self.dirty)
        for id in sorted(self.dirty):
            body = self.documents[id]["body"]
            self.store(id, self.documents[id]["path"], {"_deleted": True} if body is None else body)
        self.dirty.clear()
        self.documents.clear()
        rows = json.loads(http(self.port, "GET", "/db/_all_docs?include_docs=true&conflicts=true"))["rows"]
        moved += sum(self.settle(row["doc"]) for row in rows)
        ids = json.dumps({"docs": [{"id": row["id"]} for row in rows]})
        for row in json.loads(http(self.port, "POST", "/db/_bulk_get?revs=true", ids))["results"]:
            [document] = [one["ok"] for one in row["docs"] if not one["ok"].get("_deleted")]
            self.documents[row["id"]] = {"body": members(document), "path": self.path(document)}
        return moved

    def settle(self, document):
        id, losers = document["_id"], document.pop("_conflicts", [])
        if losers and self.unites:
            for revision in losers:
                document |= members(json.loads(http(self.port, "GET", f"/db/{id}?rev={revision}")))
            http(self.port, "PUT", f"/db/{id}", json.dumps(document))
        for revision in losers:
            http(self.port, "DELETE", f"/db/{id}?rev={revision}")
        return len(losers)


class PouchDB:
    name = "PouchDB"

    def __init__(self, folder, port):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pouchdb-device.js")
        words = ["node", script, os.path.abspath(folder), f"http://admin:admin@127.0.0.1:{port}/db"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ids = set()

    def call(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())
        assert not (isinstance(result, dict) and "error" in result), result
        return result

    def edit(self, id, value):
        self.call(op="edit", id=id, body=value)

    def state(self):
        found = {id: self.call(op="get", id=id) for id in self.ids}
        return {id: body for id, body in found.items() if body is not None}

    def sync(self):
        return self.call(op="sync")


def edit(device, id, step, chosen, dice, kept):
    if chosen.uniting:
        name = f"{device.name} {step}"
        kept.setdefault(id, set()).add(name)
        device.edit(id, {**device.state().get(id, {}), name: True})
    elif chosen.deletions and dice.random() < chosen.deletions and id in device.state():
        device.edit(id, None)
    else:
        device.edit(id, {"by": device.name, "step": step})


def meet(seed, chosen, folder, port):
    dice = random.Random(seed)
    devices = [LiteCore(program, folder, port, chosen.uniting) for program in chosen.litecore]
    devices += [Settle(chosen.settle, folder, scheme, port) for scheme in ("http", "ws")]
    devices.append(CouchDBClient(port, chosen.uniting))
    ids, kept, edits = [f"document-{number}" for number in range(chosen.documents)], {}, 0
    if chosen.pouchdb:
        devices.append(PouchDB(chosen.pouchdb, port))
        devices[-1].ids.update(ids)
    for step in range(chosen.rounds * max(24, chosen.documents)):
        device = dice.choice(devices)
        if dice.random() < 1 - chosen.syncs:
            edit(device, dice.choice(ids), step, chosen, dice, kept)
            edits += 1
        else:
            device.sync()
    moved = []
    while len(moved) < MOST_ROUNDS and (not moved or moved[-1]):
        moved.append(sum(device.sync() for device in dice.sample(devices, len(devices))))
    rows = json.loads(http(port, "GET", "/db/_all_docs?include_docs=true&conflicts=true"))["rows"]
    conflicts = {"the server": [row["id"] for row in rows if "_conflicts" in row["doc"]]}
    conflicts |= {device.name: device.conflicts for device in devices if isinstance(device, Settle)}
    open_ones = {id for ids in conflicts.values() for id in ids}
    states = {device.name: device.state() for device in devices}
    states["the server"] = {row["id"]: members(row["doc"]) for row in rows}
    unequal = [id for id in ids if any(state.get(id) != states["the server"].get(id) for state in states.values())]
    lost = {id: sorted(names - states["the server"].get(id, {}).keys()) for id, names in kept.items()}
    lost = {id: names for id, names in lost.items() if names}
    print(f"seed {seed}: {len(devices)} devices, {edits} edits, moved in each round {moved}, "
          f"{'DIFFERENT' if unequal else 'equal'}, {len(open_ones)} open conflicts, {sum(map(len, lost.values()))} edits lost", flush=True)
    for id in sorted({*unequal, *open_ones, *lost}):
        print(f"  {id}: lost {lost.get(id, [])}, in conflict at {[name for name, ids in conflicts.items() if id in ids]}")
        for name, state in states.items():
            print(f"    {name}: {json.dumps(state.get(id))}")
    return not unequal and not open_ones and not lost and moved[-1] == 0


def trial(seed, chosen):
    with tempfile.TemporaryDirectory(prefix="settle-mixed-") as folder:
        server, port = serve(chosen.settle, os.path.join(folder, "server"))
        try:
            http(port, "PUT", "/db")
            return meet(seed, chosen, folder, port)
        finally:
            server.terminate()
            server.wait(timeout=30)


def missing(chosen):
    """The programs and files of other makers that are not there."""
    programs = [program.partition(":")[0] for program in chosen.litecore] + (["node"] if chosen.pouchdb else [])
    files = [os.path.join(chosen.pouchdb, name) for name in ("pouchdb.js", "pouchdb.memory.js")] if chosen.pouchdb else []
    return [program for program in programs if not shutil.which(program)] + [file for file in files if not os.path.exists(file)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("seed", type=int)
    arguments.add_argument("--settle", default=".build/release/settle")
    arguments.add_argument("--litecore", action="append", default=[])
    arguments.add_argument("--pouchdb")
    arguments.add_argument("--documents", type=positive, default=2)
    arguments.add_argument("--rounds", type=positive, default=1, help="how many times each as many steps as documents, and at least 24")
    arguments.add_argument("--syncs", type=at_least(0, float), default=0.4, help="how many of the steps are no edits but syncs")
    arguments.add_argument("--deletions", type=at_least(0, float), default=0, help="how many of the edits of a document delete it")
    arguments.add_argument("--uniting", action="store_true")
    arguments.add_argument("--seeds", type=positive, default=1, help="how many seeds, one by one")
    chosen = arguments.parse_args()
    if chosen.pouchdb and (chosen.uniting or chosen.deletions):
        arguments.error("the PouchDB device deletes and unites nothing")
    if names := missing(chosen):
        arguments.error(f"there is no program or file {', '.join(names)}")
    failed = [seed for seed in range(chosen.seed, chosen.seed + chosen.seeds) if not trial(seed, chosen)]
    if chosen.seeds > 1:
        print(f"{chosen.seeds - len(failed)} of {chosen.seeds} seeds passed{f', all but {failed}' if failed else ''}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
