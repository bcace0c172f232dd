#!/usr/bin/env python3
"""The server's peak memory while it answers requests that read many large documents, after as many small ones.

    large_documents.py --settle PROGRAM [--documents 300] [--length 4000000] [--small 1000]

A reader that has seen small documents reads many at once. Each line has a request, the memory before it and the peak during it, in MiB.
"""
import json

from connection import Connection
from options import add_settle, parser, positive
from processes import Server, memory, scratch

PASSWORD = "large"
options = parser(__doc__)
add_settle(options, required=True)
options.add_argument("--documents", type=positive, default=300)
options.add_argument("--length", type=positive, default=4_000_000, help="the bytes of a large document")
options.add_argument("--small", type=positive, default=1000)
given = options.parse_args()


def measure():
    server = Server(given.settle, scratch("large"), PASSWORD)
    connection = Connection(server.url, "admin", PASSWORD)

    def ask(method, path, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        return connection.ask(method, "/large" + path, data, good=(200, 201, 202))

    ask("PUT", "?q=1")
    ask("POST", "/_bulk_docs", {"docs": [{"_id": f"a{number:06}"} for number in range(given.small)]})
    names = [f"b{number:06}" for number in range(given.documents)]
    for name in names:
        ask("PUT", "/" + name, {"text": "x" * given.length})
    functions = {
        "views": {"v": {"map": "function (doc) { emit(doc._id, 1) }"}}, "filters": {"f": "function (doc) { return true }"},
    }
    ask("PUT", "/_design/d", functions)
    keys = [f"a{number:06}" for number in range(given.small)] + names
    requests = [
        ("_all_docs", "GET", "/_all_docs?include_docs=true", None),
        ("_all_docs of keys", "POST", "/_all_docs?include_docs=true", {"keys": keys}),
        ("_changes", "GET", "/_changes?include_docs=true", None),
        ("_changes of ids", "POST", "/_changes?include_docs=true&filter=_doc_ids", {"doc_ids": keys[-900:]}),
        ("_changes by a function", "GET", "/_changes?filter=d/f", None),
        ("_bulk_get", "POST", "/_bulk_get", {"docs": [{"id": key} for key in keys]}),
        ("a view is built", "GET", "/_design/d/_view/v?limit=1", None),
        ("a view with documents", "GET", "/_design/d/_view/v?include_docs=true", None),
        ("an index is made", "POST", "/_index", {"index": {"fields": ["text"]}}),
        ("_find by it", "POST", "/_find", {"selector": {"text": 1}}),
        ("_find without one", "POST", "/_find", {"selector": {"other": 1}}),
        ("_find of all, sorted", "POST", "/_find", {"selector": {"_id": {"$gt": None}}, "sort": ["_id"], "limit": 2000}),
    ]
    for name, method, path, body in requests:
        with open(f"/proc/{server.pid}/clear_refs", "w") as resets:
            resets.write("5")
        before = memory(server.pid, "VmHWM")
        length = len(ask(method, path, body))
        print(f"{name:26}{before:8.0f}{memory(server.pid, 'VmHWM'):8.0f}    an answer of {length / 1e6:,.0f} MB", flush=True)

print(f"{'':26}{'before':>8}{'peak':>8}    MiB")
measure()
