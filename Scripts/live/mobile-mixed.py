#!/usr/bin/env python3
"""Real replicators of several makers on one server: edits apart, each settles by its own rule, until all are quiet.

    mobile-mixed.py SEED --settle PROGRAM [--litecore PROGRAM[:vectors]]... [--pouchdb FOLDER]

Two Settle devices, over HTTP and over WebSockets, and a client of CouchDB's API that writes branches and deletes the losers, are always
there. LiteCore's programs have the commands of Benchmarks/mobile/litecore.py and these; FOLDER holds `pouchdb.js` and
`pouchdb.memory.js` of PouchDB's distribution, which Node runs.

    PROGRAM put DB.cblite2 ID JSON       writes a document
    PROGRAM get DB.cblite2 ID            prints {"body": {…}} for a document, nothing for a missing one
    PROGRAM sync DB.cblite2 URL          … settles conflicts as Couchbase Lite does, and prints "resolved": N, too

Ends with 0 if all devices say the same and no conflict is open.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Tests/Mobile"))
from client import hexadecimal, http, serve  # noqa: E402
from fleet import Branches  # noqa: E402

MOST_ROUNDS = 14


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def members(document):
    return {name: value for name, value in document.items() if not name.startswith("_")}


class LiteCore:
    def __init__(self, program, folder, port):
        self.program, _, kind = program.partition(":")
        self.name = f"{os.path.basename(self.program)} {kind or 'trees'}"
        self.path, self.url = os.path.join(folder, f"{self.name.replace(' ', '-')}.cblite2"), f"ws://127.0.0.1:{port}/db"
        run(self.program, "new", self.path, *(["--vv"] if kind == "vectors" else []))

    def edit(self, id, value):
        result = run(self.program, "put", self.path, id, json.dumps(value))
        assert result.returncode == 0, result.stderr

    def get(self, id):
        printed = run(self.program, "get", self.path, id).stdout
        return json.loads(printed)["body"] if printed.strip() else None

    def sync(self):
        result = json.loads(run(self.program, "sync", self.path, self.url, "--user", "admin", "--password", "admin").stdout)
        assert result["error"] is None, (self.name, result)
        return result["documents"] + result["resolved"]


class Settle:
    def __init__(self, program, folder, scheme, port):
        self.program, self.name = program, f"Settle over {scheme}"
        self.path, self.url = os.path.join(folder, scheme), f"{scheme}://admin:admin@127.0.0.1:{port}/db"
        run(program, "create", self.path)

    def edit(self, id, value):
        known = run(self.program, "get", self.path, id)
        revision = ["--rev", json.loads(known.stdout)["_rev"]] if known.returncode == 0 else []
        result = run(self.program, "put", self.path, id, json.dumps(value), *revision)
        assert result.returncode == 0, result.stderr

    def get(self, id):
        known = run(self.program, "get", self.path, id)
        return members(json.loads(known.stdout)) if known.returncode == 0 else None

    def sync(self):
        printed = run(self.program, "sync", self.path, self.url, "--policy", "threeWayMerge", "--json").stdout
        result = json.loads(printed.strip().splitlines()[-1])
        return result["sent"]["revisions"] + result["received"]["revisions"] + result["received"]["settled"]


class CouchDBClient(Branches):
    """Writes branches by CouchDB's API, keeps the winner, and deletes the others, as most apps do."""

    def edit(self, id, value):
        path = self.documents.get(id, {}).get("path", [])
        revision = f"{len(path) + 1}-{hexadecimal(self.name, id, json.dumps(value), path[:1])[:32]}"
        self.documents[id] = {"body": value, "path": [revision] + path}
        self.dirty.add(id)

    def get(self, id):
        return self.documents.get(id, {}).get("body")

    def sync(self):
        moved = len(self.dirty)
        for id in sorted(self.dirty):
            self.store(id, self.documents[id]["path"], self.documents[id]["body"])
        self.dirty.clear()
        for row in json.loads(http(self.port, "GET", "/db/_all_docs"))["rows"]:
            document = json.loads(http(self.port, "GET", f"/db/{row['id']}?conflicts=true&revs=true"))
            for revision in document.get("_conflicts", []):
                http(self.port, "DELETE", f"/db/{row['id']}?rev={revision}")
                moved += 1
            self.documents[row["id"]] = {"body": members(document), "path": self.path(document)}
        return moved


class PouchDB:
    name = "PouchDB"

    def __init__(self, folder, port):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pouchdb-device.js")
        words = ["node", script, os.path.abspath(folder), f"http://admin:admin@127.0.0.1:{port}/db"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())
        assert not (isinstance(result, dict) and "error" in result), result
        return result

    def edit(self, id, value):
        self.call(op="edit", id=id, body=value)

    def get(self, id):
        return self.call(op="get", id=id)

    def sync(self):
        return self.call(op="sync")


def meet(chosen, folder, port):
    dice = random.Random(chosen.seed)
    devices = [LiteCore(program, folder, port) for program in chosen.litecore]
    devices += [Settle(chosen.settle, folder, scheme, port) for scheme in ("http", "ws")]
    devices.append(CouchDBClient("CouchDB's API", port, "db", dice))
    if chosen.pouchdb:
        devices.append(PouchDB(chosen.pouchdb, port))
    edits = 0
    for step in range(24):
        device = dice.choice(devices)
        if dice.random() < 0.6:
            device.edit(dice.choice("ab"), {"by": device.name, "step": step})
            edits += 1
        else:
            device.sync()
    moved = []
    while len(moved) < MOST_ROUNDS and (not moved or moved[-1]):
        moved.append(sum(device.sync() for device in dice.sample(devices, len(devices))))
    states = {id: [device.get(id) for device in devices] for id in "ab"}
    isEqual = all(state == all_states[0] for all_states in states.values() for state in all_states)
    conflicts = sum(len(json.loads(http(port, "GET", f"/db/{id}?conflicts=true")).get("_conflicts", [])) for id in "ab")
    print(f"seed {chosen.seed}: {len(devices)} devices, {edits} edits, moved in each round {moved}, "
          f"{'equal' if isEqual else 'DIFFERENT'}, {conflicts} open conflicts", flush=True)
    if not isEqual:
        print(json.dumps(dict(zip((device.name for device in devices), zip(*states.values()))), indent=1))
    return isEqual and not conflicts and moved[-1] == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("seed", type=int)
    arguments.add_argument("--settle", default=".build/release/settle")
    arguments.add_argument("--litecore", action="append", default=[])
    arguments.add_argument("--pouchdb")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="settle-mixed-") as folder:
        server, port = serve(chosen.settle, os.path.join(folder, "server"))
        try:
            http(port, "PUT", "/db")
            sys.exit(0 if meet(chosen, folder, port) else 1)
        finally:
            server.terminate()
            server.wait(timeout=30)


if __name__ == "__main__":
    main()
