#!/usr/bin/env python3
"""Sends requests to a real CouchDB and records what it answers.

    Scripts/couchdb/record-exchanges.py http://admin:admin@127.0.0.1:5984 Tests/SettleServerTests/Fixtures

Makes couchdb-exchanges.json anew. What differs from run to run is recorded as "*", which stands for any value. A step that
is `unordered` has lists whose order CouchDB does not promise. Python 3's standard library is all it needs.
"""
import base64
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

NAME = "settle-exchanges"
VOLATILE = {"seq", "last_seq", "update_seq", "purge_seq", "instance_start_time", "sizes", "uuid", "uuids", "cluster",
            "pending", "bookmark", "disk_format_version", "props"}
UNORDERED = "unordered"

# (name, method, path after the database, body, options). {a} is the last revision CouchDB gave the document a.
REQUESTS = [
    ("a new database is empty", "GET", "", None),
    ("a document is created", "PUT", "/a", {"v": 1, "tags": [1, 2, 3]}),
    ("and read", "GET", "/a", None),
    ("creating it again is a conflict", "PUT", "/a", {"v": 2}),
    ("so is naming another revision", "PUT", "/a?rev=1-00000000000000000000000000000000", {"v": 2}),
    ("a change names what it changes", "PUT", "/a", {"_rev": "{a}", "v": 2.5}),
    ("with its history", "GET", "/a?revs=true", None),
    ("with the states of its history", "GET", "/a?revs_info=true", None),
    ("an old revision is there until a compaction", "GET", "/a?rev=1-67bb55b99f305bea319ead5338049cb7", None),
    ("a revision that never was", "GET", "/a?rev=9-00000000000000000000000000000000", None),
    ("a document that never was", "GET", "/none", None),
    ("a body that is no JSON", "PUT", "/bad", "{"),
    ("a body that is no object", "PUT", "/bad", [1]),
    ("a member that is reserved", "PUT", "/bad", {"_mine": 1}),
    ("an id that is reserved", "PUT", "/_mine", {}),
    ("a revision that is none", "PUT", "/bad?rev=nonsense", {}),
    ("a deletion", "DELETE", "/a?rev={a}", None),
    ("a deleted document", "GET", "/a", None),
    ("its tombstone", "GET", "/a?rev={a}", None),
    ("deleting it again", "DELETE", "/a?rev={a}", None),
    ("it is written again", "PUT", "/a", {"back": True}),
    ("a deletion that keeps members", "PUT", "/b", {"_deleted": True, "worker": 7}),
    ("many at once", "POST", "/_bulk_docs", {"docs": [
        {"_id": "c", "n": 1}, {"_id": "d", "n": 2}, {"_id": "a", "n": 3}, {"_id": "e", "_deleted": True}]}),
    ("a batch without documents", "POST", "/_bulk_docs", {}),
    ("replicated revisions, two branches", "POST", "/_bulk_docs", {"new_edits": False, "docs": [
        {"_id": "x", "_rev": "2-b", "_revisions": {"start": 2, "ids": ["b", "a"]}, "v": "b"},
        {"_id": "x", "_rev": "2-c", "_revisions": {"start": 2, "ids": ["c", "a"]}, "v": "c"},
        {"_id": "x", "_rev": "3-d", "_revisions": {"start": 3, "ids": ["d", "e", "a"]}, "_deleted": True}]}),
    ("the winner with its conflicts", "GET", "/x?conflicts=true&deleted_conflicts=true", None),
    ("all at a time", "GET", "/x?meta=true", None),
    ("all leaves", "GET", "/x?open_revs=all", None, UNORDERED),
    ("some leaves and one that is not there", "GET", "/x?open_revs=%5B%222-b%22,%229-z%22%5D", None, UNORDERED),
    ("what is missing", "POST", "/_revs_diff", {"x": ["2-b", "2-z", "4-y"], "new": ["1-a"], "a": []}, UNORDERED),
    ("one of two branches is closed", "DELETE", "/x?rev=2-c", None),
    ("the other one wins", "GET", "/x?conflicts=true", None),
    ("several by their revisions", "POST", "/_bulk_get?revs=true", {"docs": [
        {"id": "x", "rev": "2-b"}, {"id": "x", "rev": "9-z"}, {"id": "none"}, {"id": "c"}]}, UNORDERED),
    ("all documents", "GET", "/_all_docs", None),
    ("some of them, with bodies", "POST", "/_all_docs?include_docs=true", {"keys": ["c", "none", "b", "a"]}),
    ("a part of them, backwards", "GET", "/_all_docs?descending=true&limit=2&skip=1", None),
    ("a range of them", "GET", "/_all_docs?start_key=%22b%22&end_key=%22d%22&inclusive_end=false", None),
    ("a key that is no JSON", "GET", "/_all_docs?key=b", None),
    ("changes", "GET", "/_changes", None),
    ("all leaves of changes", "GET", "/_changes?style=all_docs", None, UNORDERED),
    ("changes of some documents", "POST", "/_changes?filter=_doc_ids&include_docs=true", {"doc_ids": ["c", "x"]}),
    ("changes that a selector passes", "POST", "/_changes?filter=_selector", {"selector": {"n": {"$gt": 1}}}),
    ("a page of changes", "GET", "/_changes?limit=0", None),
    ("a filter that is not there", "GET", "/_changes?filter=no/such", None),
    ("an attachment", "PUT", "/f/file", b"\x00\x01\x02 bytes"),
    ("it is told with the document", "GET", "/f", None),
    ("and given with it", "GET", "/f?attachments=true", None),
    ("it stays behind a stub", "PUT", "/f", {"_rev": "{f}", "v": 1, "_attachments": {"file": {"stub": True}}}),
    ("a stub of nothing", "PUT", "/f", {"_rev": "{f}", "_attachments": {"other": {"stub": True}}}),
    ("an attachment that is not there", "GET", "/f/none", None),
    ("it is taken off", "DELETE", "/f/file?rev={f}", None),
    ("a local document", "PUT", "/_local/log", {"n": 1}),
    ("its next revision", "PUT", "/_local/log", {"_rev": "0-1", "n": 2}),
    ("is read", "GET", "/_local/log", None),
    ("and is in no list", "GET", "/_all_docs?key=%22_local/log%22", None),
    ("a local document that is not there", "GET", "/_local/none", None),
    ("a search", "POST", "/_find", {"selector": {"n": {"$gte": 1}}, "sort": [{"_id": "asc"}], "fields": ["_id", "n"]}),
    ("a search with several conditions", "POST", "/_find", {
        "selector": {"$or": [{"n": 1}, {"back": {"$exists": True}}, {"v": {"$type": "string"}}]}}),
    ("a selector with an unknown operator", "POST", "/_find", {"selector": {"n": {"$nope": 1}}}),
    ("a selector that is none", "POST", "/_find", {"selector": "n"}),
    ("the limit of revisions", "GET", "/_revs_limit", None),
    ("another limit", "PUT", "/_revs_limit", 2),
    ("three changes under it, 1", "PUT", "/s", {"v": 1}),
    ("three changes under it, 2", "PUT", "/s", {"_rev": "{s}", "v": 2}),
    ("three changes under it, 3", "PUT", "/s", {"_rev": "{s}", "v": 3}),
    ("leave a short history", "GET", "/s?revs=true", None),
    ("a purge", "POST", "/_purge", {"c": ["1-00000000000000000000000000000000"], "d": ["{d}"]}),
    ("removes what it names", "GET", "/d", None),
    ("a copy", "COPY", "/s", None, {"Destination": "t"}),
    ("is a document of its own", "GET", "/t", None),
    ("a design document", "PUT", "/_design/own", {"views": {}, "language": "query"}),
    ("a method that is not there", "PATCH", "/a", None),
    ("the whole feed, with documents", "GET", "/_changes?include_docs=true&conflicts=true", None),
]


class CouchDB:
    def __init__(self, base):
        parts = urllib.parse.urlsplit(base)
        self.base = "%s://%s:%d" % (parts.scheme, parts.hostname, parts.port or 5984)
        login = "%s:%s" % (parts.username or "", parts.password or "")
        self.login = "Basic " + base64.b64encode(login.encode()).decode()

    def send(self, method, path, body=None, kind="application/json", headers=()):
        request = urllib.request.Request(self.base + path, body, method=method)
        request.add_header("Authorization", self.login)
        request.add_header("Accept", "application/json")
        if body is not None:
            request.add_header("Content-Type", kind)
        for name, value in dict(headers).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()


def settled(value):
    """The value with "*" for what differs from run to run."""
    if isinstance(value, list):
        return [settled(element) for element in value]
    if isinstance(value, dict):
        return {name: "*" if name in VOLATILE else settled(member) for name, member in value.items()}
    return value


def learn(revisions, value):
    """Remembers the revisions of an answer."""
    for row in value if isinstance(value, list) else [value]:
        if isinstance(row, dict):
            name, revision = row.get("id") or row.get("_id"), row.get("rev") or row.get("_rev")
            if name and revision:
                revisions[name] = revision


def main():
    base, folder = sys.argv[1:]
    couch = CouchDB(base)
    version = json.loads(couch.send("GET", "/")[2])["version"]
    couch.send("DELETE", "/" + NAME)
    couch.send("PUT", "/" + NAME + "?q=1")
    revisions, steps = {}, []
    for name, method, path, body, *options in REQUESTS:
        def filled(text):
            return re.sub(r"\{(\w+)\}", lambda found: revisions.get(found[1], found[0]), text)
        path = filled(path)
        step = {"name": name, "method": method, "path": path}
        kind, headers = "application/json", {}
        if isinstance(body, bytes):
            step["base64"], kind = base64.b64encode(body).decode(), "application/octet-stream"
        elif body is not None:
            body = (filled(body if isinstance(body, str) else json.dumps(body))).encode()
            step["text"] = body.decode()
        for option in options:
            if option == UNORDERED:
                step["unordered"] = True
            else:
                step["headers"] = headers = option
        status, got, answer = couch.send(method, "/" + NAME + path, body, kind, headers)
        step["status"] = status
        if re.fullmatch(r'"\d+-[0-9a-f]{32}"', got.get("ETag", "")):
            step["etag"] = got["ETag"]
        try:
            answer = json.loads(answer)
            learn(revisions, answer)
            step["json"] = json.loads(json.dumps(settled(answer)).replace(NAME, "{db}"))
        except ValueError:
            step["body"] = base64.b64encode(answer).decode()
        steps.append(step)
        if status >= 500:
            print("%s: %d %s" % (name, status, answer), file=sys.stderr)
    couch.send("DELETE", "/" + NAME)
    with open(folder + "/couchdb-exchanges.json", "w", encoding="utf-8") as file:
        file.write('{"recorded":"CouchDB %s","steps":[\n' % version)
        file.write(",\n".join(json.dumps(step, ensure_ascii=False) for step in steps))
        file.write("\n]}\n")
    print("%d steps" % len(steps))


main()
