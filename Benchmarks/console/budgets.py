#!/usr/bin/env python3
"""What the console costs, in a browser and at the server, against its budgets; ends with 1 if one is passed.

    make console-test                # once: makes the Python environment
    swift build -c release --product settle
    .build/console/bin/python Benchmarks/console/budgets.py --settle .build/release/settle [--documents N] [--minutes N] [--short]
"""
import json
import os
import re
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../Tests/Console"), os.path.join(HERE, "../server")]
import processes  # noqa: E402,F401 — with it a SIGTERM ends the server, too
from options import BUILT, above_zero, add_settle, parser, positive  # noqa: E402

try:
    from room import Server, Visit, browser
    lacks = None
except ModuleNotFoundError as reason:
    lacks = reason.name

FILES = os.path.join(HERE, "../../Sources/CConsole/built")
results = []


def told(what, value, most, unit):
    results.append(value <= most)
    print(f"{'within' if value <= most else 'OVER  '}  {what}: {value:.3g} {unit} of {most:g}", flush=True)


def fill(server, count):
    server.ask("PUT", "large")
    for start in range(0, count, 10_000):
        docs = [{"_id": f"doc-{number:08}", "name": f"Name {number}", "count": number % 1000}
                for number in range(start, min(start + 10_000, count))]
        server.ask("POST", "large/_bulk_docs", {"docs": docs})


def first_visit(server, chromium, delay, most):
    visit = Visit(chromium, server)
    session = visit.context.new_cdp_session(visit.page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", {"offline": False, "latency": delay, "downloadThroughput": -1, "uploadThroughput": -1})
    begin = time.monotonic()
    visit.page.goto(visit.root + "#/login")
    visit.page.wait_for_selector("main input[type=password]")
    told(f"a first visit at {delay} ms of delay", time.monotonic() - begin, most, "s")
    visit.close()


def sent(server):
    """What all files of the console and what a first visit needs, with the login and the list of databases, as they are sent."""
    def length(path):
        request = urllib.request.Request(server.url + "_utils/" + path, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as answer:
            return len(answer.read())
    with urllib.request.urlopen(server.url + "_utils/") as answer:
        place = re.search('"(a/[0-9a-f]+/)', answer.read().decode())[1]
    names = [os.path.relpath(os.path.join(folder, name), FILES) for folder, _, files in os.walk(FILES) for name in files]
    whole = sum(length("" if name == "index.html" else place + name) for name in names)
    told(f"all {len(names)} files, compressed", whole / 1000, 140, "kB")
    with browser() as chromium:
        visit = Visit(chromium, server)
        seen = set()
        visit.page.on("request", lambda request: seen.update(part.split("#")[0] for part in request.url.split("/_utils/")[1:2]))
        visit.log_in()
        visit.go("#/")
        told(f"a first visit, {len(seen)} files", sum(length(path) for path in seen) / 1000, 40, "kB")
        visit.close()


def long_list(server, chromium, minutes):
    visit = Visit(chromium, server)
    visit.log_in()
    visit.go("#/")
    begin = time.monotonic()
    visit.page.evaluate("location.hash = '#/large/docs'")
    visit.page.wait_for_selector(".key-list tbody th")
    told("first rows of the large database", time.monotonic() - begin, 0.3, "s")
    before, end, steps = visit.heap(), time.monotonic() + minutes * 60, 0
    while time.monotonic() < end:
        visit.page.evaluate("document.querySelector('.key-list').scrollTop = 1e9")
        visit.page.wait_for_timeout(30)
        steps += 1
    visit.settled()
    last = visit.page.locator(".key-list tbody th").last.inner_text()
    told(f"memory after {minutes:g} minutes of paging, {steps} steps to {last.strip()}", visit.heap() - before, 20, "MB more")
    visit.close()


def long_document(server, chromium):
    server.ask("PUT", "texts")
    members = ",".join(f'"member-{number}":"{"x" * 40}"' for number in range(130_000))
    server.ask("PUT", "texts/long", text="{" + members + "}")
    visit = Visit(chromium, server)
    visit.log_in()
    visit.go("#/texts/docs")
    times = []
    for _ in range(3):
        begin = time.monotonic()
        visit.page.evaluate("location.hash = '#/texts/doc/long'")
        visit.page.wait_for_selector("text=member-3", timeout=30_000)
        times.append(time.monotonic() - begin)
        visit.go("#/texts/docs")
    told(f"a document of {len(members) / 1e6:.1f} MB, best of 3", min(times), 2, "s")
    visit.close()


def rehearsal(server, chromium):
    server.ask("PUT", "conflicts")
    for signs in ("a", "b"):
        for start in range(0, 10_000, 5_000):
            docs = [{"_id": f"c-{number:05}", "v": signs, "_revisions": {"start": 1, "ids": [signs * 32]}}
                    for number in range(start, start + 5_000)]
            server.ask("POST", "conflicts/_bulk_docs", {"docs": docs, "new_edits": False})
    visit = Visit(chromium, server)
    visit.log_in()
    visit.go("#/conflicts/settle")
    begin = time.monotonic()
    visit.page.get_by_role("button", name="Rehearse").click()
    visit.page.wait_for_selector("text=10,000 of 10,000", timeout=90_000)
    told("rehearsal of 10,000 conflicts", time.monotonic() - begin, 60, "s")
    visit.close()


def looked_on(server, chromium, seconds):
    def spent():
        fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    visits = []
    for page in ("#/", "#/server"):
        visit = Visit(chromium, server)
        visit.log_in()
        visit.go(page)
        visits.append(visit)
    time.sleep(3)
    before = spent()
    time.sleep(seconds)
    told("the server, looked on by two pages", (spent() - before) / seconds * 100, 1, "% of a core")
    for visit in visits:
        visit.close()


def main():
    arguments = parser(__doc__)
    add_settle(arguments, default=BUILT)
    arguments.add_argument("--documents", type=positive, default=1_000_000)
    arguments.add_argument("--minutes", type=above_zero, default=10, help="of paging")
    arguments.add_argument("--short", action="store_true", help="20,000 documents, and half a minute of paging: whether all of it works")
    chosen = arguments.parse_args()
    if lacks:
        arguments.error(f"this Python lacks {lacks}; after `make console-test`, .build/console/bin/python has it")
    if chosen.short:
        chosen.documents, chosen.minutes = 20_000, 0.5
    server = Server(chosen.settle)
    try:
        sent(server)
        with browser() as chromium:
            first_visit(server, chromium, 0, 0.5)
            first_visit(server, chromium, 100, 1.5)
            long_document(server, chromium)
            rehearsal(server, chromium)
            looked_on(server, chromium, 10 if chosen.short else 60)
            fill(server, chosen.documents)
            long_list(server, chromium, chosen.minutes)
    finally:
        server.close()
    print(json.dumps({"budgets": len(results), "passed": sum(results)}))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
