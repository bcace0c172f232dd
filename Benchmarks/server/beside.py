#!/usr/bin/env python3
"""Puts the same load on Settle and on a CouchDB, in turns on one machine, and prints the ratios of the medians.

    beside.py --settle PROGRAM --couchdb FOLDER [--runs 5] [--docs 50000] [--seconds 3] [--tests put,get,…] [--spinning 2] [--json]

FOLDER is a release of CouchDB, such as `rel/couchdb` after `make release` in its source; docs/PERFORMANCE.md says how to build one. In each
run each server starts with an empty folder and stock settings, on a free port, has the load of `load.py`, and ends. Settle's server has
full durability, which is its default. The processor time is that of the server: for CouchDB, of its Erlang process. --spinning lets so
many processes compute meanwhile, which count as others.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from connection import Connection
from couchdb import CouchDB, release
from options import add_settle, at_least, check_load, parser, positive, words
from processes import Server, end, launch

NAMES = {
    "put": "put, one connection", "putmany": "put, 16 connections", "get": "get, one connection", "bulk": "_bulk_docs",
    "getmany": "get, 16 connections", "changes": "_changes?include_docs", "alldocs": "_all_docs?include_docs", "replicate": "_replicate",
    "up": "_up, 16 connections",
}
PASSWORD = "beside"


options = parser(__doc__)
add_settle(options, required=True)
options.add_argument("--couchdb", type=release, required=True, metavar="FOLDER", help="a release of CouchDB")
options.add_argument("--runs", type=positive, default=5)
options.add_argument("--docs", type=positive, default=50_000)
options.add_argument("--seconds", type=positive, default=3, help="how long a test on 16 connections takes")
options.add_argument("--tests", type=words(*NAMES), default=",".join(list(NAMES)[:-1]))
options.add_argument("--spinning", type=at_least(0), default=0, help="how many processes compute meanwhile")
options.add_argument("--json", action="store_true", help="print the figures of each run as JSON")
given = options.parse_args()
check_load(options, given)


def measure(start):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return measure_in(folder, start)


def measure_in(folder, start):
    server = start(folder)
    try:
        Connection(server.url, "admin", PASSWORD).ask("GET", "/_up")
        # Both hash the password of the administrator after their start.
        time.sleep(3)
        load = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.py")
        said = subprocess.run(
            [sys.executable, load, "--url", server.url, "--password", PASSWORD, "--pid", str(server.process.pid), "--runs", "1",
             "--docs", str(given.docs), "--seconds", str(given.seconds), "--tests", ",".join(given.tests), "--json"],
            stdout=subprocess.PIPE, text=True)
        if said.returncode:
            sys.exit(said.returncode)
        return json.loads(said.stdout)
    finally:
        end(server.process)


for _ in range(given.spinning):
    launch([sys.executable, "-c", "while True: pass"])

starts = {
    "couchdb": lambda folder: CouchDB(given.couchdb, folder, PASSWORD), "settle": lambda folder: Server(given.settle, folder, PASSWORD)}
runs = {name: [] for name in starts}
for number in range(given.runs):
    for name, start in starts.items():
        runs[name].append(measure(start))
        print(f"{name}, run {number + 1} of {given.runs}", file=sys.stderr, flush=True)
if given.json:
    print(json.dumps(runs))
    sys.exit()


def median(name, kind, test):
    return statistics.median(run[kind][test][0] for run in runs[name])


print(f"{'':24} {'CouchDB':>10} {'settle':>10} {'ratio':>7}    processor, µs: CouchDB, settle    others used")
for test in given.tests:
    couchdb, settle = (median(name, "rates", test) for name in runs)
    costs = [median(name, "microseconds", test) for name in runs]
    others = max(median(name, "others", test) for name in runs)
    processor = "".join(f"{cost:14,.0f}" for cost in costs)
    print(f"{NAMES[test]:24} {couchdb:10,.0f} {settle:10,.0f} {settle / couchdb:7.1f}    {processor} {others:18.0%}")
peaks = [statistics.median(run["memory"]["Peak"] for run in runs[name]) for name in runs]
print(f"{'peak memory, MiB':24} {peaks[0]:10,.0f} {peaks[1]:10,.0f} {peaks[1] / peaks[0]:7.2f}")
