"""What all proof runs share: their arguments, processes and folder, the file with their state, and the summary that they print."""
import argparse
import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.append(os.path.join(ROOT, "Benchmarks/server"))
from options import at_least  # noqa: E402

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Options that say how much to test, or where. A begun seed keeps all others.
FREE = ("seed", "settle", "program", "state", "fresh", "rounds", "count")

# Until a proof has begun, there is nothing to tell about a Ctrl-C.
if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def give_up(text):
    """Ends a run that can't test. The status is not that of a broken promise."""
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr)
    sys.exit(2)


# Arguments


def some_of(kinds):
    """The type of --only."""
    def read(text):
        chosen = text.split(",")
        for unknown in set(chosen) - set(kinds):
            raise argparse.ArgumentTypeError(f"there is no kind {unknown!r}; the kinds are {', '.join(kinds)}")
        return chosen
    return read


def find_program(name):
    """The release build of a program in this clone, or else its debug build."""
    places = [os.path.join(ROOT, ".build", kind, name) for kind in ("release", "debug")]
    return next(filter(os.path.exists, places), places[0])


def parser(text, program="settle", kinds=()):
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--seed", type=at_least(0), help="determines the choices; a seed that was begun is continued")
    made.add_argument("--settle", "--program", dest="settle", metavar="PROGRAM",
                      help=f"by default the release build of {program} in .build, or else the debug build")
    made.add_argument("--state", default=os.path.join(ROOT, ".build", "prove"), help="the folder with the state of begun runs")
    made.add_argument("--fresh", action="store_true", help="start the seed over")
    if kinds:
        made.add_argument("--only", type=some_of(kinds), metavar="KINDS", help=f"these alone, with commas between them: {', '.join(kinds)}")
    made.set_defaults(program=program)
    return made


# Processes

running, held, is_starting = [], [], False


def start(words, **options):
    """A process in a group of its own, so that the end of the proof also ends what it has started."""
    global is_starting
    # A signal that comes before the process is known waits.
    is_starting = True
    try:
        running[:] = [process for process in running if process.poll() is None]
        running.append(subprocess.Popen(words, start_new_session=True, **options))
        return running[-1]
    finally:
        is_starting = False
        if held:
            signal.raise_signal(held[0])


def run(words):
    """Runs a process to its end."""
    process = start(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    printed, complaints = process.communicate()
    # What it has started and left ends with it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(words, process.returncode, printed, complaints)


def check_program(path, name):
    """What another program answers would look like a broken promise."""
    try:
        answer = run([path, "--help"]).stdout
    except OSError as error:
        give_up(f"{path} can't be run: {error.strerror}")
    if not answer.startswith(name + ":"):
        give_up(f"{path} is not {name}")


class Proof:
    """A run in rounds, of which each has a seed of its own. Its state is stored after each round, so it may be ended at any time."""

    def __init__(self, name, given):
        self.name, self.given, self.problems = name, given, []
        self.seed = int(time.time()) if given.seed is None else given.seed
        self.option = next((option for option in ("rounds", "count") if hasattr(given, option)), None)
        self.total, self.step = getattr(given, self.option) if self.option else 1, 1
        self.next, self.sums, self.builds, self.folder = 0, {}, [], None
        for one in SIGNALS:
            if signal.getsignal(one) != signal.SIG_IGN:
                signal.signal(one, self.interrupt)
        is_named = given.settle is not None
        given.settle = os.path.abspath(given.settle or find_program(given.program))
        if not os.path.exists(given.settle):
            give_up(f"there is no program {given.settle}" + ("" if is_named else ": run `make build`, or name one with --settle"))
        check_program(given.settle, given.program)
        self.begun = self.told = time.monotonic()
        self.path = os.path.join(given.state, f"{name}-{self.seed}.json")
        self.build = f"{given.settle} {os.path.getmtime(given.settle)}"
        # As JSON has them.
        self.options = json.loads(json.dumps({option: value for option, value in vars(given).items() if option not in FREE}))
        try:
            os.makedirs(given.state, exist_ok=True)
            if not given.fresh:
                self.resume()
            self.store()
        except OSError as error:
            give_up(f"the state can't be kept: {error}")
        note = "; another build did some of it" if set(self.builds) - {self.build} else ""
        print(f"{name}: seed {self.seed}, {self.next} of {self.total} done, with {given.settle}{note}", flush=True)
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix=f"settle-{name}-"))
        # The processes of a run leave nothing elsewhere.
        os.environ["TMPDIR"] = self.folder
        atexit.register(self.clean)
        if self.next >= self.total:
            more = f"a larger --{self.option} goes on, " if self.option else ""
            print(f"{name}: seed {self.seed} is complete: {more}--fresh starts it over")
            sys.exit(self.end())

    def resume(self):
        """Goes on from the state of a begun seed."""
        try:
            with open(self.path) as file:
                found = json.load(file)
            done, sums, builds, options = (found[member] for member in ("next", "sums", "builds", "options"))
            is_sound = type(done) is int and done >= 0 and isinstance(options, dict) and all(isinstance(build, str) for build in builds) \
                and all(isinstance(value, (int, float)) for value in sums.values())
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError, AttributeError):
            is_sound = False
        if not is_sound:
            give_up(f"{self.path} is not the state of a run: --fresh starts the seed over")
        if not done:
            return
        if other := [option for option in {**options, **self.options} if options.get(option) != self.options.get(option)]:
            text = ", ".join(f"--{option.replace('_', '-')} {options.get(option)} and not {self.options.get(option)}" for option in other)
            give_up(f"seed {self.seed} was begun with {text}: --fresh starts it over")
        self.next, self.sums, self.builds = done, sums, builds

    def add(self, **figures):
        for figure, value in figures.items():
            self.sums[figure] = self.sums.get(figure, 0) + value

    def maximum(self, **figures):
        for figure, value in figures.items():
            self.sums[figure] = max(self.sums.get(figure, value), value)

    def problem(self, kind, text):
        self.problems.append({"round": self.next // self.step, "kind": kind, "text": text})
        print(f"{self.name}: round {self.next // self.step}: {kind}: {text}", flush=True)

    def rounds(self, step=1):
        """What is left of the total, in rounds of `step`: where each begins, and how many it has. One with a problem is the last, and is
        run again by the next call."""
        self.step = step
        while self.next < self.total:
            count = min(step - self.next % step, self.total - self.next)
            yield self.next, count
            if self.problems:
                return
            self.next += count
            if self.build not in self.builds:
                self.builds.append(self.build)
            self.store()
            if time.monotonic() - self.told > 30:
                self.told = time.monotonic()
                print(f"{self.name}: {self.next} of {self.total}: {json.dumps(self.sums)}", flush=True)

    def store(self):
        with open(self.path + ".new", "w") as file:
            json.dump({"next": self.next, "sums": self.sums, "builds": self.builds, "options": self.options}, file)
        os.replace(self.path + ".new", self.path)

    def interrupt(self, number, _):
        """Ends at once: an exception could be caught, or get lost on its way."""
        if is_starting:
            held.append(number)
            return
        try:
            self.clean()
            # Before there is a folder, the state was not read.
            place = f" after {self.next} of {self.total}" if self.folder else ""
            os.write(1, f"{self.name}: ended by {signal.Signals(number).name}; --seed {self.seed} goes on{place}\n".encode())
        finally:
            os._exit(128 + number)

    def clean(self):
        """Ends all processes, and removes the folder, unless a problem or an error of the script has left data in it."""
        for one in SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        for process in running:
            # `process.wait` could wait for a lock of what was interrupted; `poll` does not.
            with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    os.waitpid(process.pid, 0)
        if self.folder and os.path.exists(self.folder):
            if not os.listdir(self.folder) or not (self.problems or hasattr(sys, "last_value")):
                # A process that was killed may write for a moment longer.
                for _ in range(100):
                    shutil.rmtree(self.folder, ignore_errors=True)
                    if not os.path.exists(self.folder):
                        break
                    time.sleep(0.02)
            else:
                print(f"{self.name}: the data are in {self.folder}", flush=True)

    def end(self, **more):
        """Prints the summary, and gives the status."""
        atexit.unregister(self.clean)
        self.clean()
        seconds = round(time.monotonic() - self.begun, 1)
        print(json.dumps({"ok": not self.problems, "proof": self.name, "seed": self.seed, self.option or "rounds": self.next, **self.sums,
                          **more, "seconds": seconds, "problems": self.problems[:20]}), flush=True)
        return 1 if self.problems else 0
