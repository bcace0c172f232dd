#!/usr/bin/env python3
"""Loads a server evenly for minutes, without growth of its data, and checks that it does not grow itself.

    load.py [--minutes 90] [--seed N] [--settle PROGRAM] [--limit 1.0]

Clients send requests of every kind to a fixed set of documents; a compaction every half minute keeps the data small. Memory (RSS),
descriptors, threads and the length of the write-ahead logs are sampled each second. After a warm-up, a third of the time and at most 20
minutes, the slope of RSS by least squares must be at most --limit MB an hour, and its standard error is printed with it. The most
descriptors and threads of the last quarter may exceed the most before it by 5 percent: their numbers follow the load, which is less even
on a machine that does other work. At the end everything is checked as after a kill.

The limit is for a release build over 90 minutes. In a short run the slope says little, so below 30 minutes it is printed, and does not
fail. The samples are written to a file beside the state, with a line for each.
"""
import glob
import math
import os
import sys
import time

from checks import check
from kills import checking, close, prepare, verify
from ledger import Ledger
from proof import Proof, at_least, parser
from server import Client, Lost, Server
from writers import Writer, end

# Everything that keeps the data the same: compactions remove old bodies and attachments, and the limit old revisions. After a purge, the
# copy keeps the old branches, and branches of the same document would grow in number.
GROWING = ("compact", "design", "shared", "branch", "settle", "purge")
KINDS = {kind: weight for kind, weight in Writer.KINDS.items() if kind not in GROWING}
REVISIONS = 100
SHORT = 30
SLACK = 0.05


def sample(server):
    """RSS in MB, descriptors, threads, and MB of write-ahead logs."""
    place = f"/proc/{server.process.pid}"
    with open(place + "/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    logs = sum(os.path.getsize(path) for path in glob.glob(server.data + "/*/*-wal") if os.path.exists(path))
    return int(fields["VmRSS"].split()[0]) / 1024, len(os.listdir(place + "/fd")), int(fields["Threads"]), logs / (1 << 20)


def slope(points):
    """The slope of a line through points by least squares, and its standard error."""
    count = len(points)
    if count < 3:
        return 0.0, 0.0
    middle, mean = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - middle) ** 2 for x, _ in points)
    found = sum((x - middle) * (y - mean) for x, y in points) / spread
    rest = sum((y - mean - found * (x - middle)) ** 2 for x, y in points)
    return found, math.sqrt(rest / (count - 2) / spread)


def judge(proof, samples, minutes, limit):
    """The figures of the samples, [seconds, MB, descriptors, threads, MB of logs]."""
    begin = min(minutes * 60 / 3, 1200)
    late = [one for one in samples if one[0] >= begin] or samples[-1:]
    growth, error = slope([(one[0] / 3600, one[1]) for one in late])
    figures = {"MB an hour": round(growth, 2), "standard error": round(error, 2), "limit": limit, "samples": len(late)}
    for place, name in enumerate(["MB", "descriptors", "threads", "MB of logs"], 1):
        figures[f"most {name}"] = round(max(one[place] for one in late), 1)
    if minutes < SHORT:
        return figures | {"judged": False}
    if growth > limit:
        proof.problem("memory that grows", f"{growth:.2f} MB an hour, more than {limit}, standard error {error:.2f}")
    for place, name in ((2, "descriptors"), (3, "threads")):
        last, before = [max((one[place] for one in late if (one[0] >= minutes * 45) == is_last), default=0) for is_last in (True, False)]
        figures[f"most {name} of the last quarter"] = last
        if last > before * (1 + SLACK):
            proof.problem(f"{name} that grow", f"{last} in the last quarter, {before} before")
    return figures | {"judged": True}


def run(server, ledger, seed, given, path):
    """Loads the server; gives the samples."""
    crowd = [Writer(server, ledger, seed, number, KINDS) for number in range(given.writers)]
    for writer in crowd:
        writer.start()
    client, samples, begun, compacted = Client(server.port), [], time.monotonic(), 0
    with open(path, "w") as file:
        while (now := time.monotonic() - begun) < given.minutes * 60 and not ledger.complaints and any(one.is_alive() for one in crowd):
            try:
                samples.append([round(now, 1), *sample(server)])
                print(*samples[-1], file=file, flush=True)
                if now - compacted > 30:
                    compacted = now
                    for name in ("main", "copy", "_replicator", "_users"):
                        client.ask("POST", f"/{name}/_compact", {})
            except (OSError, KeyError, Lost) as error:
                # A process that has ended has no memory.
                ledger.complain("a server that ends or does not answer", f"{error!r}: {server.last_lines()}")
            time.sleep(1)
    client.close()
    end(crowd, ledger)
    with checking(server, ledger) as client:
        check(client, ledger, revisions=False)
    return samples


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--minutes", type=at_least(0.01, float), default=90)
    arguments.add_argument("--writers", type=at_least(1), default=4)
    arguments.add_argument("--limit", type=at_least(0, float), default=1.0, help="MB an hour")
    given = arguments.parse_args()
    proof, ledger = Proof("load", given), Ledger()
    server, path = Server(given.settle, proof.folder), os.path.join(given.state, f"load-{proof.seed}.txt")
    prepare(server, ledger)
    client = Client(server.port)
    for name in ("main", "copy"):
        client.ask("PUT", f"/{name}/_revs_limit", REVISIONS)
    client.close()
    for place, _ in proof.rounds():
        samples = run(server, ledger, f"{proof.seed}-{place}", given, path)
        server.stop()
        verify(server, ledger)
        is_whole = not ledger.complaints
        close(proof, ledger)
        if is_whole:
            proof.sums |= judge(proof, samples, given.minutes, given.limit)
    sys.exit(proof.end(minutes=given.minutes, file=path))


if __name__ == "__main__":
    main()
