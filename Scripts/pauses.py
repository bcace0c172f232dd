#!/usr/bin/env python3
"""Runs a command, and lets single threads of the programs that it runs from a build folder stand still at random moments.

    Scripts/pauses.py make test
    Scripts/pauses.py --seed 7 --longest 30 --at-once 5 .build/debug/SettlePackageTests.xctest --testing-library swift-testing

A busy machine may let any thread stand still for seconds while all others go on. That makes a test fail once in many runs, if it or the
code that it tests expects another order of steps. This script makes it happen often: it attaches to a thread as a debugger does, and
lets it go on after 1 to 20 seconds, mostly to one that computes. With many at once little goes on at all. It ends with the status of the command, and prints the seed of its choices. Each choice also
depends on the threads that exist at that moment, so the same seed does not repeat a run.
Linux only; it needs the permission to trace processes, which root has.
"""
import argparse
import ctypes
import os
import random
import signal
import subprocess
import sys
import time

SEIZE, INTERRUPT, DETACH, STOPPED, WALL = 0x4206, 0x4207, 17, 128, 0x40000000
SUBREAPER = 36
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_long]
libc.ptrace.restype = ctypes.c_long


class Paused:
    """A thread that stands still."""

    def __init__(self, thread, until):
        self.thread, self.until, self.signal, self.has_stopped, self.has_ended = thread, until, 0, False, False

    @staticmethod
    def start(thread, until):
        """Stops a thread; None if that is not possible."""
        if libc.ptrace(SEIZE, thread, 0, 0) != 0:
            return None
        libc.ptrace(INTERRUPT, thread, 0, 0)
        return Paused(thread, until)

    def look(self):
        """Notices that the thread has stopped, which a thread that starts a program does only when that runs. Notices its end, too:
        until then a killed process does not end."""
        try:
            found, status = os.waitpid(self.thread, os.WNOHANG | WALL)
        except ChildProcessError:
            self.has_ended = True
            return
        if found == 0:
            return
        if os.WIFSTOPPED(status):
            # A signal that came first is delivered when the thread goes on.
            self.has_stopped = True
            self.signal = 0 if status >> 16 == STOPPED else os.WSTOPSIG(status)
        else:
            self.has_ended = True

    def end(self):
        libc.ptrace(DETACH, self.thread, 0, self.signal)


def parents():
    """The parent of each process."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def threads():
    """The threads of all programs from a build folder that this process has started, directly or indirectly."""
    tree, own, found = parents(), os.getpid(), []
    for process in tree:
        ancestor = process
        while ancestor not in (own, 0, 1):
            ancestor = tree.get(ancestor, 0)
        if ancestor != own or process == own:
            continue
        try:
            program = os.readlink(f"/proc/{process}/exe")
            if "/.build/" in program:
                found += [(process, int(thread), os.path.basename(program)) for thread in os.listdir(f"/proc/{process}/task")]
        except OSError:
            continue
    return found


def is_running(process, thread):
    """Whether a thread computes, or waits for a core."""
    try:
        with open(f"/proc/{process}/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "R"
    except OSError:
        return False


def pick(found, chance):
    """A thread, preferably one that computes: one that waits loses nothing but the moment at which it is woken."""
    some = chance.sample(found, min(len(found), 30))
    return next((one for one in some if is_running(one[0], one[1])), some[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="of the choices")
    parser.add_argument("--longest", type=float, default=20, metavar="SECONDS", help="the longest pause (20)")
    parser.add_argument("--at-once", type=int, default=3, metavar="N", help="how many threads stand still at most (3)")
    parser.add_argument("--log", metavar="FILE", help="a file for a line for each pause")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("a command is missing")
    chance = random.Random(options.seed)
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    log = open(options.log, "w", encoding="utf-8") if options.log else None
    begin, count, paused = time.monotonic(), 0, []
    command = subprocess.Popen(options.command)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: command.send_signal(received))
    while command.poll() is None:
        time.sleep(0.05)
        now = time.monotonic()
        for one in paused:
            one.look()
            if one.has_stopped and not one.has_ended and one.until <= now:
                one.end()
                one.has_ended = True
        paused = [one for one in paused if not one.has_ended]
        if len(paused) < options.at_once and (found := threads()):
            process, thread, program = pick(found, chance)
            seconds = chance.uniform(1, options.longest)
            if all(one.thread != thread for one in paused) and (one := Paused.start(thread, now + seconds)):
                paused.append(one)
                count += 1
                if log:
                    print(f"{now - begin:8.2f} {seconds:5.1f} s {program} {process} thread {thread}", file=log, flush=True)
    for one in paused:
        one.end()
    print(f"{count} pauses of up to {options.longest:g} s, seed {options.seed}", file=sys.stderr)
    sys.exit(command.returncode if command.returncode >= 0 else 128 - command.returncode)


if __name__ == "__main__":
    main()
