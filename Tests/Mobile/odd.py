#!/usr/bin/env python3
"""What a device meets beside clients of CouchDB: attachments next to blobs, large contents, and documents that it can't store.

    odd.py PORT DATABASE SCENARIO    one of the functions below; ends with 0 if all is as expected

The rules of the device are those of Couchbase Lite's core (IncomingRev.cc, LegacyAttachments.cc, RevFinder.cc).
"""
import base64
import json
import os
import sys
import time
import urllib.parse

import client as blip
from client import ERROR, REPLY, Client, error, hexadecimal, http, sha1

MIB = 1 << 20


class Device(Client):
    """A client that sends large contents in little time."""

    def write_frame(self, payload, opcode=2):
        mask, length = os.urandom(4), len(payload)
        size = bytes([0x80 | length]) if length < 126 else b"\xfe" + length.to_bytes(2, "big") if length < 65536 else b"\xff" + length.to_bytes(8, "big")
        whole = (mask * (length // 4 + 1))[:length]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(whole, "big")).to_bytes(length, "big")
        self.socket.sendall(bytes([0x80 | opcode]) + size + mask + masked)

    def store(self, name, body, contents=(), generation=1, history="", **options):
        """Pushes a revision, and gives the contents that the server asks for; the answer."""
        given = {sha1(content): content for content in contents}
        properties = {"Profile": "rev", "id": name, "rev": f"{generation}-{hexadecimal(name, generation, body)}", "noconflicts": "1"}
        if history:
            properties["history"] = history
        number = self.send(properties, json.dumps(body).encode(), **options)
        while True:
            message = self.read()
            if message.kind == blip.REQUEST:
                assert message.profile == "getAttachment", message.properties
                self.write(REPLY, message.number, {}, given[message.properties["digest"]], compressed=False, piece=16_000)
            elif message.number == number:
                return message

    def take(self, since=None):
        """Pulls; by id the body as the device stores it, or the error that its app sees. The ids that were offered are in `offered`."""
        messages, self.offered = {}, []
        read = self.next_request

        def noted():
            message = read()
            if message.profile == "changes":
                self.offered += [row[1] for row in message.json()]
            return message
        self.next_request = noted
        try:
            self.pull(messages, **({"since": since} if since else {}))
        finally:
            del self.next_request
        return {name: self.stored(name, message) for name, message in messages.items()}

    def stored(self, name, message):
        if message.profile == "norev":
            return "norev " + message.properties["error"]
        body = message.json() if message.body else {}
        listed = body.pop("_attachments", None)
        for attachment, stub in (listed or {}).items():
            blob = at(body, attachment[5:]) if attachment.startswith("blob_/") else None
            if isinstance(blob, dict) and blob.get("@type") == "blob" and blob["digest"] != stub["digest"]:
                blob.update({key: stub[key] for key in ("digest", "length", "content_type") if key in stub})
        digests = {stub["digest"] for stub in (listed or {}).values()}
        wanted = set(blobs(body))
        if listed is not None and wanted - digests:
            return "There is no content for the blob with digest " + ", ".join(wanted - digests)
        for digest in wanted | digests:
            answer = self.ask({"Profile": "getAttachment", "digest": digest, "docID": name})
            if answer.kind == ERROR:
                return f"error {error(answer)[1]}"
            assert sha1(answer.body) == digest, "CorruptData"
        return {"body": body, "attachments": listed}


def at(value, pointer):
    for word in pointer.split("/")[1:]:
        try:
            value = value[int(word) if isinstance(value, list) else word.replace("~1", "/").replace("~0", "~")]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return value


def blobs(value):
    if isinstance(value, dict):
        if value.get("@type") == "blob":
            yield value["digest"]
        else:
            for member in value.values():
                yield from blobs(member)
    elif isinstance(value, list):
        for element in value:
            yield from blobs(element)


def blob(content, kind="image/png"):
    return {"@type": "blob", "digest": sha1(content), "length": len(content), "content_type": kind}


def status(port, method, path, body=None, kind="application/json"):
    import http.client as web
    connection = web.HTTPConnection("127.0.0.1", port, timeout=300)
    login = "Basic " + base64.b64encode(b"admin:admin").decode()
    connection.request(method, path, body, {"Authorization": login, "Content-Type": kind})
    answer = connection.getresponse()
    return answer.status, answer.read()


def document(port, database, name, query=""):
    return json.loads(http(port, "GET", f"/{database}/{name}{query}"))


def attach(port, database, name, attachment, content, kind="text/plain"):
    rev = document(port, database, name)["_rev"]
    http(port, "PUT", f"/{database}/{name}/{urllib.parse.quote(attachment, safe='')}?rev={rev}", content, kind)


def attachments(port, database):
    """A document with blobs and an attachment of a client of CouchDB reaches a new device, and comes back whole."""
    photo, sound, note = os.urandom(5000), b"la la la", b"a note"
    device = Device(port, database)
    body = {"photo": blob(photo), "deep": [{"a/b~c": blob(sound, "text/plain")}], "same": blob(photo)}
    assert device.store("mixed", body, [photo, sound]).kind == REPLY
    attach(port, database, "mixed", "note.txt", note)
    other = Device(port, database)
    found = other.take()["mixed"]
    assert isinstance(found, dict), found
    assert found["body"] == body and set(found["attachments"]) == {"note.txt", "blob_/photo", "blob_/same", "blob_/deep/0/a~1b~0c"}, found
    stub = found["attachments"]["blob_/photo"]
    assert stub["stub"] is True and stub["length"] == len(photo) and stub["revpos"] == 1 and stub["content_type"] == "image/png", stub

    # The device keeps what is no blob, and saves.
    saved = {**body, "title": "edited", "_attachments": {"note.txt": found["attachments"]["note.txt"]}}
    rev = document(port, database, "mixed", "?revs=true")["_revisions"]
    history = ",".join(f"{rev['start'] - place}-{one}" for place, one in enumerate(rev["ids"]))
    assert other.store("mixed", saved, generation=3, history=history).kind == REPLY
    whole = document(port, database, "mixed")
    assert whole["title"] == "edited" and sorted(whole["_attachments"]) == sorted(found["attachments"]), whole
    assert isinstance(Device(port, database).take()["mixed"], dict)

    # A document with blobs alone needs no list.
    assert device.store("plain", {"photo": blob(photo)}, [photo]).kind == REPLY
    assert Device(port, database).take()["plain"] == {"body": {"photo": blob(photo)}, "attachments": None}


def sizes(port, database):
    """Contents up to 20 MiB go up and down; what is larger is an error of its document, and the connection lives."""
    device = Device(port, database)
    for name, size in [("nine", 9 * MIB), ("most", 20 * MIB)]:
        content = os.urandom(size)
        answer = device.store(name, {"photo": blob(content)}, [content])
        assert answer.kind == REPLY, answer.body
    content = os.urandom(20 * MIB + 1)
    assert error(device.store("more", {"photo": blob(content)}, [content])) == ("HTTP", 413)
    for name, size in [("over", 8_100_000), ("beyond", 9_500_000), ("far", 21 * MIB)]:
        answer = device.store(name, {"text": "x" * size}, piece=16_000)
        assert error(answer) == ("HTTP", 413), (error(answer), answer.body)
    assert name.encode() in answer.body, answer.body
    assert device.store("single", {"text": "y" * 9_500_000}, piece=10 * MIB).kind == ERROR
    assert device.store("small", {"n": 1}).kind == REPLY
    assert device.ask({"Profile": "getCheckpoint", "client": "none"}).kind == ERROR
    device.close()

    # What is too large for a device is an error at the device, and the others arrive.
    http(port, "PUT", f"/{database}/attached", b"{}")
    attach(port, database, "attached", "film.bin", os.urandom(20 * MIB + 1), "application/octet-stream")
    found = Device(port, database).take()
    assert found.pop("attached") == "error 413", found
    assert set(found) == {"nine", "most", "small"} and all(isinstance(one, dict) for one in found.values()), found


def limits(port, database):
    """What a device can't store is not offered, and what it can is; the ledger has each document that is left out."""
    odd = {"i" * 241: "241 bytes", "j" * 300: "300 bytes", "tab\there": "control character", "é" * 121: "242 bytes"}
    fine = ["i" * 240, "é" * 120, "a b", "del\x7f", "/%+?&\"\\"]
    members = {"empty": {"": 1}, "deep": {"a": [{"b": {"": {}}}]}, "plain": {"a": "", "b\"": ":", "c": "\"\":"}}
    documents = [{"_id": name} for name in [*odd, *fine]] + [{"_id": name, **body} for name, body in members.items()]
    rows = json.loads(http(port, "POST", f"/{database}/_bulk_docs", json.dumps({"docs": documents}).encode()))
    assert all(row.get("ok") for row in rows), rows
    http(port, "PUT", f"/{database}/blank", b'{"a":{"" : 1}}')
    for versions in ("BLIP_3+CBMobile_3", "BLIP_3+CBMobile_4"):
        device = Device(port, database, versions)
        found = device.take()
        assert set(found) == {*fine, "plain"} and sorted(device.offered) == sorted(found), (device.offered, set(found))
        assert all(isinstance(one, dict) for one in found.values()), found
        device.close()
    listed = json.loads(http(port, "GET", f"/_scheduler/ledger/{database}%2F_blipsync"))
    reasons = {row["id"]: row["reason"] for row in listed["rows"]}
    assert listed["total_rows"] == 7 and set(reasons) == {*odd, "empty", "deep", "blank"}, listed
    assert all(word in reasons[name] for name, word in odd.items()) and "empty name" in reasons["deep"], reasons

    # A page with nothing that may be offered holds nothing up, and what was mended is offered and listed no more.
    device = Device(port, database)
    assert device.ask({"Profile": "subChanges", "continuous": "true", "batch": "2"}).kind == REPLY
    seen = set()
    while True:
        message = device.next_request()
        if message.profile == "changes" and not message.json():
            break
        if message.profile == "changes":
            seen |= {row[1] for row in message.json()}
        device.respond(message, b"[]")
    assert seen == {*fine, "plain"}, seen
    rev = document(port, database, "empty")["_rev"]
    http(port, "PUT", f"/{database}/empty?rev={rev}", b'{"n":1}')
    message = device.next_request()
    assert [row[1] for row in message.json()] == ["empty"], message.body
    rows = json.loads(http(port, "GET", f"/_scheduler/ledger/{database}%2F_blipsync"))["rows"]
    assert "empty" not in {row["id"] for row in rows}, rows
    device.close()

    # A database that was deleted and made again is another one.
    http(port, "DELETE", f"/{database}")
    http(port, "PUT", f"/{database}")
    listed = json.loads(http(port, "GET", f"/_scheduler/ledger/{database}%2F_blipsync"))
    assert listed["total_rows"] == 0, listed
    http(port, "PUT", f"/{database}/again", b'{"":1}')
    assert Device(port, database).take() == {}
    listed = json.loads(http(port, "GET", f"/_scheduler/ledger/{database}%2F_blipsync"))
    assert [row["id"] for row in listed["rows"]] == ["again"], listed


def edited(port, database):
    """A client of CouchDB changes, keeps and moves blobs, and each new device gets what it has."""
    old, new = os.urandom(3000), b"a new content, as text"
    device = Device(port, database)
    for name in ("put", "inline", "bulk", "saved", "listed", "moved", "replicated", "removed"):
        assert device.store(name, {"photo": blob(old), "n": 1}, [old]).kind == REPLY
    attach(port, database, "put", "blob_/photo", new)
    changed = document(port, database, "inline")
    changed["_attachments"]["blob_/photo"] = {"content_type": "text/plain", "data": base64.b64encode(new).decode()}
    http(port, "PUT", f"/{database}/inline", json.dumps(changed).encode())
    changed = document(port, database, "bulk")
    del changed["_attachments"]
    listed = document(port, database, "listed")
    listed["_attachments"] = {"note.txt": {"content_type": "text/plain", "data": "bm90ZQ=="}}
    http(port, "POST", f"/{database}/_bulk_docs", json.dumps({"docs": [{**changed, "n": 2}, listed]}).encode())
    saved = document(port, database, "saved")
    del saved["_attachments"]
    for number in (2, 3):
        saved["n"] = number
        saved["_rev"] = json.loads(http(port, "PUT", f"/{database}/saved", json.dumps(saved).encode()))["rev"]
    moved = document(port, database, "moved")
    del moved["_attachments"]
    moved["album"] = [moved.pop("photo")]
    http(port, "PUT", f"/{database}/moved", json.dumps(moved).encode())

    # A replica of CouchDB's kind, whose client has changed the content there.
    one = document(port, database, "replicated", "?revs=true")
    replica = {"_id": "replicated", "photo": one["photo"], "_rev": "2-ab", "_revisions": {"start": 2, "ids": ["ab", *one["_revisions"]["ids"]]},
               "_attachments": {"blob_/photo": {"content_type": "text/plain", "revpos": 2, "data": base64.b64encode(new).decode()}}}
    http(port, "POST", f"/{database}/_bulk_docs", json.dumps({"new_edits": False, "docs": [replica]}).encode())

    # The content of a blob goes with its member alone.
    rev = document(port, database, "removed")["_rev"]
    refused, reason = status(port, "DELETE", f"/{database}/removed/blob_%2Fphoto?rev={rev}")
    assert refused == 403 and b"/photo" in reason, (refused, reason)
    http(port, "PUT", f"/{database}/removed?rev={rev}", b'{"n":2}')
    assert "_attachments" not in document(port, database, "removed")
    refused, reason = status(port, "PUT", f"/{database}/put/blob_%2Fphoto?rev={document(port, database, 'put')['_rev']}", bytes(20 * MIB + 1), "image/png")
    assert refused == 403 and b"at most" in reason, (refused, reason)

    found = Device(port, database).take()
    assert all(isinstance(one, dict) for one in found.values()), found
    bodies = {name: one["body"] for name, one in found.items()}
    for name in ("put", "inline", "replicated"):
        assert bodies[name]["photo"] == blob(new, "text/plain"), (name, bodies[name])
    assert bodies["bulk"] == {"photo": blob(old), "n": 2} and bodies["saved"] == {"photo": blob(old), "n": 3}
    assert bodies["listed"]["photo"] == blob(old) and set(found["listed"]["attachments"]) == {"note.txt", "blob_/photo"}
    assert bodies["moved"] == {"album": [blob(old)], "n": 1} and bodies["removed"] == {"n": 2}
    assert document(port, database, "put")["photo"] == blob(new, "text/plain")
    kept = document(port, database, "saved")["_attachments"]["blob_/photo"]
    assert kept["revpos"] == 1 and kept["content_type"] == "image/png", kept
    assert set(document(port, database, "moved")["_attachments"]) == {"blob_/album/0"}


def several(port, database):
    """Large contents that a device asks for at once come one after the other: an error for one would cost its document."""
    contents = [os.urandom(9 * MIB + number) for number in range(5)]
    for number, content in enumerate(contents):
        http(port, "PUT", f"/{database}/large-{number}", b"{}")
        attach(port, database, f"large-{number}", "film.bin", content, "application/octet-stream")
    device = Device(port, database)
    wanted = {device.send({"Profile": "getAttachment", "digest": sha1(content), "docID": f"large-{number}"}): content
              for number, content in enumerate(contents)}
    # What is asked beside them waits, too, and is answered.
    beside = device.send({"Profile": "getCheckpoint", "client": "none"})
    while wanted or beside:
        message = device.read()
        if message.number == beside:
            assert error(message) == ("HTTP", 404), message.properties
            beside = None
        else:
            assert message.kind == REPLY and message.body == wanted.pop(message.number), message.properties


def flood(port, database):
    """A client that asks for large contents, takes none, and goes on asking is closed, and may connect again."""
    content = os.urandom(18 * MIB)
    http(port, "PUT", f"/{database}/film", b"{}")
    attach(port, database, "film", "film.bin", content, "application/octet-stream")
    device = Device(port, database)
    for _ in range(3):
        device.send({"Profile": "getAttachment", "digest": sha1(content), "docID": "film"})
    try:
        for _ in range(3000):
            device.send({"Profile": "getCheckpoint", "client": "none"}, compressed=False)
        while True:
            device.read_frame()
    except (EOFError, ConnectionError) as end:
        # What the client has not read may be lost when the server closes the socket, its farewell, too.
        assert "closed: " not in str(end) or r"\x0f\xa1" in str(end), end
    again = Device(port, database)
    assert error(again.ask({"Profile": "getCheckpoint", "client": "none"})) == ("HTTP", 404)


if __name__ == "__main__":
    {one.__name__: one for one in (attachments, sizes, limits, edited, several, flood)}[sys.argv[3]](int(sys.argv[1]), sys.argv[2])
    print("all is as expected")
