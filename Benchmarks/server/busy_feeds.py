#!/usr/bin/env python3
"""Writes while thousands of clients follow the changes: how many writes a second, and how soon each reaches all of them.

    busy_feeds.py --settle .build/release/settle [--feeds 5000] [--seconds 10]           with a server of its own
    busy_feeds.py --url http://127.0.0.1:5984 --user admin --password … --pid SERVER_PID [--feeds 5000] [--seconds 10]

Opens the feeds, writes small documents one after the other on one connection for some seconds, and follows each feed on
another process. It does so with continuous feeds and with long polling, whose clients ask again after each answer. The
delay of a write is the time from its answer until the last feed has it. Needs a limit of open files above the number of
feeds, here and at the server. The database bench_busy is made and removed.
"""
import multiprocessing
import re
import selectors
import socket
import time

from client import connect, reach, server_options
from options import above_zero, at_least, positive, words
from processes import memory

options = server_options(__doc__)
options.add_argument("--feeds", type=positive, default=5000)
options.add_argument("--seconds", type=above_zero, default=10)
options.add_argument("--rate", type=at_least(0, float), default=0, help="writes a second at most; 0 for as many as there can be")
options.add_argument("--kinds", type=words("continuous", "longpoll"), default="continuous,longpoll", help="of feeds, with commas between")
given = reach(options, needs_process=True)
database = "/bench_busy"
row = re.compile(rb'"seq":"(\d+)-')
last = re.compile(rb'"last_seq":"([^"]+)"')
# What stands between two chunks of an answer, wherever that is in its text.
chunk = re.compile(rb"\r\n[0-9a-fA-F]+\r\n(?!\r\n)")


class Feeds:
    """Many feeds, and the newest sequence that each of them has shown."""

    def __init__(self, kind, since, count):
        self.kind, self.count = kind, count
        self.connection = connect(given)
        self.waiting = selectors.EpollSelector()
        self.at = {}
        self.texts = {}
        self.feeds_at = {since: count}
        self.slowest = since
        for _ in range(count):
            feed = socket.create_connection((self.connection.host, self.connection.port), timeout=60)
            feed.sendall(self.request(str(since)))
            self.at[feed] = since
            self.texts[feed] = b""
        for feed in self.at:
            received = b""
            while b"\r\n\r\n" not in received:
                received += feed.recv(65536)
            if b" 200 " not in received[:20]:
                raise SystemExit("a feed was refused: " + received.decode("utf-8", "replace"))
            feed.setblocking(False)
            self.waiting.register(feed, selectors.EVENT_READ)

    def request(self, since):
        path = f"{database}/_changes?feed={self.kind}&since={since}&heartbeat=30000"
        return self.connection.request("GET", path)

    def look(self, seconds):
        """Reads what has come; true when the slowest feed has got further."""
        for key, _ in self.waiting.select(timeout=seconds):
            feed = key.fileobj
            try:
                piece = feed.recv(1 << 18)
            except BlockingIOError:
                continue
            if not piece:
                raise SystemExit("the server closed a feed")
            # Only the end is looked at: the rows come in order.
            text = chunk.sub(b"", (self.texts[feed] + piece)[-500:])
            found = row.findall(text)
            if found:
                self.move(feed, int(found[-1]))
            end = last.search(text) if self.kind == "longpoll" else None
            if end and text.endswith(b"0\r\n\r\n"):
                text = b""
                feed.send(self.request(end[1].decode()))
            self.texts[feed] = text
        before = self.slowest
        while self.feeds_at.get(self.slowest, 0) == 0 and self.slowest < max(self.feeds_at):
            self.feeds_at.pop(self.slowest, None)
            self.slowest += 1
        return self.slowest > before

    def move(self, feed, sequence):
        self.feeds_at[self.at[feed]] -= 1
        self.feeds_at[sequence] = self.feeds_at.get(sequence, 0) + 1
        self.at[feed] = sequence


def follow(kind, since, ready, newest, arrivals):
    """Opens the feeds, and says when the slowest of them has come to which sequence."""
    feeds = Feeds(kind, since, given.feeds)
    ready.set()
    reached = []
    while newest.value == 0 or feeds.slowest < newest.value:
        if feeds.look(0.1):
            reached.append((feeds.slowest, time.monotonic()))
        if newest.value and reached and time.monotonic() - reached[-1][1] > 60:
            raise SystemExit("not all feeds have seen all changes within a minute")
    arrivals.put(reached)


def measure(kind):
    writer = connect(given)
    writer.ask("DELETE", database, good=(200, 404))
    writer.ask("PUT", database)
    writer.ask("PUT", f"{database}/first", b'{"n":1}')
    ready, newest, arrivals = multiprocessing.Event(), multiprocessing.Value("q", 0), multiprocessing.Queue()
    follower = multiprocessing.Process(target=follow, args=(kind, 1, ready, newest, arrivals), daemon=True)
    follower.start()
    while not ready.wait(1):
        if not follower.is_alive():
            raise SystemExit("the feeds could not be opened")
    time.sleep(1)
    before, answered, began = memory(given.pid), [], time.monotonic()
    while time.monotonic() - began < given.seconds:
        if given.rate:
            time.sleep(max(0, began + len(answered) / given.rate - time.monotonic()))
        writer.ask("PUT", f"{database}/d{len(answered):08}", b'{"type":"item","n":%d}' % len(answered))
        answered.append(time.monotonic())
    newest.value = len(answered) + 1
    reached = arrivals.get(timeout=120)
    follower.join()
    delays, place = [], 0
    for number, moment in enumerate(answered):
        while reached[place][0] < number + 2:
            place += 1
        delays.append(max(0, reached[place][1] - moment))
    delays.sort()
    print(
        f"{given.feeds} feeds, {kind}: {len(answered) / given.seconds:.0f} writes/s; a write was at all feeds after "
        f"{delays[len(delays) // 2]:.2f} s (median), {delays[-1]:.2f} s (longest); memory {before:.0f} MiB before, "
        f"{memory(given.pid):.0f} MiB after", flush=True)
    writer.ask("DELETE", database)


for each in given.kinds:
    measure(each)
