"""What the options of the benchmarks may be, so that a wrong one is refused before anything runs."""
import argparse
import os
import shutil

BUILT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.build/release/settle"))


def parser(text):
    return argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=text)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return number


def seconds(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("it must be more than 0")
    return number


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
    if not os.path.exists(f"/proc/{int(text)}/status"):
        raise argparse.ArgumentTypeError(f"there is no process {text}")
    return int(text)


def words(*known):
    """The type of an option that takes some of these words, with commas between them."""
    def read(text):
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"there is no {word!r}, but {', '.join(known)}")
        return text.split(",")
    return read


def check_order(options, tests, needs):
    """Refuses tests that read what an earlier one of them writes, without that one."""
    for place, test in enumerate(tests):
        if test in needs and needs[test] not in tests[:place]:
            options.error(f"the test {test} reads what {needs[test]} writes: name {needs[test]} before it")


def add_settle(options, **more):
    return options.add_argument("--settle", type=program, metavar="PROGRAM", help="the tool, built for release", **more)
