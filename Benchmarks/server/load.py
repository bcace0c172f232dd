#!/usr/bin/env python3
"""Puts load on any server of CouchDB's API, one kind after the other, and prints the median of several rounds.

    load.py --settle .build/release/settle [--runs 5] [--tests put,get,…]                with a server of its own
    load.py --url http://127.0.0.1:5984 --user admin --password … [--pid SERVER_PID] [--runs 5] [--tests put,get,…]

    put        documents one by one on one connection          putmany    the same on 16 connections, by wrk
    get        documents one by one on one connection          getmany    the same on 16 connections, by wrk
    bulk       _bulk_docs, 1,000 documents a request           up         /_up on 16 connections, by wrk
    changes    _changes?include_docs, all in one answer        alldocs    _all_docs?include_docs, the same
    replicate  _replicate from bench_bulk to a new database of the same server; not by default

A get reads what put has written, and all others that read read what bulk has written. Of a server of its own,
and with --pid, it also says how much memory the server has, its processor time for each operation, and which part of the machine others
used in the meantime: above a few per cent a rate is a lower bound. The processor time includes making the database of a test. With --json
it prints the figures of each run instead. The databases bench_one, bench_bulk, bench_many and bench_copy are made and removed.
"""
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
import time

from client import connect, reach, server_options
from options import check_load, positive, words

TESTS = ("put", "get", "up", "bulk", "getmany", "putmany", "changes", "alldocs", "replicate")
options = server_options(__doc__)
options.add_argument("--runs", type=positive, default=5)
options.add_argument("--docs", type=positive, default=50_000)
options.add_argument("--single", type=positive, default=1_000, help="documents of the tests on one connection")
options.add_argument("--seconds", type=positive, default=3, help="how long a test by wrk takes")
options.add_argument("--tests", type=words(*TESTS), default=",".join(TESTS[:-1]))
options.add_argument("--json", action="store_true", help="print the figures of each run as JSON")
given = reach(options, check=check_load)
given.single = min(given.single, given.docs)
nouns = "time person year way day thing man world life hand part child eye woman place work week case point".split()
chance = random.Random(42)


def document(number):
    """About 470 bytes of JSON."""
    value = {
        "type": "invoice", "n": number, "group": number % 100, "price": round(chance.random() * 1000, 2),
        "name": f"{chance.choice(nouns)}-{chance.randrange(10**6)}", "active": number % 2 == 1,
        "tags": chance.choices(nouns, k=2), "at": f"2026-01-{1 + number % 28:02}T{number % 24:02}:00:00Z", "text": "",
    }
    value["text"] = " ".join(chance.choices(nouns, k=60))[: 440 - len(json.dumps(value))]
    return value


names = [f"doc-{number:08}" for number in range(given.docs)]
documents = [document(number) for number in range(given.docs)]
bodies = [json.dumps(value, separators=(",", ":")).encode() for value in documents]
batches = [
    json.dumps({"docs": [{"_id": names[n]} | documents[n] for n in range(start, min(start + 1000, given.docs))]}).encode()
    for start in range(0, given.docs, 1000)
]
client = connect(given)


def fresh(database):
    client.ask("DELETE", database, good=(200, 404))
    client.ask("PUT", database)


def one_by_one(requests, each=1):
    """Sends requests with so many operations each; gives the number of operations and the seconds that they took."""
    began = time.perf_counter()
    for text in requests:
        status, answer = client.exchange(text)
        if status not in (200, 201):
            raise SystemExit(f"{text.split(b' HTTP')[0].decode()}: {status} {answer[:200]!r}")
    return len(requests) * each, time.perf_counter() - began


def put():
    fresh("/bench_one")
    return one_by_one([client.request("PUT", f"/bench_one/{names[n]}", bodies[n]) for n in range(given.single)])


def get():
    order = chance.sample(range(given.single), given.single)
    return one_by_one([client.request("GET", f"/bench_one/{names[n]}") for n in order])


def bulk():
    fresh("/bench_bulk")
    requests = [client.request("POST", "/bench_bulk/_bulk_docs", batch) for batch in batches]
    return one_by_one(requests, given.docs / len(requests))


def wrk(script):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write("".join(f'wrk.headers["{name}"]="{value}"\n' for name, value in client.fields.items()) + script)
        file.flush()
        command = ["wrk", "-t1", "-c16", f"-d{given.seconds}s", "-s", file.name, f"http://{client.host}:{client.port}/_up"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        raise SystemExit(said)
    made = int(re.search(r"(\d+) requests in", said)[1])
    if not made:
        raise SystemExit(said)
    return made, made / float(re.search(r"Requests/sec:\s*([\d.]+)", said)[1])


def putmany():
    fresh("/bench_many")
    return wrk(
        f"local n=0\nlocal body=[==[{bodies[0].decode()}]==]\nrequest=function() n=n+1 "
        'return wrk.format("PUT","/bench_many/"..string.format("doc-%08d",n),nil,body) end\n')


def getmany():
    return wrk(
        'request=function() return wrk.format("GET",'
        f'"/bench_bulk/"..string.format("doc-%08d",math.random(0,{given.docs - 1}))) end\n')


def up():
    return wrk("")


def listing(path, mark):
    began = time.perf_counter()
    answer = client.ask("GET", path)
    seconds = time.perf_counter() - began
    if answer.count(mark) < given.docs * 0.99:
        raise SystemExit("rows are missing")
    return given.docs, seconds


def changes():
    return listing("/bench_bulk/_changes?include_docs=true", b'"changes":')


def alldocs():
    return listing("/bench_bulk/_all_docs?include_docs=true", b'"value":')


def replicate():
    fresh("/bench_copy")
    login = {"basic": {"username": given.user, "password": given.password}}
    job = {side: {"url": f"{given.url}/{name}", "auth": login} for side, name in (("source", "bench_bulk"), ("target", "bench_copy"))}
    return one_by_one([client.request("POST", "/_replicate", json.dumps(job).encode())], given.docs)


tick = os.sysconf("SC_CLK_TCK")


def used():
    """Seconds of processors used by all, by this script, and by the server; and the time."""
    with open("/proc/stat") as file:
        numbers = [int(word) for word in file.readline().split()[1:]]
    times = os.times()
    server = 0
    if given.pid:
        with open(f"/proc/{given.pid}/stat") as file:
            parts = file.read().rsplit(")", 1)[1].split()
        server = (int(parts[11]) + int(parts[12])) / tick
    own = times.user + times.system + times.children_user + times.children_system
    return sum(numbers[i] for i in (0, 1, 2, 5, 6)) / tick, own, server, time.perf_counter()


rates, costs, others = ({test: [] for test in given.tests} for _ in range(3))
for _ in range(given.runs):
    for test in given.tests:
        before = used()
        done, seconds = globals()[test]()
        whole, own, server, passed = (after - begun for after, begun in zip(used(), before))
        rates[test].append(done / seconds)
        costs[test].append(server / done * 1_000_000)
        others[test].append(max(0, (whole - own - server) / passed / os.cpu_count()))
memory = {}
if given.pid:
    with open(f"/proc/{given.pid}/smaps_rollup") as file:
        memory = {line.split(":")[0]: int(line.split()[1]) // 1024 for line in file if "kB" in line}
    with open(f"/proc/{given.pid}/status") as file:
        memory["Peak"] = next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmHWM"))
for database in ("/bench_one", "/bench_bulk", "/bench_many", "/bench_copy"):
    client.ask("DELETE", database, good=(200, 404))
if given.json:
    print(json.dumps({"rates": rates, "microseconds": costs, "others": others, "memory": memory}))
else:
    for test, values in rates.items():
        server = f"   {statistics.median(costs[test]):6,.0f} µs of the server's processor" if given.pid else ""
        noise = f"   others used {statistics.median(others[test]):.0%}" if given.pid else ""
        print(f"{test:9} {statistics.median(values):9,.0f}/s   ({min(values):,.0f} to {max(values):,.0f}){server}{noise}")
    if given.pid:
        print(f"memory: {memory['Rss']} MiB at the end, of which {memory['Pss']} MiB are its own share, and {memory['Peak']} MiB at most")
