#!/usr/bin/env python3
"""A large attachment to a server and back: how long it takes, and the most memory the server had.

    attachment.py --settle .build/release/settle [--size 2048]                           with a server of its own
    attachment.py --url http://127.0.0.1:5984 --user admin --password … --pid SERVER_PID [--size 2048]

The bytes are compared by their hash. The database bench_attachment is made and removed. The peak is that of the process
since its start, so measure a server that has done nothing else.
"""
import base64
import hashlib
import http.client
import json
import random
import time
from urllib.parse import urlsplit

from client import reach, server_options
from options import positive
from processes import memory

options = server_options(__doc__)
options.add_argument("--size", type=positive, default=2048, help="in MiB")
given = reach(options, needs_process=True)
place = urlsplit(given.url)
login = {"Authorization": "Basic " + base64.b64encode(f"{given.user}:{given.password}".encode()).decode()}
database = "/bench_attachment"
piece = random.Random(1).randbytes(1 << 20)


def ask(method, path):
    """One request without a body, and its answer as JSON."""
    connection = http.client.HTTPConnection(place.hostname, place.port or 80, timeout=600)
    connection.request(method, path, headers=login)
    return json.loads(connection.getresponse().read())


def pieces(digest):
    """The attachment, a MiB at a time, each different."""
    for number in range(given.size):
        block = number.to_bytes(8, "big") + piece[8:]
        digest.update(block)
        yield block


ask("DELETE", database)
ask("PUT", database)
before = memory(given.pid, "VmHWM")
sent, received = hashlib.sha256(), hashlib.sha256()
connection = http.client.HTTPConnection(place.hostname, place.port or 80, timeout=600)
began = time.monotonic()
headers = login | {"Content-Type": "application/octet-stream", "Content-Length": str(given.size << 20)}
connection.request("PUT", database + "/document/large", pieces(sent), headers)
answer = connection.getresponse()
if answer.status != 201:
    raise SystemExit(f"refused: {answer.status} {answer.read()!r}")
answer.read()
print(f"{given.size} MiB up: {time.monotonic() - began:.1f} s")
began = time.monotonic()
connection.request("GET", database + "/document/large", headers=login)
answer = connection.getresponse()
while block := answer.read(1 << 20):
    received.update(block)
print(f"{given.size} MiB down: {time.monotonic() - began:.1f} s")
if sent.digest() != received.digest():
    raise SystemExit("what came back is not what was sent")
print(f"peak memory of the server: {before:.0f} MiB before, {memory(given.pid, 'VmHWM'):.0f} MiB after")
ask("DELETE", database)
