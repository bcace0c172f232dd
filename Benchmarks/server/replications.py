#!/usr/bin/env python3
"""How continuous replications of one server take turns: how many have had how many turns, as time goes by.

    replications.py --settle PATH --folder FOLDER [--number 10000] [--jobs 500] [--turn 2] [--seconds 360] [--json]

One server of Settle on a free port gets twice as many databases as replications, each source with one document, and all
replications at once as documents of `_replicator`. Every few seconds all jobs are listed, and the turns in the history of each
are counted. At the end every target must have its document.
"""
import json
import os
import sys
import time

from connection import Connection
from options import above_zero, add_settle, parser, positive
from processes import Server, memory

options = parser(__doc__)
add_settle(options, required=True)
options.add_argument("--folder", required=True, help="where the databases are made; two for a replication, 68 KiB each")
options.add_argument("--number", type=positive, default=10000, help="of replications")
options.add_argument("--jobs", type=positive, default=500, help="how many run at once")
options.add_argument("--turn", type=positive, default=2, help="seconds of a turn, if others wait")
options.add_argument("--seconds", type=positive, default=360, help="how long to watch at most")
options.add_argument("--every", type=above_zero, default=10, help="seconds between two looks")
options.add_argument("--json", action="store_true", help="prints the figures as JSON")
given = options.parse_args()
password = "replications"
PAGE = 1000


def serve():
    """Starts the server with settings of its own."""
    os.makedirs(given.folder, exist_ok=True)
    settings = os.path.join(given.folder, "settle.json")
    with open(settings, "w") as file:
        json.dump({"replicator": {"max_jobs": given.jobs, "turn": given.turn, "private_addresses": "everybody"}}, file)
    os.chmod(settings, 0o600)
    return Server(given.settle, os.path.join(given.folder, "data"), password, "--config", settings)


def ask(connection, method, path, body=None, good=(200, 201, 202)):
    return connection.ask_json(method, path, body, good)


def turns(connection):
    """How often each replication was started."""
    counts, skip = {}, 0
    while True:
        page = ask(connection, "GET", f"/_scheduler/jobs?limit={PAGE}&skip={skip}")["jobs"]
        for job in page:
            counts[job["doc_id"]] = sum(event["type"] == "started" for event in job["history"])
        if len(page) < PAGE:
            return counts
        skip += PAGE


server = serve()
try:
    connection = Connection(server.url, "admin", password)
    ask(connection, "PUT", "/_replicator", good=(201, 412))
    for number in range(given.number):
        for side in ("s", "t"):
            ask(connection, "PUT", f"/{side}{number}", good=(201, 412))
        ask(connection, "PUT", f"/s{number}/a", {"n": number}, good=(201, 409))
    place = server.url.replace("http://", f"http://admin:{password}@")
    begun = time.perf_counter()
    for start in range(0, given.number, 500):
        ask(connection, "POST", "/_replicator/_bulk_docs", {"docs": [
            {"_id": f"r{number}", "source": f"{place}/s{number}", "target": f"{place}/t{number}", "continuous": True}
            for number in range(start, min(start + 500, given.number))]})
    rows = []
    while time.perf_counter() - begun < given.seconds:
        counts = turns(connection)
        had = [sum(count == number for count in counts.values()) for number in range(4)]
        had[0] += given.number - len(counts)
        rows.append({
            "seconds": round(time.perf_counter() - begun), "none": had[0], "one": had[1], "two": had[2],
            "three": had[3], "files": len(os.listdir(f"/proc/{server.pid}/fd")), "MiB": round(memory(server.pid))})
        if not given.json:
            print("  ".join(f"{name} {value:,}" for name, value in rows[-1].items()), flush=True)
        if had[0] == 0 and had[1] == 0:
            break
        time.sleep(given.every)
    missing = sum(
        ask(connection, "GET", f"/t{number}/a", good=(200, 404)).get("n") != number for number in range(given.number))
    if given.json:
        print(json.dumps({"replications": given.number, "looks": rows, "without their document": missing}))
    else:
        print(f"{missing:,} of {given.number:,} targets lack their document")
    sys.exit(1 if missing else 0)
finally:
    server.stop()
