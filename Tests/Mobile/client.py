#!/usr/bin/env python3
"""A client of Couchbase Mobile's replication protocol, written from its description alone, and what it expects of a server.

    client.py PORT DATABASE          pushes, pulls and checks; ends with 0 if all is as expected
    client.py PORT DATABASE idle     says nothing for three seconds, and then something
    client.py PORT DATABASE crowd    pushes and pulls by 50 connections at once
"""
import base64
import hashlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

REQUEST, REPLY, ERROR, ACK_REQUEST, ACK_REPLY = 0, 1, 2, 4, 5
COMPRESSED, NO_REPLY, MORE = 0x08, 0x20, 0x40


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def take_varint(data):
    number = shift = 0
    for place, byte in enumerate(data):
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, data[place + 1:]
        shift += 7
    raise ValueError("no number")


def masked(payload, mask):
    """A frame's payload with its mask, or without it. As two large numbers, which is much faster than byte by byte."""
    masks = (mask * (len(payload) // 4 + 1))[:len(payload)]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(masks, "big")).to_bytes(len(payload), "big")


class Message:
    def __init__(self, kind, number, flags, payload):
        length, rest = take_varint(payload)
        parts = rest[:length].split(b"\0")
        self.kind, self.number, self.silent = kind, number, bool(flags & NO_REPLY)
        self.properties = {parts[i].decode(): parts[i + 1].decode() for i in range(0, len(parts) - 1, 2)}
        self.body = rest[length:]
        self.profile = self.properties.get("Profile")

    def json(self):
        return json.loads(self.body)


class Client:
    def __init__(self, port, database, protocols="BLIP_3+CBMobile_3,BLIP_3+CBMobile_2", user="admin:admin"):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        key = base64.b64encode(os.urandom(16)).decode()
        head = [f"GET /{database}/_blipsync HTTP/1.1", "Host: test", "Connection: Upgrade", "Upgrade: websocket",
                "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", f"Sec-WebSocket-Protocol: {protocols}",
                "Authorization: Basic " + base64.b64encode(user.encode()).decode()]
        self.socket.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        answer, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.status = int(answer.split()[1])
        self.head = answer.decode().lower()
        if self.status == 101:
            accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
            assert f"sec-websocket-accept: {accept.lower()}" in self.head, self.head
            newest = protocols.split(",")[0].lower()
            assert f"sec-websocket-protocol: {newest}" in self.head, self.head
        self.begin()

    def begin(self):
        self.deflate = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
        self.inflate = zlib.decompressobj(-15)
        self.sent_sum = self.read_sum = self.number = 0
        self.parts, self.raw, self.acked, self.waiting = {}, {}, {}, []

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError("the server has closed the connection")
        self.buffer += data

    # WebSocket

    def need(self, count):
        while len(self.buffer) < count:
            self.more()

    def read_frame(self):
        while True:
            self.need(2)
            first, length, place = self.buffer[0], self.buffer[1] & 0x7F, 2
            assert self.buffer[1] & 0x80 == 0, "a server masks nothing"
            if length >= 126:
                size = 2 if length == 126 else 8
                self.need(2 + size)
                length, place = int.from_bytes(self.buffer[2:2 + size], "big"), 2 + size
            self.need(place + length)
            payload, self.buffer = self.buffer[place:place + length], self.buffer[place + length:]
            if first & 0x0F == 8:
                raise EOFError(f"closed: {payload!r}")
            if first & 0x0F == 2:
                return payload

    def write_frame(self, payload, opcode=2):
        mask = os.urandom(4)
        length = len(payload)
        size = bytes([0x80 | length]) if length < 126 else b"\xfe" + struct.pack(">H", length) if length < 65536 else b"\xff" + struct.pack(">Q", length)
        self.socket.sendall(bytes([0x80 | opcode]) + size + mask + masked(payload, mask))

    # BLIP

    def write(self, kind, number, properties, body=b"", silent=False, compressed=True, piece=10_000):
        text = "".join(f"{name}\0{value}\0" for name, value in properties.items()).encode()
        payload = varint(len(text)) + text + body
        for start in range(0, len(payload), piece):
            data = payload[start:start + piece]
            flags = kind | (NO_REPLY if silent else 0) | (COMPRESSED if compressed else 0) | (MORE if start + piece < len(payload) else 0)
            self.sent_sum = zlib.crc32(data, self.sent_sum)
            out = (self.deflate.compress(data) + self.deflate.flush(zlib.Z_SYNC_FLUSH))[:-4] if compressed else data
            self.write_frame(varint(number) + bytes([flags]) + out + struct.pack(">I", self.sent_sum))

    def read(self):
        """The next message; acknowledgements are sent on the way, and others are passed over."""
        while True:
            number, rest = take_varint(self.read_frame())
            flags, rest = rest[0], rest[1:]
            kind = flags & 7
            if kind in (ACK_REQUEST, ACK_REPLY):
                continue
            data, told = rest[:-4], struct.unpack(">I", rest[-4:])[0]
            key = (kind != REQUEST, number)
            self.raw[key] = self.raw.get(key, 0) + len(rest)
            if flags & COMPRESSED:
                data = self.inflate.decompress(data + b"\0\0\xff\xff")
            self.read_sum = zlib.crc32(data, self.read_sum)
            assert self.read_sum == told, "the checksum is wrong"
            # Appended in place: a message of many megabytes comes in thousands of pieces.
            self.parts.setdefault(key, bytearray()).extend(data)
            if self.raw[key] - self.acked.get(key, 0) >= 50_000:
                self.acked[key] = self.raw[key]
                self.write_frame(varint(number) + bytes([(ACK_REPLY if key[0] else ACK_REQUEST) | 0x30]) + varint(self.raw[key]))
            if not flags & MORE:
                return Message(kind, number, flags, bytes(self.parts.pop(key)))

    def send(self, properties, body=b"", silent=False, **options):
        self.number += 1
        self.write(REQUEST, self.number, properties, body, silent, **options)
        return self.number

    def ask(self, properties, body=b"", **options):
        """The answer to a request; requests of the server are kept for later."""
        number = self.send(properties, body, **options)
        while True:
            message = self.read()
            if message.kind != REQUEST and message.number == number:
                return message
            self.waiting.append(message)

    def next_request(self):
        for index, message in enumerate(self.waiting):
            if message.kind == REQUEST:
                return self.waiting.pop(index)
        while True:
            message = self.read()
            if message.kind == REQUEST:
                return message

    def respond(self, message, body=b"", properties=None):
        if not message.silent:
            self.write(REPLY, message.number, properties or {}, body)

    def pull(self, documents, own=None, **properties):
        """Pulls until all was sent; documents get what came, by id."""
        answer = self.ask({"Profile": "subChanges", "batch": "50", **(own or {}), **properties})
        assert answer.kind == REPLY, answer.body
        last = 0
        while True:
            message = self.next_request()
            if message.profile == "changes":
                rows = message.json()
                if not rows:
                    assert message.silent
                    return last
                last = rows[-1][0]
                self.respond(message, json.dumps([[] for _ in rows]).encode())
                expected = {row[1] for row in rows}
            elif message.profile in ("rev", "norev"):
                documents[message.properties["id"]] = message
                expected.discard(message.properties["id"])
                self.respond(message)
                if not expected and properties.get("continuous") and message.properties.get("last"):
                    return last

    def close(self):
        self.write_frame(struct.pack(">H", 1000), opcode=8)
        try:
            while True:
                self.read_frame()
        except (EOFError, OSError):
            self.socket.close()


def error(message):
    return message.properties.get("Error-Domain"), int(message.properties.get("Error-Code", 0))


def push(client, documents, own=None):
    """Pushes (id, rev, history, body, deleted) as a client that wants no conflicts; the answers to each."""
    own = own or {}
    rows = [[one[0], one[1], (one[2] or [""])[0]] for one in documents]
    answer = client.ask({"Profile": "proposeChanges", "conflictIncludesRev": "true", **own}, json.dumps(rows).encode())
    assert answer.kind == REPLY, answer.body
    said = answer.json() + [0] * (len(rows) - len(answer.json()))
    sent = {}
    for one, status in zip(documents, said):
        if status == 0:
            properties = {"Profile": "rev", "id": one[0], "rev": one[1], "history": ",".join(one[2]), "noconflicts": "true", "sequence": "1", **own}
            if one[4]:
                properties["deleted"] = "1"
            sent[client.send(properties, json.dumps(one[3]).encode())] = one[0]
    outcomes = dict(zip((one[0] for one in documents), said))
    for message in [client.read() for _ in sent]:
        outcomes[sent[message.number]] = error(message) if message.kind == ERROR else "stored"
    return outcomes


def hexadecimal(*words):
    return hashlib.sha1(" ".join(map(str, words)).encode()).hexdigest()


def serve(settle, folder):
    """Starts a server; returns its process and its port."""
    server = subprocess.Popen([settle, "serve", "--dir", folder, "--port", "0", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=os.environ | {"SETTLE_ADMIN": "admin", "SETTLE_ADMIN_PASSWORD": "admin"})
    return server, json.loads(server.stdout.readline())["port"]


def http(port, method, path, body=None, kind="application/json"):
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {"Authorization": "Basic " + base64.b64encode(b"admin:admin").decode(), "Content-Type": kind, "Accept": "application/json"}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    data = answer.read()
    assert answer.status < 300, (answer.status, data)
    return data


def sha1(content):
    return "sha1-" + base64.b64encode(hashlib.sha1(content).digest()).decode()


def blobs(port, database):
    """Blobs arrive with their contents, leave as blobs, and survive an edit by a client of CouchDB."""
    photo, note = os.urandom(300_000), b"a note"
    member = {"@type": "blob", "digest": sha1(photo), "length": len(photo), "content_type": "image/png"}
    body = {"name": "With a photo", "deep": [{"photo": member}], "same": member}
    client = Client(port, database)
    answer = client.ask({"Profile": "proposeChanges"}, json.dumps([["pictured", f"1-{hexadecimal('pictured')}"]]).encode())
    assert answer.properties.get("blobs") == "true"
    number = client.send({"Profile": "rev", "id": "pictured", "rev": f"1-{hexadecimal('pictured')}", "noconflicts": "1"}, json.dumps(body).encode())
    asked = client.next_request()
    assert asked.profile == "getAttachment" and asked.properties["digest"] == member["digest"] and asked.properties["docID"] == "pictured"
    client.respond(asked, photo)
    while True:
        message = client.waiting.pop(0) if client.waiting else client.read()
        if message.kind == REQUEST:
            client.respond(message, photo)
        elif message.number == number:
            break
    assert message.kind == REPLY, (message.properties, message.body)

    stored = json.loads(http(port, "GET", f"/{database}/pictured"))
    assert stored["same"] == member and sorted(stored["_attachments"]) == ["blob_/deep/0/photo", "blob_/same"], stored
    assert http(port, "GET", f"/{database}/pictured/blob_%2Fsame") == photo
    stored["name"] = "Renamed by a client of CouchDB"
    http(port, "PUT", f"/{database}/pictured", json.dumps(stored))
    plain = json.loads(http(port, "PUT", f"/{database}/noted", b'{"n":1}'))
    http(port, "PUT", f"/{database}/noted/note.txt?rev={plain['rev']}", note, "text/plain")

    found = {}
    client.pull(found)
    assert found["pictured"].json()["name"].startswith("Renamed") and found["pictured"].json()["same"] == member
    pictured, noted = found["pictured"], found["noted"]
    stub = found["noted"].json()["_attachments"]["note.txt"]
    assert stub["digest"] == sha1(note) and stub["stub"] is True and stub["length"] == len(note), stub
    assert client.ask({"Profile": "getAttachment", "digest": member["digest"], "docID": "pictured"}).body == photo
    assert client.ask({"Profile": "getAttachment", "digest": stub["digest"], "docID": "noted"}).body == note
    assert error(client.ask({"Profile": "getAttachment", "digest": "sha1-none", "docID": "noted"})) == ("HTTP", 404)

    found.clear()
    client.pull(found, since="1000000")
    assert not found, "a second subscription continues at the position that it names"

    # An edit of it needs no content that is here, and keeps the attachment of the other client.
    message = pictured
    edited = {**message.json(), "name": "Renamed again"}
    history = ",".join([message.properties["rev"], message.properties["history"]])
    again = client.ask({"Profile": "rev", "id": "pictured", "rev": f"3-{hexadecimal('again')}", "history": history, "noconflicts": "1"}, json.dumps(edited).encode())
    assert again.kind == REPLY, again.body
    message = noted
    history = ",".join([message.properties["rev"], message.properties["history"]])
    again = client.ask({"Profile": "rev", "id": "noted", "rev": f"3-{hexadecimal('noted')}", "history": history, "noconflicts": "1"},
                       json.dumps({**message.json(), "n": 2}).encode())
    assert again.kind == REPLY, again.body
    assert http(port, "GET", f"/{database}/noted/note.txt") == note
    assert json.loads(http(port, "GET", f"/{database}/pictured"))["name"] == "Renamed again"

    lying = {"x": {"@type": "blob", "digest": sha1(b"truth"), "length": 5}}
    number = client.send({"Profile": "rev", "id": "lie", "rev": f"1-{hexadecimal('lie')}"}, json.dumps(lying).encode())
    client.respond(client.next_request(), b"lies")
    message = client.read()
    assert message.number == number and error(message) == ("HTTP", 400), message.properties
    client.close()


def ends(client, after):
    """Whether the server ends the connection after so many more messages at the latest."""
    try:
        for _ in range(after + 1):
            client.next_request()
        return False
    except EOFError:
        return True


def refusals(port, database):
    """A right that was taken away ends the connection; only a client that knows ids of trees gets them as history."""
    http(port, "PUT", f"/{database}/plain", b'{"n":1}')
    rev = json.loads(http(port, "GET", f"/{database}/plain"))["_rev"]
    vectors = {"Profile": "subChanges", "versioning": "version-vectors", "docIDs": ""}
    told = []
    for known in ([], ["1-ab"]):
        client = Client(port, database, "BLIP_3+CBMobile_4")
        assert client.ask(vectors, b'{"docIDs":["plain"]}').kind == REPLY
        client.respond(client.next_request(), json.dumps([known]).encode())
        told.append(client.next_request().properties)
        client.close()
    assert all(one["rev"].endswith("@Revision+Tree+Encoding") for one in told), told
    assert "history" not in told[0] and told[1]["history"] == rev, told

    user = {"name": "bob", "password": "pw", "roles": [], "type": "user"}
    http(port, "PUT", "/_users/org.couchdb.user:bob", json.dumps(user).encode())
    members = {"members": {"names": ["bob"], "roles": []}, "admins": {"names": [], "roles": []}}
    http(port, "PUT", f"/{database}/_security", json.dumps(members).encode())
    client = Client(port, database, user="bob:pw")
    assert client.ask({"Profile": "subChanges", "continuous": "true"}, b'{"docIDs":["watched"]}').kind == REPLY
    assert client.next_request().json() == []
    members["members"]["names"] = ["anna"]
    http(port, "PUT", f"/{database}/_security", json.dumps(members).encode())
    http(port, "PUT", f"/{database}/watched", b'{"n":1}')
    assert ends(client, 0)


def idle(port, database):
    client = Client(port, database)
    # Longer than the server lets a request take.
    time.sleep(8)
    assert error(client.ask({"Profile": "getCheckpoint", "client": "none"})) == ("HTTP", 404)


def crowd(port, database):
    failures = []

    def one(name):
        try:
            client = Client(port, database)
            documents = [(f"{name}-{n}", f"1-{hexadecimal(name, n)}", [], {"n": n}, False) for n in range(40)]
            assert set(push(client, documents).values()) == {"stored"}
            found = {}
            client.pull(found)
            missing = [one[0] for one in documents if one[0] not in found]
            assert not missing, missing
            client.close()
        except Exception as problem:
            failures.append(repr(problem))

    threads = [threading.Thread(target=one, args=(f"device-{number}",)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def main():
    port, database = int(sys.argv[1]), sys.argv[2]
    if len(sys.argv) > 3:
        return {"idle": idle, "crowd": crowd}[sys.argv[3]](port, database)

    refused = Client(port, database, protocols="BLIP_3+CBMobile_5")
    assert refused.status == 400, refused.status
    assert Client(port, "none").status == 404
    assert Client(port, database, user="admin:wrong").status == 401

    client = Client(port, database)
    assert client.status == 101, client.head
    assert error(client.ask({"Profile": "getCheckpoint", "client": "cp-1"})) == ("HTTP", 404)
    assert error(client.ask({"Profile": "nonsense"})) == ("BLIP", 404)
    assert error(client.ask({"Profile": "getCheckpoint", "client": "x", "collection": "0"})) == ("HTTP", 400)
    saved = client.ask({"Profile": "setCheckpoint", "client": "cp-1"}, b'{"local":1}')
    assert saved.properties["rev"] == "0-1", saved.properties
    assert error(client.ask({"Profile": "setCheckpoint", "client": "cp-1", "rev": "0-7"}, b"{}")) == ("HTTP", 409)
    again = client.ask({"Profile": "getCheckpoint", "client": "cp-1"})
    assert again.json() == {"local": 1} and again.properties["rev"] == "0-1"

    documents = [(f"doc-{n:03}", f"1-{hexadecimal(n)}", [], {"n": n, "text": "x" * (n * 40)}, False) for n in range(300)]
    assert set(push(client, documents).values()) == {"stored"}
    assert set(push(client, documents).values()) == {304}
    large = ("large", f"1-{hexadecimal('large')}", [], {"noise": base64.b64encode(os.urandom(600_000)).decode()}, False)
    assert push(client, [large]) == {"large": "stored"}
    gone = ("doc-001", f"2-{hexadecimal('gone')}", [documents[1][1]], {}, True)
    assert push(client, [gone]) == {"doc-001": "stored"}
    other = ("doc-002", f"2-{hexadecimal('other')}", [f"1-{hexadecimal('unknown')}"], {"n": "mine"}, False)
    assert push(client, [other]) == {"doc-002": {"status": 409, "rev": documents[2][1]}}
    number = client.send({"Profile": "rev", "id": "doc-002", "rev": other[1], "history": other[2][0], "noconflicts": "1"}, b"{}")
    message = client.read()
    assert message.number == number and error(message) == ("HTTP", 409), (message.properties, message.body)
    assert error(client.ask({"Profile": "rev", "id": "b", "rev": "3-a", "history": "3-b"}, b"{}")) == ("HTTP", 400)

    found = {}
    client.pull(found)
    assert len(found) == 301, len(found)
    assert found["doc-001"].properties.get("deleted") == "1" and found["doc-001"].properties["history"] == documents[1][1]
    assert found["doc-299"].json() == documents[299][3] and found["doc-299"].properties["rev"] == documents[299][1]
    assert found["large"].json() == large[3]
    client.close()

    later = Client(port, database)
    answer = later.ask({"Profile": "getCollections"}, json.dumps({"checkpoint_ids": ["cp-1", "cp-2"], "collections": ["_default", "a.b"]}).encode())
    assert answer.json() == [{"local": 1, "rev": "0-1"}, None], answer.body
    own = {"collection": "0"}
    assert error(later.ask({"Profile": "getCheckpoint", "client": "cp-1"})) == ("HTTP", 400)
    assert error(later.ask({"Profile": "subChanges", "filter": "sync_gateway/bychannel", "channels": "A", **own})) == ("HTTP", 400)
    found = {}
    later.pull(found, own, activeOnly="true", continuous="true", since="1")
    assert "doc-001" not in found and len(found) == 299, len(found)
    assert push(Client(port, database), [("late", f"1-{hexadecimal('late')}", [], {"late": True}, False)]) == {"late": "stored"}
    change = later.next_request()
    assert change.profile == "changes" and [row[1] for row in change.json()] == ["late"] and change.properties["collection"] == "0", change.body
    later.respond(change, b"[[]]")
    revision = later.next_request()
    assert revision.profile == "rev" and revision.json() == {"late": True}
    later.respond(revision)
    # Deletions are left out of the first pull alone.
    removed = ("late", f"2-{hexadecimal('removed')}", [f"1-{hexadecimal('late')}"], {}, True)
    assert push(Client(port, database), [removed]) == {"late": "stored"}
    change = later.next_request()
    assert [row[1:] for row in change.json()] == [["late", removed[1], 1]], change.body
    later.respond(change, b"[[]]", {"maxHistory": "0"})
    revision = later.next_request()
    assert revision.properties.get("deleted") == "1" and "history" not in revision.properties, revision.properties
    later.respond(revision)
    later.close()

    blobs(port, database)
    refusals(port, database)

    broken = Client(port, database)
    broken.write_frame(b"\x01\x00\x00\x00\x00\x00\x00")
    try:
        broken.read()
        raise AssertionError("a wrong checksum passed")
    except EOFError:
        pass
    print("all is as expected")


if __name__ == "__main__":
    main()
