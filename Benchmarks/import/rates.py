#!/usr/bin/env python3
"""How fast databases and dumps of other products are imported, beside the same documents as plain lines of JSON.

    rates.py --settle PATH [--documents 20000] [--runs 5] [--only NAME,…] [--json]

Each run imports every input into a new database, one after the other; the ratio is that of the medians. What is timed is the whole
process. Its peak memory is VmHWM, which is read every few milliseconds while it runs.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from formats import FORMATS, documents

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from options import add_settle, parser, positive, words  # noqa: E402
from processes import launch, scratch  # noqa: E402

options = parser(__doc__)
add_settle(options, required=True)
options.add_argument("--documents", type=positive, default=20_000)
options.add_argument("--runs", type=positive, default=5)
options.add_argument("--only", type=words(*FORMATS), default=",".join(FORMATS), help="these inputs, beside the lines of JSON")
options.add_argument("--json", action="store_true", help="prints the figures as JSON")
given = options.parse_args()
FLOOR = next(iter(FORMATS))


def size(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def peak_of(process):
    """Waits for the end of a process, and returns its peak memory in KiB."""
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                peak = max([peak] + [int(line.split()[1]) for line in status if line.startswith("VmHWM:")])
        except OSError:
            pass
        time.sleep(0.005)
    return peak


def run(path, target):
    """Imports a file: seconds, and peak memory in KiB."""
    start = time.perf_counter()
    process = launch([given.settle, "import", target, path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    peak = peak_of(process)
    seconds = time.perf_counter() - start
    output, errors = process.communicate()
    if process.returncode:
        sys.exit(f"{path}: {errors.decode()}")
    report = json.loads(output)
    taken = report.get("leaves", report.get("imported"))
    if taken != given.documents:
        sys.exit(f"{path}: {taken} documents of {given.documents} were imported")
    return seconds, peak


def main():
    chosen = list(dict.fromkeys([FLOOR, *given.only]))
    room = scratch("import")
    paths = {}
    for name in chosen:
        file, write = FORMATS[name]
        paths[name] = os.path.join(room, file)
        write(paths[name], documents(given.documents))
    seconds, peaks = {name: [] for name in chosen}, {name: 0 for name in chosen}
    for _ in range(given.runs):
        for name in chosen:
            target = os.path.join(room, "target.settle")
            time_taken, peak = run(paths[name], target)
            shutil.rmtree(target)
            seconds[name].append(time_taken)
            peaks[name] = max(peaks[name], peak)
    floor = statistics.median(seconds[FLOOR])
    figures = [{"input": name, "documents": given.documents, "bytes": size(paths[name]),
                "documents_per_second": round(given.documents / statistics.median(seconds[name])),
                "ratio": round(floor / statistics.median(seconds[name]), 2), "peak_kib": peaks[name]} for name in chosen]
    if given.json:
        print(json.dumps(figures))
        return
    print(f"{given.documents:,} documents, medians of {given.runs} runs; a ratio under 1 is slower than the lines")
    for one in figures:
        print(f"{one['input']:<20} {one['bytes'] / 2**20:7.1f} MiB {one['documents_per_second']:>9,}/s  ratio {one['ratio']:.2f}"
              f"  peak memory {one['peak_kib'] / 1024:.0f} MiB")


main()
