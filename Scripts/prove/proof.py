"""What all proof runs share: their arguments, the file with their state, and the summary that they print."""
import argparse
import json
import os
import signal
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def find_program(name="settle"):
    """The newest build of a program in this clone."""
    places = [os.path.join(ROOT, ".build", kind, name) for kind in ("release", "debug")]
    built = [place for place in places if os.path.exists(place)]
    return max(built, key=os.path.getmtime) if built else places[0]


def parser(text, program="settle"):
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--seed", type=int, default=None, help="determines the choices; a seed that was begun is continued")
    made.add_argument("--settle", "--program", dest="settle", default=None, help=f"the program, by default the newest {program} in .build")
    made.add_argument("--state", default=os.path.join(ROOT, ".build", "prove"), help="the folder with the state of begun runs")
    made.add_argument("--only", help="of kills, power and faults: these kinds of requests, with commas between them")
    made.add_argument("--fresh", action="store_true", help="start the seed over")
    made.set_defaults(program=program)
    return made


class Proof:
    """A run in rounds, of which each has a seed of its own. Its state is stored after each round, so it may be ended at any time."""

    def __init__(self, name, given):
        # So that the processes it has started are ended.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        self.name, self.given = name, given
        self.seed = int(time.time()) if given.seed is None else given.seed
        given.settle = os.path.abspath(given.settle or find_program(given.program))
        if not os.path.exists(given.settle):
            raise SystemExit(f"there is no program {given.settle}: run `make build`, or name one with BINARY=…")
        os.makedirs(given.state, exist_ok=True)
        self.path = os.path.join(given.state, f"{name}-{self.seed}.json")
        self.next, self.sums, self.problems = 0, {}, []
        self.begun = self.told = time.monotonic()
        if not given.fresh and os.path.exists(self.path):
            with open(self.path) as file:
                state = json.load(file)
            self.next, self.sums = state["next"], state["sums"]
        print(f"{name}: seed {self.seed}, from round {self.next} on, with {given.settle}", flush=True)

    def add(self, **figures):
        for figure, value in figures.items():
            self.sums[figure] = self.sums.get(figure, 0) + value

    def maximum(self, **figures):
        for figure, value in figures.items():
            self.sums[figure] = max(self.sums.get(figure, value), value)

    def problem(self, kind, text):
        self.problems.append({"round": self.next, "kind": kind, "text": text})
        print(f"{self.name}: round {self.next}: {kind}: {text}", flush=True)

    def rounds(self, count):
        """The numbers of the next rounds; a round with a problem is the last, and is run again by the next call."""
        for number in range(self.next, self.next + count):
            yield number
            if self.problems:
                return
            self.next = number + 1
            self.store()
            if time.monotonic() - self.told > 30:
                self.told = time.monotonic()
                print(f"{self.name}: {self.next} rounds: {json.dumps(self.sums)}", flush=True)

    def store(self):
        with open(self.path + ".new", "w") as file:
            json.dump({"next": self.next, "sums": self.sums}, file)
        os.replace(self.path + ".new", self.path)

    def end(self, **more):
        """Prints the summary, and gives the status."""
        if not self.problems:
            self.store()
        seconds = round(time.monotonic() - self.begun, 1)
        print(json.dumps({"ok": not self.problems, "proof": self.name, "seed": self.seed, "rounds": self.next, **self.sums, **more,
                          "seconds": seconds, "problems": self.problems[:20]}), flush=True)
        return 1 if self.problems else 0
