#!/usr/bin/env python3
"""How fast queries are.

    find.py --settle .build/release/settle [--documents 50000] [--runs 3]                       with a server of its own
    find.py --url http://127.0.0.1:5984 --user admin --password … [--documents 50000] [--runs 3]

Loads documents of about 470 bytes, makes an index, and has it answer: a range of 1,000 rows with whole documents, the same
with two members of each, which the index has, and one document, which is then read by its id. Also a range by a condition that no
index has, and the first answer, which builds the index; later indexes of the same members may share its rows. Prints medians as
JSON; run it against two servers in the same minutes and compare. The database findbench is made and removed.
"""
import json
import statistics

from client import connect, fill, reach, rush, server_options, timed
from connection import content
from options import positive

options = server_options(__doc__)
options.add_argument("--documents", type=positive, default=50000)
options.add_argument("--runs", type=positive, default=3)
given = reach(options)
connection = connect(given)
# The documents of a range.
SPAN = min(1000, given.documents)


def ask(query):
    return content(connection.ask("POST", "/findbench/_find", json.dumps(query).encode()))


def find(query):
    """Documents a second of a query that finds a range."""
    seconds, answer = timed(lambda: ask(query))
    found = len(json.loads(answer)["docs"])
    assert found == SPAN, (query, found)
    return found / seconds


fill(connection, "/findbench", given.documents)
build, whole, covered, filtered, one, read = [], [], [], [], [], []
for run in range(given.runs):
    for name, fields in (("i", ["n", "group"]), ("j", ["n"])):
        connection.ask_json("POST", "/findbench/_index", {"index": {"fields": fields}, "ddoc": f"{name}{run}", "name": "n"})
    if run > 0:
        for name in ("i", "j"):
            connection.ask_json("DELETE", f"/findbench/_index/{name}{run - 1}/json/n")
        connection.ask_json("POST", "/findbench/_view_cleanup")
    seconds, _ = timed(lambda: ask({"selector": {"n": 1}}))
    build.append(given.documents / seconds)
    ask({"selector": {"n": 1, "group": 1}})
    for turn in range(5):
        low = (run * 5 + turn) * 1000 % max(1, given.documents - SPAN)
        span = {"$gte": low, "$lt": low + SPAN}
        whole.append(find({"selector": {"n": span}, "limit": SPAN}))
        covered.append(find({"selector": {"n": span, "group": {"$gte": 0}}, "fields": ["n", "group"], "limit": SPAN}))
        filtered.append(find({"selector": {"n": span, "owner.id": {"$lt": 1000}}, "limit": SPAN}))
    asked = [{"selector": {"n": (run * 1000 + i) * 7 % given.documents}} for i in range(1000)]
    seconds, _ = rush(connection, [("POST", "/findbench/_find", query) for query in asked])
    one.append(len(asked) / seconds)
    seconds, _ = rush(connection, [("GET", f"/findbench/doc{(run * 1000 + i) * 7 % given.documents:08}", None) for i in range(1000)])
    read.append(1000 / seconds)
connection.ask_json("DELETE", "/findbench")
print(json.dumps({
    "build documents/s": round(build[0]), "range of 1,000 rows/s": round(statistics.median(whole)),
    "covered rows/s": round(statistics.median(covered)), "with another condition rows/s": round(statistics.median(filtered)),
    "queries of 1 row/s": round(statistics.median(one)), "the same documents by their ids/s": round(statistics.median(read)),
}))
