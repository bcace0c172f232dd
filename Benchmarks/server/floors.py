#!/usr/bin/env python3
"""What the disk and SQLite alone reach, beside which requests are judged.

    floors.py syncs FOLDER                                      writes of two pages, each forced to the disk, for three seconds
    floors.py lookups DATABASE --documents 10000000 [--cache 2048]
                                                                100 random ids a transaction, 101 times, with a cache of so many KiB

DATABASE is the file `big.settle/database.sqlite` of a folder of `growth.py`, while no server has it open.
"""
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time

from options import parser, positive

PAGES = b"x" * 2 * 4120


def syncs(folder):
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for kind in ("new", "written before"):
            seconds, end = [], time.perf_counter() + 3
            while time.perf_counter() < end:
                began = time.perf_counter()
                os.pwrite(file.fileno(), PAGES, len(seconds) * len(PAGES))
                os.fdatasync(file.fileno())
                seconds.append(time.perf_counter() - began)
            print(f"room that is {kind}: {len(seconds) / 3:,.0f}/s, median {statistics.median(seconds) * 1e6:.0f} µs")


def lookups(database, documents, cache):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, isolation_level=None)
    connection.execute(f"PRAGMA cache_size = -{cache}")
    chance, times = random.Random(7), []
    for _ in range(101):
        # The ids of `growth.py`.
        ids = [f"{chance.randrange(documents) * 0x9E3779B97F4A7C15 % 2**64:016x}".encode() for _ in range(100)]
        began = time.process_time()
        connection.execute("BEGIN")
        for name in ids:
            if connection.execute("SELECT flags, tree FROM documents WHERE id = ?", (name,)).fetchone() is None:
                raise SystemExit(f"there is no document {name.decode()}; --documents is the number that was imported")
        connection.execute("COMMIT")
        times.append((time.process_time() - began) * 1000)
    print(f"100 documents by their ids, with a cache of {cache} KiB: {statistics.median(times):.2f} ms of a processor")


def main():
    options = parser(__doc__)
    options.add_argument("floor", choices=["syncs", "lookups"])
    options.add_argument("path")
    options.add_argument("--documents", type=positive, default=100_000)
    options.add_argument("--cache", type=positive, default=2048, help="KiB")
    given = options.parse_args()
    try:
        if given.floor == "syncs":
            syncs(given.path)
        else:
            lookups(given.path, given.documents, given.cache)
    except (OSError, sqlite3.Error) as reason:
        sys.exit(f"{given.path}: {reason}")


if __name__ == "__main__":
    main()
