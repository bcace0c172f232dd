#!/usr/bin/env python3
"""Plants faults: shows for each statement of docs/SEMANTICS.md the test that fails when the statement is not true.

    Scripts/semantics/faults.py list             the faults, and the test that found each one
    Scripts/semantics/faults.py check            checks the list against the sources; takes a second
    Scripts/semantics/faults.py run [NUMBER …]   builds with all faults, runs the tests of each, and writes the result

The faults are in faults.txt beside this file, one for a statement. The first line has the statement's number and a source
file. `-` lines are text that is there exactly once, and `+` lines take its place; blanks at the ends of lines don't matter.
FAULT is true while the tests of this fault run, and false otherwise:

    112 Sources/SettleReplication/Flow/Flow+Steps.swift
        - if holds { tracker.hold(number) }
        + if holds, !FAULT { tracker.hold(number) }
        ! RefusalBehaviourTests

More pairs of `-` and `+` lines change more places of the file. The `!` line names the suites that run, separated by blanks.
Without it these are all suites that docs/SEMANTICS.md names for the statement.

`run` never changes the sources. It copies them to a folder, plants all faults at once, each behind a test of the variable
SETTLE_FAULT, and builds once. Then it runs the suites without a fault, where all must pass, and with each fault, where one
must fail. A run that never ends or ends the process counts as a failure, and the list says so. faults-found.txt beside this
file gets the names; a fault that no test finds is not in it, and the exit status is 1. Such a fault changes nothing that the
statement promises, so that another one is needed, or a test is missing.

With numbers only these faults run, and the other lines of faults-found.txt stay. The tests run on Linux.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOUND = os.path.join(HERE, "faults-found.txt")
SWITCH = """internal import Foundation

/// Whether the fault of a statement is planted: the one that the variable SETTLE_FAULT names.
enum PlantedFault {
    private static let planted = ProcessInfo.processInfo.environment["SETTLE_FAULT"]

    static func isPlanted(_ number: String) -> Bool { planted == number }
}
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Fault:
    """One fault: its number, its file, the pairs of old and new text, and the suites that should find it."""

    def __init__(self, number, path):
        self.number, self.path = number, path
        self.edits, self.suites = [], []

    def spans(self, text):
        """The places of the edits in the text of the file: (begin, end, new text), or a complaint for an edit."""
        for old, new in self.edits:
            pattern = r"[ \t]*\n\s*".join(re.escape(line) for line in old)
            found = list(re.finditer(pattern, text))
            if len(found) == 1:
                yield found[0].start(), found[0].end(), "\n".join(new)
            else:
                yield "%s: `%s` is there %d times in %s" % (self.number, old[0], len(found), self.path)


def faults():
    """The faults of faults.txt, in order."""
    result = []
    for line in read(os.path.join(HERE, "faults.txt")).splitlines():
        if not line or line.startswith("#"):
            continue
        if not line[0].isspace():
            result.append(Fault(*line.split(" ", 1)))
            continue
        mark, text = line.strip()[0], line.strip()[2:]
        edits = result[-1].edits
        if mark == "!":
            result[-1].suites = text.split()
        elif mark == "-":
            if not edits or edits[-1][1]:
                edits.append(([], []))
            edits[-1][0].append(text)
        else:
            edits[-1][1].append(text)
    rows = proofs()
    for fault in result:
        fault.suites = fault.suites or re.findall(r"\[(\w+)\]\(\.\./Tests/", rows.get(fault.number, ""))
    return result


def proofs():
    """For each statement its row in docs/SEMANTICS.md, which names the tests with its label."""
    return dict(re.findall(r"^\| (K?\d+)(?: ✓)? \| (.*)$", read(os.path.join(ROOT, "docs/SEMANTICS.md")), re.MULTILINE))


def found():
    """The contents of faults-found.txt: number → the test that found the fault."""
    if not os.path.exists(FOUND):
        return {}
    return dict(line.split(" ", 1) for line in read(FOUND).splitlines() if line and not line.startswith("#"))


def planted(path, every):
    """The text of a file with its faults, and complaints."""
    text, spans, complaints = read(os.path.join(ROOT, path)), [], []
    for fault in every:
        for span in fault.spans(text) if fault.path == path else []:
            if isinstance(span, str):
                complaints.append(span)
            else:
                begin, end, new = span
                switch = 'PlantedFault.isPlanted("%s")' % fault.number
                if not re.search(r"\bFAULT\b", new) and len(fault.edits) == 1:
                    complaints.append("%s: no `+` line says FAULT" % fault.number)
                spans.append((begin, end, re.sub(r"\bFAULT\b", switch, new), fault.number))
    spans.sort()
    for before, after in zip(spans, spans[1:]):
        if after[0] < before[1]:
            complaints.append("%s and %s change the same text of %s" % (before[3], after[3], path))
    for begin, end, new, _ in reversed(spans):
        text = text[:begin] + new + text[end:]
    return text, complaints


def complaints():
    """What is wrong with the list."""
    every, known, result = faults(), proofs(), []
    tests = {}
    for folder, _, names in os.walk(os.path.join(ROOT, "Tests")):
        tests.update((name[:-6], os.path.join(folder, name)) for name in names if name.endswith(".swift"))
    numbers = [fault.number for fault in every]
    for fault in every:
        if fault.number not in known:
            result.append("%s: docs/SEMANTICS.md has no such statement" % fault.number)
        if numbers.count(fault.number) > 1:
            result.append("%s: there is more than one fault" % fault.number)
        if not fault.suites:
            result.append("%s: no suite is named" % fault.number)
        result += ["%s: there is no suite %s" % (fault.number, name) for name in fault.suites if name not in tests]
    for path in sorted({fault.path for fault in every}):
        is_there = os.path.exists(os.path.join(ROOT, path))
        result += planted(path, every)[1] if is_there else ["there is no %s" % path]
    for number, name in found().items():
        suites = next((fault.suites for fault in every if fault.number == number), [])
        sentence = re.sub(r" \(.*\)$", "", name)
        if not any(suite in tests and sentence in read(tests[suite]) for suite in suites):
            result.append("%s: no suite of the fault has the test `%s` of faults-found.txt" % (number, sentence))
    missing = [number for number in numbers if number not in found()]
    result += ["%s: faults-found.txt names no test: Scripts/semantics/faults.py run %s" % (n, n) for n in missing]
    return sorted(set(result), key=lambda text: (len(text.split(":")[0]), text))


def fill(room, every):
    """Copies the repository to a folder, with the faults; files that are the same stay, so that the next build is short."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    texts = {path: planted(path, every)[0] for path in {fault.path for fault in every}}
    texts.update({os.path.join(*path.split("/")[:2], "PlantedFault.swift"): SWITCH for path in list(texts)})
    paths = {path for path in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, path))} | set(texts)
    for top in ("Sources", "Tests", "Snippets"):
        for folder, _, names in os.walk(os.path.join(room, top)):
            for path in {os.path.relpath(os.path.join(folder, name), room) for name in names} - paths:
                os.remove(os.path.join(room, path))
    for path in paths:
        source, target = pathlib.Path(ROOT, path), pathlib.Path(room, path)
        data = texts[path].encode() if path in texts else source.read_bytes()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            if source.exists():
                shutil.copymode(source, target)


def test(room, suites, number, row, limit):
    """Runs suites with the fault of a number, or without one: the tests that failed, how, and the seconds.

    A run ends at the first failure of a test that the statement's row in docs/SEMANTICS.md names.
    """
    environment = dict(os.environ, SETTLE_FAULT=number, NO_COLOR="1")
    command = [".build/debug/SettlePackageTests.xctest", "--testing-library", "swift-testing"]
    command += ["--filter", r"\.(%s)/" % "|".join(suites)]
    begun = time.time()
    # A group of its own, so that processes which a test started end with it.
    process = subprocess.Popen(
        command, cwd=room, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True, text=True, errors="replace")
    timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    failed, running, is_found = [], [], False
    for line in process.stdout:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if started := re.match(r'◇ Test "(.+)" started', line):
            running.append(started[1])
        elif passed := re.match(r'✔ Test "(.+)" .*passed after', line):
            running.remove(passed[1])
        elif failure := re.match(r'✘ Test (?:case passing .* to )?"(.+)" (?:recorded an issue|.*failed after)', line):
            failed.append(failure[1])
            is_found = is_labelled(failure[1], row)
        if is_found:
            os.killpg(process.pid, signal.SIGKILL)
            break
    process.wait()
    is_endless = not timer.is_alive()
    timer.cancel()
    how = ""
    if not failed and process.returncode != 0:
        how = "never ends" if is_endless else "ends the process"
        failed = running or ["the tests did not begin"]
    # A test with the statement's label says most.
    failed.sort(key=lambda name: not is_labelled(name, row))
    return list(dict.fromkeys(failed)), how, time.time() - begun


def is_labelled(name, row):
    return name.replace("|", "\\|") in row


def write(every, result):
    """Writes faults-found.txt."""
    with open(FOUND, "w", encoding="utf-8") as file:
        file.write("# The test that found each fault: made by `Scripts/semantics/faults.py run`.\n")
        file.writelines("%s %s\n" % (fault.number, result[fault.number]) for fault in every if fault.number in result)


def run(arguments):
    every, rows = faults(), proofs()
    wrong = [text for text in complaints() if "faults-found.txt" not in text]
    if wrong:
        sys.exit("\n".join(wrong))
    room = os.path.abspath(arguments.room)
    fill(room, every)
    if subprocess.run(["swift", "build", "--build-tests"], cwd=room).returncode != 0:
        sys.exit("the sources with the faults don't compile")
    chosen = [fault for fault in every if not arguments.numbers or fault.number in arguments.numbers]
    suites = sorted({suite for fault in chosen for suite in fault.suites})
    failed, how, seconds = test(room, suites, "", "", 20 * arguments.limit)
    if failed:
        sys.exit("without a fault these tests fail: %s" % "; ".join(failed))
    print("without a fault all suites pass, in %.0f s" % seconds, flush=True)
    result, survivors = found() if arguments.numbers else {}, []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {
            pool.submit(test, room, fault.suites, fault.number, rows[fault.number], arguments.limit): fault
            for fault in chosen}
        for done in concurrent.futures.as_completed(runs):
            fault, (names, how, seconds) = runs[done], done.result()
            result.pop(fault.number, None)
            if names:
                result[fault.number] = shown = names[0] + (" (%s)" % how if how else "")
                shown += "" if is_labelled(names[0], rows[fault.number]) else "   [without the label]"
            else:
                survivors.append(fault.number)
                shown = "SURVIVED"
            print("%-4s %4.0f s  %s" % (fault.number, seconds, shown), flush=True)
            write(every, result)
    print("%d of %d faults were found" % (len(chosen) - len(survivors), len(chosen)))
    if survivors:
        sys.exit("no test found %s" % ", ".join(survivors))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="list | check | run")
    commands.add_parser("list", help="show the faults and the tests that found them")
    commands.add_parser("check", help="check the list against the sources")
    running = commands.add_parser("run", help="plant the faults and run the tests")
    running.add_argument("numbers", nargs="*", metavar="NUMBER", help="statements; all by default")
    running.add_argument("--jobs", type=int, default=2, help="how many faults run at a time (2)")
    running.add_argument("--limit", type=int, default=120, help="seconds after which a run counts as endless (120)")
    running.add_argument("--room", default=os.path.join(ROOT, ".build/faults"), help="the folder of the copy (.build/faults)")
    arguments = parser.parse_args()
    if arguments.command == "run":
        run(arguments)
    elif arguments.command == "check":
        sys.exit("\n".join(complaints()) or None)
    else:
        names = found()
        for fault in faults():
            print("%s %s: %s" % (fault.number, fault.path, names.get(fault.number, "SURVIVES")))
            for old, new in fault.edits:
                print("    - " + " ".join(old) + "\n    + " + " ".join(new))


main()
