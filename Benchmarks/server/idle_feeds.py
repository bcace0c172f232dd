#!/usr/bin/env python3
"""Thousands of clients that follow the changes of a database and wait: what they cost, and whether they are served.

    idle_feeds.py --settle .build/release/settle [--feeds 5000] [--heartbeat 5]          with a server of its own
    idle_feeds.py --url http://127.0.0.1:5984 --user admin --password … --pid SERVER_PID [--feeds 5000] [--heartbeat 5]

Opens the feeds, and says how much memory the server has for them; resets half of them at once, and says when the server has
noticed; writes one document, and says when it has reached all that are left. Needs a limit of open files above the number
of feeds, here and at the server. The database bench_feeds is made and removed.
"""
import base64
import http.client
import json
import selectors
import socket
import struct
import time
from urllib.parse import urlsplit

from client import reach, server_options
from options import above_zero, positive
from processes import memory

options = server_options(__doc__)
options.add_argument("--feeds", type=positive, default=5000)
options.add_argument("--heartbeat", type=above_zero, default=5, help="seconds between two signs of life")
given = reach(options, needs_process=True)
place = urlsplit(given.url)
host, port = place.hostname, place.port or 80
login = "Basic " + base64.b64encode(f"{given.user}:{given.password}".encode()).decode()
database = "/bench_feeds"


def ask(method, path, body=None):
    """One request, and its status and answer."""
    connection = http.client.HTTPConnection(host, port, timeout=60)
    headers = {"Authorization": login, "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def connections():
    """How many connections the server has, by its own count."""
    text = ask("GET", "/_node/_local/_prometheus")[1]
    return next(int(line.split()[-1]) for line in text.splitlines() if line.startswith("couchdb_settle_connections"))


ask("DELETE", database)
ask("PUT", database)
ask("PUT", database + "/first", {"n": 1})
before = memory(given.pid)
request = (
    f"GET {database}/_changes?feed=continuous&since=now&heartbeat={int(given.heartbeat * 1000)} HTTP/1.1\r\n"
    f"Host: {host}:{port}\r\nAuthorization: {login}\r\n\r\n"
).encode()
feeds = []
began = time.monotonic()
for _ in range(given.feeds):
    feed = socket.create_connection((host, port), timeout=60)
    feed.sendall(request)
    feeds.append(feed)
for feed in feeds:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = feed.recv(65536)
        if not piece:
            raise SystemExit("a feed was refused: " + received.decode("utf-8", "replace"))
        received += piece
print(f"{given.feeds} feeds opened in {time.monotonic() - began:.1f} s")
# Let each have had a sign of life.
time.sleep(given.heartbeat * 1.5)
after = memory(given.pid)
print(f"memory: {before:.0f} MiB before, {after:.0f} MiB with them, {(after - before) * 1024 / given.feeds:.1f} KiB each")

dead, feeds = feeds[: given.feeds // 2], feeds[given.feeds // 2 :]
expected = connections() - len(dead)
began = time.monotonic()
for feed in dead:
    feed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    feed.close()
while connections() > expected:
    if time.monotonic() - began > given.heartbeat * 3:
        raise SystemExit("not all dead clients were noticed within three heartbeats")
    time.sleep(0.1)
print(f"{len(dead)} reset at once were noticed after {time.monotonic() - began:.1f} s")

waiting = selectors.DefaultSelector()
for feed in feeds:
    feed.setblocking(False)
    waiting.register(feed, selectors.EVENT_READ)
left = set(feeds)
began = time.monotonic()
if ask("PUT", database + "/news", {"n": 2})[0] != 201:
    raise SystemExit("the document was not written")
while left:
    for key, _ in waiting.select(timeout=60):
        if b'"news"' in key.fileobj.recv(65536):
            waiting.unregister(key.fileobj)
            left.discard(key.fileobj)
    if time.monotonic() - began > 60:
        raise SystemExit(f"{len(left)} feeds did not hear of the change within a minute")
print(f"a change reached all {len(feeds)} others within {time.monotonic() - began:.2f} s")
for feed in feeds:
    feed.close()
ask("DELETE", database)
