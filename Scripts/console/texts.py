#!/usr/bin/env python3
"""Compares the catalogues of the console's texts with the English one.

    texts.py            lists what each catalogue lacks, has beyond, and takes other values for
    texts.py --check    fails if one lacks a text, or takes other values for it
"""
import os
import re
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/CConsole/web/app/texts")
BLANK = re.compile(r"(?:\s|,|//[^\n]*|/\*.*?\*/)*", re.S)
NAME = re.compile(r"(\w+|'[^']*')\s*:\s*")


def after_text(source, place):
    """The place after a text in quotes, which may be a template."""
    quote, place = source[place], place + 1
    while source[place] != quote:
        if source[place] == "\\":
            place += 2
        elif quote == "`" and source.startswith("${", place):
            place = after_value(source, place + 2, "}") + 1
        else:
            place += 1
    return place + 1


def after_value(source, place, ends):
    """The place of the first of some signs that stands outside of brackets and texts."""
    depth = 0
    while depth or source[place] not in ends:
        if source[place] in "'\"`":
            place = after_text(source, place)
            continue
        depth += (source[place] in "([{") - (source[place] in ")]}")
        place += 1
    return place


def texts(name):
    """The texts of a catalogue as they are written, by `module.name`."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        source = file.read()
    found, module = {}, None
    place = source.index("export default {") + len("export default {")
    while True:
        place = BLANK.match(source, place).end()
        if source[place] == "}":
            if module is None:
                return found
            module, place = None, place + 1
            continue
        one = NAME.match(source, place)
        place = one.end()
        if module is None and source[place] == "{":
            module, place = one[1], place + 1
            continue
        end = after_value(source, place, ",}")
        found[f"{module}.{one[1]}"] = source[place:end].strip()
        place = end


def values(text):
    """How many values a text takes: 0 if it is not a function."""
    if text[0] in "'\"`[":
        return None
    before = text.split("=>")[0].strip()
    return len([name for name in before.strip("()").split(",") if name.strip()])


def main():
    is_bad = False
    english = texts("en.js")
    for name in sorted(os.listdir(FOLDER)):
        if name == "en.js":
            continue
        other = texts(name)
        lacking = [key for key in english if key not in other]
        beyond = [key for key in other if key not in english]
        differing = [key for key in english if key in other and values(english[key]) != values(other[key])]
        for what, keys in (("lacks", lacking), ("has beyond", beyond), ("takes other values for", differing)):
            if keys:
                print(f"{name} {what} {len(keys)}: {', '.join(keys)}")
        is_bad = is_bad or lacking or differing
    if "--check" in sys.argv[1:] and is_bad:
        sys.exit(1)


if __name__ == "__main__":
    main()
