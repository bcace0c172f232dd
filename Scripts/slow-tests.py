#!/usr/bin/env python3
"""Finds the tests that take longest by themselves, and says whether they compute or wait.

    slow-tests.py [--count 20] [--suites 40] [--only REGEX]

In a whole run all tests share two processors, so the time of one says little about it. Here each suite runs alone, in a process of its own,
and of the slowest suites each test. The table has the seconds that passed, the seconds of a processor that the test and its processes
used, and the rest, which the test waited: for a disk, a timeout, or another process. It needs built tests: `swift build --build-tests`.
For the tests with PostgreSQL: `Scripts/postgres/cluster.py run Scripts/slow-tests.py`.
"""
import argparse
import collections
import os
import re
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = [os.path.join(ROOT, ".build/debug/SettlePackageTests.xctest"), "--testing-library", "swift-testing"]


def measure(pattern, env):
    """Seconds that passed, and seconds of a processor, of the tests with a pattern."""
    begun = time.monotonic()
    process = subprocess.Popen([*PROGRAM, "--filter", pattern], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print(f"fails alone: {pattern}", flush=True)
    return time.monotonic() - begun, used.ru_utime + used.ru_stime


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=20, help="how many suites and tests are shown")
    arguments.add_argument("--suites", type=int, default=40, help="of how many suites each test is run alone")
    arguments.add_argument("--only", default="", help="suites whose names have this")
    given = arguments.parse_args()
    env = os.environ | {"NO_COLOR": "1"}
    listed = subprocess.run([*PROGRAM, "--list-tests"], cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    suites = collections.defaultdict(list)
    for line in listed.splitlines():
        suite, _, test = line.rpartition("/`") if "/`" in line else line.rpartition("/")
        if test and re.search(given.only, suite):
            suites[suite].append("`" + test if "/`" in line else test)
    times = {suite: measure(f"^{re.escape(suite)}/", env)[0] for suite in suites}
    print(f"{len(suites)} suites, each alone: {sum(times.values()):.0f} s", flush=True)
    slowest = sorted(times, key=times.get, reverse=True)
    for suite in slowest[:given.count]:
        print(f"{times[suite]:7.1f} s  {suite}", flush=True)
    found = []
    for suite in slowest[:given.suites]:
        for test in suites[suite]:
            passed, used = measure("^" + re.escape(f"{suite}/{test}"), env)
            found.append((passed, used, suite.split(".", 1)[-1], re.sub(r"`\(.*|[`()]", "", test)))
    print("\n| seconds | of them a processor | | test |\n|---|---|---|---|")
    for passed, used, suite, test in sorted(found, reverse=True)[:given.count]:
        print(f"| {passed:.1f} | {used:.1f} | {suite} | {test} |")


if __name__ == "__main__":
    main()
