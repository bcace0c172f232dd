#!/usr/bin/env python3
"""How fast Couchbase Lite's own replicator works with Settle's server, beside LiteCore's passive peer in the same run.

    Benchmarks/mobile/litecore.py --driver PROGRAM [--settle .build/release/settle] [--documents N] [--pulls N] [--crowd N]

LiteCore is the core of Couchbase Lite. It is not part of this project: build it from its public source, and a program over its C API
with these commands.

    PROGRAM new DB.cblite2 [--vv]                                            creates a database, with version vectors or trees
    PROGRAM fill DB.cblite2 N --bytes BYTES --prefix TEXT                    writes N documents
    PROGRAM sync DB.cblite2 URL --push|--pull --user USER --password WORD    replicates once, and prints
                                                                             {"documents": N, "error": null, "errors": []}
    PROGRAM serve FOLDER PORT [--vv]                                         serves FOLDER/NAME.cblite2 at ws://127.0.0.1:PORT/NAME
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../Tests/Mobile"), os.path.join(HERE, "../server")]
from client import http  # noqa: E402
from load import status  # noqa: E402
from options import BUILT, add_settle, at_least, parser, positive, program  # noqa: E402
from processes import Server, end, free_port, launch, run  # noqa: E402


class Driver:
    def __init__(self, command, folder):
        self.command, self.folder = command, folder

    def path(self, name):
        return os.path.join(self.folder, f"{name}.cblite2")

    def run(self, *words):
        run([self.command, *words])

    def create(self, name, vectors, documents=0):
        self.run("new", self.path(name), *vectors)
        if documents:
            self.run("fill", self.path(name), str(documents), "--bytes", "250", "--prefix", name.replace("/", "-"))

    def sync(self, names, url, direction):
        """Replicates databases at once; returns how many documents went."""
        words = [url, direction, "--user", "admin", "--password", "admin"]
        running = [launch([self.command, "sync", self.path(name), *words], stdout=subprocess.PIPE) for name in names]
        results = [json.loads(one.communicate()[0]) for one in running]
        for result in results:
            assert result["error"] is None and not result["errors"], result
        return sum(result["documents"] for result in results)


def measure(what, peer, process, driver, names, url, direction, count):
    spent, begin = status(process)[0], time.monotonic()
    moved = driver.sync(names, url, direction)
    wall, spent = time.monotonic() - begin, status(process)[0] - spent
    assert moved == count, f"{moved} of {count} documents"
    report(what, peer, count / wall, spent / count * 1e6, status(process)[1] >> 20)
    return count / wall, spent / count * 1e6, status(process)[1] >> 20


def report(what, peer, rate, spent, memory):
    print(f"{what:24} {peer:9} {rate:8,.0f} documents/s, {spent:3.0f} µs of the server's processor each, {memory:.0f} MiB", flush=True)


def compare(kind, vectors, chosen, folder):
    driver = Driver(chosen.driver, folder)
    os.makedirs(os.path.join(folder, "served"))
    own = Server(chosen.settle, os.path.join(folder, "settle"), "admin")
    server, port = own.process, own.port
    lite_port = free_port()
    lite = launch([chosen.driver, "serve", os.path.join(folder, "served"), str(lite_port), *vectors])
    try:
        peers = [("Settle", server, port), ("LiteCore", lite, lite_port)]
        each = chosen.documents // max(chosen.crowd, 1)
        for name in ("one", "crowd"):
            http(port, "PUT", f"/{name}")
            driver.create(f"served/{name}", vectors)
        driver.create("source", vectors, chosen.documents)
        for number in range(chosen.crowd):
            driver.create(f"member-{number}", vectors, each)
        for peer, process, at in peers:
            shutil.copytree(driver.path("source"), driver.path(f"source-{peer}"))
            measure(f"{kind}, push by 1", peer, process, driver, [f"source-{peer}"], f"ws://127.0.0.1:{at}/one", "--push",
                    chosen.documents)
        pulls = {peer: [] for peer, _, _ in peers}
        for turn in range(chosen.pulls):
            for peer, process, at in peers:
                target = f"target-{peer}-{turn}"
                driver.create(target, vectors)
                pulls[peer].append(measure(f"{kind}, pull by 1", peer, process, driver, [target], f"ws://127.0.0.1:{at}/one", "--pull",
                                           chosen.documents))
                shutil.rmtree(driver.path(target))
        for peer, measured in pulls.items() if chosen.pulls > 1 else []:
            report(f"{kind}, median pull", peer, *map(statistics.median, zip(*measured)))
        for peer, process, at in peers if chosen.crowd else []:
            members = [f"{peer}-{number}" for number in range(chosen.crowd)]
            for number, member in enumerate(members):
                shutil.copytree(driver.path(f"member-{number}"), driver.path(member))
            measure(f"{kind}, push by {chosen.crowd}", peer, process, driver, members, f"ws://127.0.0.1:{at}/crowd", "--push",
                    each * chosen.crowd)
            for member in members:
                driver.create(f"empty-{member}", vectors)
            measure(f"{kind}, pull by {chosen.crowd}", peer, process, driver, [f"empty-{member}" for member in members],
                    f"ws://127.0.0.1:{at}/crowd", "--pull", each * chosen.crowd ** 2)
    finally:
        end(server)
        end(lite)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--driver", type=program, required=True, metavar="PROGRAM", help="over LiteCore's C API, see above")
    add_settle(arguments, default=BUILT)
    arguments.add_argument("--documents", type=positive, default=50_000)
    arguments.add_argument("--pulls", type=positive, default=1, help="how many times each peer is pulled from alone, in turns")
    arguments.add_argument("--crowd", type=at_least(0), default=0, help="how many replicators at once, after those that run alone")
    chosen = arguments.parse_args()
    if chosen.crowd > chosen.documents:
        arguments.error("there are fewer documents than replicators")
    for kind, vectors in (("trees", []), ("vectors", ["--vv"])):
        with tempfile.TemporaryDirectory(prefix="settle-litecore-") as folder:
            compare(kind, vectors, chosen, folder)


if __name__ == "__main__":
    main()
