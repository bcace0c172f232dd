#!/usr/bin/env python3
"""How fast views are.

    views.py --settle .build/release/settle [--documents 50000] [--runs 3]                      with a server of its own
    views.py --url http://127.0.0.1:5984 --user admin --password … [--documents 50000] [--runs 3]

Loads documents of about 470 bytes, builds a JavaScript map view from nothing, reads all rows, single ones by their keys, and
1,000 at a time, changes one document and asks again. Prints medians as JSON; run it against two servers in the same minutes and
compare. The database viewbench is made and removed.
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


def get(path):
    return content(connection.ask("GET", path))


def rows_a_second(paths):
    """How many rows come in a second, over all of these."""
    seconds, answers = rush(connection, [("GET", path, None) for path in paths])
    return sum(len(json.loads(content(body))["rows"]) for _, body in answers) / seconds


fill(connection, "/viewbench", given.documents)
build, read, change, reduce, one, page = [], [], [], [], [], []
for run in range(given.runs):
    maps = "function (doc) { if (doc.type === 'item') emit([doc.group, doc.name], doc.price); /* %d */ }" % run
    connection.ask_json("PUT", f"/viewbench/_design/b{run}", {"views": {"v": {"map": maps, "reduce": "_sum"}}})
    view = f"/viewbench/_design/b{run}/_view/v"
    seconds, _ = timed(lambda: get(view + "?limit=1&reduce=false"))
    build.append(given.documents / seconds)
    seconds, rows = timed(lambda: get(view + "?reduce=false"))
    assert len(json.loads(rows)["rows"]) == given.documents
    read.append(given.documents / seconds)
    for turn in range(20):
        number = (run * 100 + turn) % given.documents
        old = connection.ask_json("GET", f"/viewbench/doc{number:08}")
        old["price"] += 1
        connection.ask_json("PUT", f"/viewbench/doc{number:08}", old)
        seconds, _ = timed(lambda: get(view + "?limit=1&reduce=false"))
        change.append(seconds * 1000)
    numbers = [n * 7 % given.documents for n in range(1000)]
    one.append(rows_a_second([f"{view}?reduce=false&key=[{n % 100},%22Item%20number%20{n}%22]" for n in numbers]))
    page.append(rows_a_second([f"{view}?reduce=false&limit=1000&startkey=[{group}]" for group in range(0, 90, 3)]))
    seconds, _ = timed(lambda: get(view + "?group_level=1"))
    reduce.append(seconds * 1000)
connection.ask_json("DELETE", "/viewbench")
print(json.dumps({
    "build documents/s": round(statistics.median(build)), "read rows/s": round(statistics.median(read)),
    "pages of 1,000 rows/s": round(statistics.median(page)), "single rows/s": round(statistics.median(one)),
    "update after a change ms": round(statistics.median(change), 2), "group_level=1 ms": round(statistics.median(reduce), 2),
}))
