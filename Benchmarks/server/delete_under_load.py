#!/usr/bin/env python3
"""Deletes and makes a database while others use it and another one: what they are answered, and how long the other waits.

    delete_under_load.py --settle .build/release/settle [--rounds 100]                   with a server of its own
    delete_under_load.py --url http://127.0.0.1:5984 --user admin --password … [--rounds 100]

Six clients read and write the database bench_doomed, one reads bench_other. bench_doomed is deleted and made again, round
after round. Both are removed in the end.
"""
import collections
import threading
import time

from client import connect, reach, server_options
from options import positive

options = server_options(__doc__)
options.add_argument("--rounds", type=positive, default=100)
given = reach(options)
doomed, other = "/bench_doomed", "/bench_other"
statuses, waits, over = collections.Counter(), [], threading.Event()


def use(number):
    client, count = connect(given), 0
    while not over.is_set():
        count += 1
        path = f"{doomed}/d{number}-{count}"
        for method, place, body in (("PUT", path, b"{}"), ("GET", path, b""), ("GET", doomed + "/_all_docs", b"")):
            statuses[client.exchange(client.request(method, place, body))[0]] += 1


def watch():
    client = connect(given)
    while not over.is_set():
        began = time.monotonic()
        client.ask("GET", other)
        waits.append(time.monotonic() - began)


owner, answers = connect(given), collections.Counter()
for database in (doomed, other):
    owner.ask("DELETE", database, good=(200, 404))
    owner.ask("PUT", database)
threads = [threading.Thread(target=use, args=(number,), daemon=True) for number in range(6)]
threads.append(threading.Thread(target=watch, daemon=True))
for thread in threads:
    thread.start()
for _ in range(given.rounds):
    answers[f"DELETE {owner.exchange(owner.request('DELETE', doomed))[0]}"] += 1
    answers[f"PUT {owner.exchange(owner.request('PUT', doomed))[0]}"] += 1
    time.sleep(0.02)
over.set()
for thread in threads:
    thread.join(30)
print(f"{given.rounds} rounds: {dict(answers)}; others were answered {dict(sorted(statuses.items()))}")
print(f"GET of another database: {1000 * sorted(waits)[len(waits) // 2]:.1f} ms (median), {1000 * max(waits):.0f} ms (longest)")
for database in (doomed, other):
    owner.ask("DELETE", database, good=(200, 404))
