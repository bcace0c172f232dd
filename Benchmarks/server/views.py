#!/usr/bin/env python3
"""How fast views are: python3 views.py --url http://127.0.0.1:5984 --user admin --password … [--documents 50000] [--runs 3]

Loads documents of about 470 bytes, builds a JavaScript map view from nothing, reads all rows, single ones by their keys, and
1,000 at a time, changes one document and asks again. Prints medians as JSON; run it against two servers in the same minutes and compare.
"""
import json
import statistics

from client import ask, document, options, rate, timed

ask("DELETE", "/viewbench")
ask("PUT", "/viewbench?q=1")
for start in range(0, options.documents, 1000):
    ask("POST", "/viewbench/_bulk_docs", {"docs": [document(n) for n in range(start, min(start + 1000, options.documents))]})
build, read, change, reduce, one, page = [], [], [], [], [], []
for run in range(options.runs):
    maps = "function (doc) { if (doc.type === 'item') emit([doc.group, doc.name], doc.price); /* %d */ }" % run
    ask("PUT", f"/viewbench/_design/b{run}", {"views": {"v": {"map": maps, "reduce": "_sum"}}})
    view = f"/viewbench/_design/b{run}/_view/v"
    seconds, _ = timed(lambda: ask("GET", view + "?limit=1&reduce=false"))
    build.append(options.documents / seconds)
    seconds, rows = timed(lambda: ask("GET", view + "?reduce=false"))
    assert len(json.loads(rows)["rows"]) == options.documents
    read.append(options.documents / seconds)
    for _ in range(20):
        number = run * 100 + _
        old = json.loads(ask("GET", f"/viewbench/doc{number:08}"))
        old["price"] += 1
        ask("PUT", f"/viewbench/doc{number:08}", old)
        seconds, _ = timed(lambda: ask("GET", view + "?limit=1&reduce=false"))
        change.append(seconds * 1000)
    keys = [f'[{n * 7 % 100},"Item number {n * 7 % options.documents}"]'.replace(" ", "%20").replace('"', "%22") for n in range(1000)]
    one.append(rate([("GET", f"{view}?reduce=false&key={key}", None) for key in keys]))
    page.append(1000 * rate([("GET", f"{view}?reduce=false&limit=1000&startkey=[{n}]", None) for n in range(0, 90, 3)]))
    seconds, _ = timed(lambda: ask("GET", view + "?group_level=1"))
    reduce.append(seconds * 1000)
ask("DELETE", "/viewbench")
print(json.dumps({
    "build documents/s": round(statistics.median(build)), "read rows/s": round(statistics.median(read)),
    "pages of 1,000 rows/s": round(statistics.median(page)), "single rows/s": round(statistics.median(one)),
    "update after a change ms": round(statistics.median(change), 2), "group_level=1 ms": round(statistics.median(reduce), 2),
}))
