"""What the options of the benchmarks may be, so that a wrong one is refused before anything runs."""
import argparse
import math
import os
import shutil

BUILT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.build/release/settle"))


def parser(text):
    return argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=text)


def at_least(least, kind=int):
    """The type of an option that takes such a number."""
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is not a {'whole ' if kind is int else ''}number of at least {least}")
        return value
    return read


positive = at_least(1)


def above_zero(text):
    value = at_least(0, float)(text)
    if not value:
        raise argparse.ArgumentTypeError("it must be above 0")
    return value


def sizes(text):
    """Numbers with commas between them."""
    return [positive(part) for part in text.split(",")]


def program(text):
    found = shutil.which(text)
    if not found:
        hint = "; `swift build -c release --product settle` builds it" if os.path.basename(text) == "settle" else ""
        raise argparse.ArgumentTypeError(f"there is no program {text}{hint}")
    return os.path.abspath(found)


def process(text):
    if not (text.isdecimal() and os.path.exists(f"/proc/{text}/status")):
        raise argparse.ArgumentTypeError(f"there is no process {text}")
    return int(text)


def words(*known):
    """The type of an option that takes some of these words, with commas between them."""
    def read(text):
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"there is no {word!r}; there are {', '.join(known)}")
        return text.split(",")
    return read


def check_order(options, tests, needs):
    """Refuses tests that read what an earlier one of them writes, without that one."""
    for place, test in enumerate(tests):
        if test in needs and needs[test] not in tests[:place]:
            options.error(f"the test {test} reads what {needs[test]} writes: name {needs[test]} before it")


def check_load(options, given):
    """Refuses tests of load.py that can't run."""
    check_order(options, given.tests, {"get": "put"} | dict.fromkeys(("getmany", "changes", "alldocs", "replicate"), "bulk"))
    if {"up", "getmany", "putmany"} & set(given.tests) and not shutil.which("wrk"):
        options.error("tests on 16 connections need the program wrk, Debian's package of this name")


def add_settle(options, **more):
    return options.add_argument("--settle", type=program, metavar="PROGRAM", help="the tool, built for release", **more)
