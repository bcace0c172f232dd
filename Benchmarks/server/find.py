#!/usr/bin/env python3
"""How fast queries are: python3 find.py --url http://127.0.0.1:5984 --user admin --password … [--documents 50000] [--runs 3]

Loads documents of about 470 bytes, makes an index, and has it answer: a range of 1,000 rows with whole documents, the same
with two members of each, which the index has, and one document. Also a range by a condition that no index has, and the first
answer, which builds the index; later indexes of the same members may share its rows. Prints medians as JSON; run it against
two servers in the same minutes and compare.
"""
import json
import statistics

from client import ask, document, options, rate, timed


def find(query, count):
    """Documents a second of a query that finds so many."""
    seconds, answer = timed(lambda: ask("POST", "/findbench/_find", query))
    found = len(json.loads(answer)["docs"])
    assert found == count, (query, found)
    return count / seconds


ask("DELETE", "/findbench")
ask("PUT", "/findbench?q=1")
for start in range(0, options.documents, 1000):
    documents = [document(n) for n in range(start, min(start + 1000, options.documents))]
    ask("POST", "/findbench/_bulk_docs", {"docs": documents})
build, whole, covered, filtered, one = [], [], [], [], []
for run in range(options.runs):
    ask("POST", "/findbench/_index", {"index": {"fields": ["n", "group"]}, "ddoc": f"i{run}", "name": "n"})
    ask("POST", "/findbench/_index", {"index": {"fields": ["n"]}, "ddoc": f"j{run}", "name": "n"})
    if run > 0:
        ask("DELETE", f"/findbench/_index/i{run - 1}/json/n")
        ask("DELETE", f"/findbench/_index/j{run - 1}/json/n")
        ask("POST", "/findbench/_view_cleanup")
    seconds, _ = timed(lambda: ask("POST", "/findbench/_find", {"selector": {"n": 1}}))
    build.append(options.documents / seconds)
    ask("POST", "/findbench/_find", {"selector": {"n": 1, "group": 1}})
    for turn in range(5):
        low = (run * 5 + turn) * 1000 % (options.documents - 1000)
        span = {"$gte": low, "$lt": low + 1000}
        whole.append(find({"selector": {"n": span}, "limit": 1000}, 1000))
        covered.append(find({"selector": {"n": span, "group": {"$gte": 0}}, "fields": ["n", "group"], "limit": 1000}, 1000))
        filtered.append(find({"selector": {"n": span, "owner.id": {"$lt": 1000}}, "limit": 1000}, 1000))
    count = 1000
    asked = [{"selector": {"n": (run * count + i) * 7 % options.documents}} for i in range(count)]
    one.append(rate([("POST", "/findbench/_find", query) for query in asked]))
ask("DELETE", "/findbench")
print(json.dumps({
    "build documents/s": round(build[0]), "range of 1,000 rows/s": round(statistics.median(whole)),
    "covered rows/s": round(statistics.median(covered)), "with another condition rows/s": round(statistics.median(filtered)),
    "queries of 1 row/s": round(statistics.median(one)),
}))
