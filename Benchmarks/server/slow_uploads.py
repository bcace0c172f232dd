#!/usr/bin/env python3
"""Uploads while others upload slowly: how long a client with a good line waits behind them.

    slow_uploads.py --settle .build/release/settle [--slow 64] [--seconds 10]            with a server of its own
    slow_uploads.py --url http://127.0.0.1:5984 --user admin --password … [--slow 64] [--seconds 10]

Opens connections that have sent the head and 1.5 MiB of an attachment of 100 MiB and then send a byte a second. Beside
them one client puts attachments of 2 MiB, and small documents, one after the other. The database bench_slow is made and
removed.
"""
import socket
import threading
import time

from client import connect, reach, server_options
from options import above_zero, positive

options = server_options(__doc__)
options.add_argument("--slow", type=positive, default=64, help="how many upload slowly")
options.add_argument("--seconds", type=above_zero, default=10)
given = reach(options)
database = "/bench_slow"


def drip(count, isOver):
    """Begins the slow uploads, then sends a byte of each every second."""
    made = connect(given)
    uploads = []
    for number in range(count):
        upload = socket.create_connection((made.host, made.port))
        head = f"PUT {database}/slow{number}/file HTTP/1.1\r\nHost: {made.host}\r\nAuthorization: {made.login}\r\n"
        upload.sendall((head + f"Content-Length: {100 << 20}\r\n\r\n").encode() + bytes(3 << 19))
        uploads.append(upload)
    while not isOver.wait(1):
        for upload in uploads:
            upload.send(b"x")


def measure(name, path, body):
    """Puts bodies under different names for some seconds, and prints how many and how long the slowest took."""
    client = connect(given)
    client.socket.settimeout(given.seconds)
    waits, end = [], time.monotonic() + given.seconds
    while time.monotonic() < end:
        began = time.monotonic()
        try:
            client.ask("PUT", database + path % len(waits), body)
        except TimeoutError:
            print(f"{given.slow} slow uploads, {name}: none was answered within {given.seconds:.0f} s")
            return
        waits.append(time.monotonic() - began)
    waits.sort()
    print(
        f"{given.slow} slow uploads, {name}: {len(waits) / given.seconds:.0f}/s, {1000 * waits[len(waits) // 2]:.1f} ms "
        f"(median), {1000 * waits[-1]:.0f} ms (longest)", flush=True)


writer = connect(given)
writer.ask("DELETE", database, good=(200, 404))
writer.ask("PUT", database)
over = threading.Event()
thread = threading.Thread(target=drip, args=(given.slow, over), daemon=True)
thread.start()
time.sleep(2)
measure("attachments of 2 MiB", "/a%d/file", bytes(2 << 20))
measure("documents", "/d%d", b'{"type":"item"}')
over.set()
thread.join()
writer.ask("DELETE", database)
