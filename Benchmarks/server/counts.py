#!/usr/bin/env python3
"""Counts the instructions and allocations of a request to a server that runs in callgrind, and compares them with limits.

    server/counts.py --settle .build/release/settle              print counts, and fail where one is past its limit
    server/counts.py --settle .build/release/settle --write      write the limits anew: what was counted and a tenth

Counts don't depend on how fast or busy a machine is, so they can fail a build where a time can't.
"""
import base64
import glob
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from options import add_settle, parser
from processes import end, free_port, launch, run

LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counts.json")
PASSWORD = "counts"
DOCUMENT = {"type": "counted", "title": "A document of about two hundred bytes", "tags": ["a", "b"], "number": 12.5,
            "nested": {"text": "x" * 80, "done": False}}
REPEATS = 200


class Server:
    """A server in callgrind, with one connection to it."""

    def __init__(self, settle, folder):
        self.port = free_port()
        self.folder = folder
        self.dumps = 0
        # Hashing a password is slow on purpose. With the default number of iterations it is nearly all that a start computes.
        settings = f"{folder}/settings.json"
        with open(settings, "w") as file:
            json.dump({"password_iterations": 1000}, file)
        # Valgrind 3.19 misreads debug information in the DWARF 5 format. It looks for a line table where other bytes are, and with
        # some builds it divides by a zero there. The names of functions don't come from debug information.
        program = f"{folder}/settle"
        run(["strip", "--strip-debug", "-o", program, settle])
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--quiet", program, "serve",
                   "--quiet", "--data", f"{folder}/data", "--port", str(self.port), "--admin", "admin", "--config", settings]
        self.process = launch(command, stdout=subprocess.DEVNULL,
                              env={**os.environ, "SETTLE_ADMIN_PASSWORD": PASSWORD, "SETTLE_SCRUB_DAYS": "0"})
        self.headers = {"Content-Type": "application/json",
                        "Authorization": "Basic " + base64.b64encode(f"admin:{PASSWORD}".encode()).decode()}
        deadline = time.monotonic() + 600
        while True:
            try:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
                self.ask("GET", "/")
                return
            except OSError:
                status = self.process.poll()
                if status is not None or time.monotonic() > deadline:
                    self.stop()
                    how = "does not answer within 10 minutes" if status is None else f"ended with status {status}"
                    sys.exit(f"the server in callgrind {how}")
                time.sleep(0.2)

    def ask(self, method, path, body=None, **headers):
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers | headers)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status >= 400:
            sys.exit(f"{method} {path} is answered with {answer.status}")

    def counted(self):
        """Instructions and allocations since this was last called."""
        self.dumps += 1
        subprocess.run(["callgrind_control", "--dump", str(self.process.pid)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        path = f"{self.folder}/out.{self.dumps}"
        deadline = time.monotonic() + 60
        while not (os.path.exists(path) and b"totals:" in open(path, "rb").read()[-200:]):
            if time.monotonic() > deadline:
                sys.exit(f"callgrind wrote no counts: {glob.glob(self.folder + '/out*')}")
            time.sleep(0.1)
        with open(path, encoding="utf-8", errors="replace") as file:
            return parse(file)

    def stop(self):
        end(self.process, 60)


def parse(lines):
    """The instructions of a callgrind file, and the calls of what allocates."""
    names, callee, allocations, instructions = {}, None, 0, 0
    for line in lines:
        if line.startswith(("fn=", "cfn=")):
            number, name = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line).groups()
            if name:
                names[number] = name.split("'")[0].split("@")[0]
            if line.startswith("c"):
                callee = names.get(number)
        elif line.startswith("calls=") and callee in ("malloc", "calloc", "posix_memalign", "aligned_alloc"):
            allocations += int(line[6:].split()[0])
        elif line.startswith("totals:"):
            instructions = int(line.split()[1])
    return instructions, allocations


def measured(server):
    """The counts of each kind of request."""
    numbers = iter(range(10**9))
    kinds = {
        "read a document": lambda: server.ask("GET", "/db/read"),
        "write a document": lambda: server.ask("PUT", f"/db/written-{next(numbers)}", DOCUMENT),
        "write 20 documents": lambda: server.ask(
            "POST", "/db/_bulk_docs", {"docs": [{**DOCUMENT, "_id": f"bulk-{next(numbers)}"} for _ in range(20)]}),
        "list 20 documents": lambda: server.ask("GET", "/full/_all_docs?limit=20&include_docs=true"),
        "list 20 documents, compressed": lambda: server.ask(
            "GET", "/full/_all_docs?limit=20&include_docs=true", **{"Accept-Encoding": "gzip"}),
        "list 20 changes": lambda: server.ask("GET", "/full/_changes?limit=20"),
        "find a document": lambda: server.ask("POST", "/full/_find", {"selector": {"n": next(numbers) % 100}}),
        "find 100 covered rows": lambda: server.ask(
            "POST", "/full/_find", {"selector": {"n": {"$gte": 0, "$ne": -1}}, "fields": ["n"], "limit": 100}),
    }
    server.ask("PUT", "/db")
    server.ask("PUT", "/full")
    server.ask("PUT", "/db/read", DOCUMENT)
    server.ask("POST", "/full/_bulk_docs", {
        "docs": [{**DOCUMENT, "_id": f"a-{number}", "n": number} for number in range(100)]})
    server.ask("POST", "/full/_index", {"index": {"fields": ["n"]}})
    counts = {}
    for name, request in kinds.items():
        for _ in range(20):
            request()
        server.counted()
        for _ in range(REPEATS):
            request()
        instructions, allocations = server.counted()
        counts[name] = {"instructions": instructions // REPEATS, "allocations": allocations // REPEATS}
    return counts


def main():
    options = parser(__doc__)
    add_settle(options, required=True)
    options.add_argument("--write", action="store_true", help="write the limits anew")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(given.settle, folder)
        try:
            counts = measured(server)
        finally:
            server.stop()
    if given.write:
        limits = {name: {key: int(value * 1.1) for key, value in one.items()} for name, one in counts.items()}
        with open(LIMITS, "w") as file:
            json.dump(limits, file, indent=4)
            file.write("\n")
    with open(LIMITS) as file:
        limits = json.load(file)
    past = False
    print(f"{'a request':<30}{'instructions':>14}{'limit':>12}{'allocations':>14}{'limit':>8}")
    for name, one in counts.items():
        limit = limits[name]
        is_past = any(one[key] > limit[key] for key in one)
        past = past or is_past
        print(f"{name:<30}{one['instructions']:>14,}{limit['instructions']:>12,}{one['allocations']:>14,}"
              f"{limit['allocations']:>8,}{'  past its limit' if is_past else ''}")
    if past:
        sys.exit("A request costs more than its limit in Benchmarks/server/counts.json allows.")


if __name__ == "__main__":
    main()
