#!/usr/bin/env python3
"""Writes Sources/CConsole/CConsole.c, which embeds the files of the console, or checks it.

    generate.py [--check]
"""
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WEB = os.path.join(ROOT, "Sources/CConsole/web")
TARGET = os.path.join(ROOT, "Sources/CConsole/CConsole.c")


def names():
    """The files below the folder, sorted."""
    found = []
    for folder, _, files in os.walk(WEB):
        found += [os.path.relpath(os.path.join(folder, name), WEB) for name in files if not name.startswith(".")]
    return sorted(found)


def text(files):
    lines = [
        "// Written by Scripts/console/generate.py.", '#include "CConsole.h"', "",
        "// C23 has #embed, and this compiler in all its modes.",
        '#pragma clang diagnostic ignored "-Wc23-extensions"', "",
    ]
    for number, name in enumerate(files):
        lines += [f"static const unsigned char file{number}[] = {{", f'#embed "web/{name}"', "};", ""]
    lines.append("static const settle_console_file files[] = {")
    lines += [f'    {{"{name}", file{number}, sizeof file{number}}},' for number, name in enumerate(files)]
    lines += [
        "};", "", "size_t settle_console_count(void) { return sizeof files / sizeof files[0]; }", "",
        "const settle_console_file *settle_console_at(size_t place) { return &files[place]; }", "",
    ]
    return "\n".join(lines)


def main():
    written = text(names())
    if "--check" in sys.argv[1:]:
        with open(TARGET) as file:
            if file.read() != written:
                sys.exit("Sources/CConsole/CConsole.c is not what Scripts/console/generate.py writes: run it")
        return
    with open(TARGET, "w") as file:
        file.write(written)


main()
