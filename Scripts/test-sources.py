#!/usr/bin/env python3
"""Prints the files that a build of some tests needs: those with the tests, and those of the same targets that have none.

    test-sources.py REGEX

REGEX selects tests as `swift test --filter` does; it is names with | between them. Package.swift leaves out all other files of tests if
SETTLE_TEST_SOURCES has these: a build for a sanitizer compiles a seventh of the lines then. A name that selects no test is an error.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = r"(\w+|`[^`]+`)"
TYPE = re.compile(r"\b(?:struct|class|actor|enum|extension) " + NAME)
FUNCTION = re.compile(r"\bfunc " + NAME)


def tests(target, text):
    """What a filter may match in a file: TARGET.SUITE/TEST for each pair in it, since a type's braces aren't read here."""
    if "@Test" not in text:
        return []
    return [f"{target}.{suite}/{test}" for suite in TYPE.findall(text) for test in FUNCTION.findall(text)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        names = [re.compile(name) for name in sys.argv[1].split("|")]
    except re.error as error:
        sys.exit(f"{sys.argv[1]} is not names with | between them: {error}")
    # Package.swift names the files of some targets itself.
    targets = re.findall(r'name: "(\w+)"', (ROOT / "Package.swift").read_text())
    unmatched = {name for name in names if name.pattern not in targets}
    sources = []
    for folder in sorted((ROOT / "Tests").iterdir()):
        selected, helpers = [], []
        for file in sorted(folder.rglob("*.swift")):
            text = file.read_text()
            found = tests(folder.name, text)
            matched = {name for name in names if any(name.search(test) for test in found)}
            unmatched -= matched
            if matched:
                selected.append(file)
            elif not found:
                helpers.append(file)
        if selected:
            sources += selected + helpers
    if unmatched:
        sys.exit(f"no test has a name with {', '.join(sorted(name.pattern for name in unmatched))}")
    print(*(file.relative_to(ROOT) for file in sources))


if __name__ == "__main__":
    main()
