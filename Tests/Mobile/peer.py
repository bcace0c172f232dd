#!/usr/bin/env python3
"""A peer that waits for replicators, with the habits of others than Settle's server.

    peer.py old REV   knows collections, refuses their numbers, and answers no second proposal before it has what it wanted of
                      the first, as peers of Couchbase Lite before 3.4 do; has each document `updated-…` at the revision REV
    peer.py gateway   removes documents from channels, loses one, refuses one, names no revision when it has another, counts
                      sequences in texts, has null for a list without rows, as versions of Sync Gateway do, and a member of
                      a document whose name is reserved
    peer.py cutting   ends its first connection in the middle of a pull
    peer.py slow      answers revisions three seconds after the last of them, and counts the attachments that are under way meanwhile
    peer.py silent    says nothing of a subscription, and ends a connection that sends a ping
    peer.py vectors   has a database with version vectors, as Couchbase Lite 4 makes it: sends nothing to a client that knows trees,
                      has another version of `edited`, and ends a connection that sends what it refuses
    peer.py asked     has the revision 2-bb of each document, and prints how often it was asked about documents in conflict

It prints its port, serves until its standard input ends, and then prints how many revisions (or pings) it got, and how many it let
wait at a time. It exits with 1 if a replicator
did what it must not.
"""
import base64
import hashlib
import json
import os
import socket
import sys
import threading

from client import ERROR, REPLY, Client, masked

ROWS = {
    "old": [],
    "gateway": [
        ["1::1", "kept", "1-aa", {"n": 1}], ["1::2", "left", "2-bb", {}, 4], ["1::3", "lost", "1-cc", None],
        ["1::4", "removed", "2-dd", {"_removed": True}], ["1::5", "odd", "1-ee", {"n": 5}],
        ["1::6", "reserved", "1-ff", {"n": 6, "_price": 3}], ["1::7", "described", "1-ab", {"n": 7, "_id": "described", "_rev": "1-ab"}],
    ],
    "slow": [], "silent": [], "vectors": [], "asked": [],
    "cutting": [[number, f"doc-{number}", f"1-{number:02}", {"n": number}] for number in range(1, 9)],
}
got, faults, connections, waits = [], [], [], [0]


class Peer(Client):
    """One connection, at the end that waits."""

    def __init__(self, accepted, mode):
        self.socket, self.mode, self.buffer = accepted, mode, b""
        self.socket.settimeout({"slow": 3, "silent": 240}.get(mode, 300))
        self.number_of_connection = len(connections)
        connections.append(self)
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        key = fields["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        protocol = fields["Sec-WebSocket-Protocol"].split(",")[0]
        self.socket.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n").encode())
        self.begin()
        self.awaited, self.held, self.unanswered = set(), [], []

    def read_frame(self):
        while True:
            self.need(2)
            first, length, place = self.buffer[0], self.buffer[1] & 0x7F, 2
            if length >= 126:
                size = 2 if length == 126 else 8
                self.need(2 + size)
                length, place = int.from_bytes(self.buffer[2:2 + size], "big"), 2 + size
            self.need(place + 4 + length)
            mask, payload = self.buffer[place:place + 4], self.buffer[place + 4:place + 4 + length]
            self.buffer = self.buffer[place + 4 + length:]
            if first & 0x0F == 8:
                raise EOFError("closed")
            if first & 0x0F == 9 and self.mode == "silent":
                got.append("ping")
                self.socket.shutdown(socket.SHUT_RDWR)
            if first & 0x0F == 2:
                return masked(payload, mask)

    def write_frame(self, payload, opcode=2):
        length = len(payload)
        size = bytes([length]) if length < 126 else b"\x7e" + length.to_bytes(2, "big") if length < 65536 else b"\x7f" + length.to_bytes(8, "big")
        self.socket.sendall(bytes([0x80 | opcode]) + size + payload)

    def fail(self, message, code, text=b"", domain="HTTP"):
        self.write(ERROR, message.number, {"Error-Domain": domain, "Error-Code": str(code)}, text)

    def serve(self):
        try:
            while True:
                try:
                    self.handle(self.next_request())
                except TimeoutError:
                    if self.mode != "slow":
                        raise
                    waiting, self.unanswered = self.unanswered, []
                    waits[0] = max(waits[0], len(waiting))
                    for message in waiting:
                        self.respond(message)
        except (EOFError, OSError):
            pass

    def handle(self, message):
        if message.profile == "getCollections":
            return self.respond(message, b"[{}]")
        if self.mode == "old" and "collection" in message.properties:
            return self.fail(message, 400, b"inappropriate use of the collection property")
        name = message.properties.get("client")
        if message.profile == "getCheckpoint":
            if name not in CHECKPOINTS:
                return self.fail(message, 404)
            return self.respond(message, CHECKPOINTS[name], {"rev": "0-1"})
        if message.profile == "setCheckpoint":
            CHECKPOINTS[name] = message.body
            return self.respond(message, b"", {"rev": "0-1"})
        if message.profile == "proposeChanges":
            if self.mode == "asked":
                got.append(len(message.json()))
            return self.held.append(message) if self.awaited else self.propose(message)
        if message.profile == "rev":
            one = (message.properties["id"], message.properties["rev"])
            if one not in self.awaited and one[0] != "unnamed":
                faults.append(f"{one} was not asked for")
                if self.mode == "vectors":
                    self.socket.shutdown(socket.SHUT_RDWR)
            self.awaited.discard(one)
            got.append(one)
            if self.mode == "slow":
                return self.unanswered.append(message)
            self.respond(message)
            if not self.awaited and self.held:
                self.propose(self.held.pop(0))
            return None
        if message.profile == "subChanges" and self.mode == "vectors":
            return self.fail(message, 501, b"Incompatible document versioning.", "LiteCore")
        if message.profile == "subChanges":
            return self.publish(message)
        faults.append(f"what is {message.profile}?")
        return self.fail(message, 404)

    def propose(self, message):
        def answer(name, _, known=None):
            if name.startswith("updated-") and known != sys.argv[2]:
                return {"status": 409, "rev": sys.argv[2]}
            if self.mode == "asked":
                return {"status": 409, "rev": "2-bb"}
            if self.mode == "vectors" and name == "edited":
                return {"status": 409, "rev": "18eb294ff580000@taTaqEMFTcmPzX4iVJ1NAw; 1-cc"}
            return {"forbidden": 403, "unnamed": 409}.get(name, 0)

        answers = [answer(*row) for row in message.json()]
        self.awaited |= {(row[0], row[1]) for row, answer in zip(message.json(), answers) if answer == 0}
        self.respond(message, json.dumps(answers).encode())

    def publish(self, message):
        self.respond(message)
        if self.mode == "silent":
            return
        own = {"collection": "0"} if "collection" in message.properties else {}
        since = json.loads(message.properties.get("since", "null"))
        known = [row[0] for row in ROWS[self.mode]]
        if since is not None and since not in known:
            faults.append(f"{since!r} is no sequence of mine")
        rows = ROWS[self.mode][known.index(since) + 1 if since in known else 0:]
        if message.body:
            if "continuous" in message.properties:
                faults.append("ids in a continuous subscription")
            wanted = set(message.json()["docIDs"])
            rows = [row for row in rows if row[1] in wanted]
        if rows:
            # Three values and flags; never the body.
            answer = self.ask({"Profile": "changes", **own}, json.dumps([row[:3] + row[4:] for row in rows]).encode()).json()
            chosen = [row for row, want in zip(rows, answer) if isinstance(want, list)]
            if any(row[1] == "left" for row in chosen):
                faults.append("a removed document is wanted")
            for number, row in enumerate(chosen):
                if self.mode == "cutting" and self.number_of_connection == FIRST_PULL[0] and number == 3:
                    FIRST_PULL[0] = -1
                    self.socket.shutdown(socket.SHUT_RDWR)
                    raise EOFError("cut")
                properties = {"id": row[1], "rev": row[2], "sequence": json.dumps(row[0]), **own}
                if row[3] is None:
                    self.send({"Profile": "norev", "error": "404", "reason": "missing", **properties}, silent=True)
                else:
                    self.ask({"Profile": "rev", **properties}, json.dumps(row[3]).encode())
        self.send({"Profile": "changes", **own}, b"null" if self.mode == "gateway" else b"[]", silent=True)


CHECKPOINTS, FIRST_PULL = {}, [1]


def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    print(listener.getsockname()[1], flush=True)

    def accept():
        while True:
            accepted, _ = listener.accept()
            threading.Thread(target=lambda: Peer(accepted, sys.argv[1]).serve(), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()
    print(len(got), *filter(None, waits), *faults[:5], flush=True)
    os._exit(1 if faults else 0)


if __name__ == "__main__":
    main()
