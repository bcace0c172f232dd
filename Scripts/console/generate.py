#!/usr/bin/env python3
"""Makes what the server delivers of the console's sources, with esbuild, or checks that it is made of them.

    generate.py            writes the folder Sources/CConsole/built, and Sources/CConsole/CConsole.c, which embeds its files
    generate.py --check    fails if one of them is not what was made of Sources/CConsole/web; needs no esbuild
"""
import hashlib
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WEB = os.path.join(ROOT, "Sources/CConsole/web")
BUILT = os.path.join(ROOT, "Sources/CConsole/built")
TARGET = os.path.join(ROOT, "Sources/CConsole/CConsole.c")


def names(top):
    """The files below a folder, sorted."""
    found = []
    for folder, _, files in os.walk(top):
        found += [os.path.relpath(os.path.join(folder, name), top) for name in files if not name.startswith(".")]
    return sorted(found)


def digest(top):
    """The SHA-256 of the names and contents of all files below a folder."""
    whole = hashlib.sha256()
    for name in names(top):
        with open(os.path.join(top, name), "rb") as file:
            whole.update(f"{name}\0{hashlib.sha256(file.read()).hexdigest()}\n".encode())
    return whole.hexdigest()


def text():
    files = names(BUILT)
    lines = [
        "// Written by Scripts/console/generate.py.", f"// The sources, web:  SHA-256 {digest(WEB)}", f"// Made of them, built: SHA-256 {digest(BUILT)}",
        '#include "CConsole.h"', "",
        "// C23 has #embed, and this compiler in all its modes.",
        '#pragma clang diagnostic ignored "-Wc23-extensions"', "",
    ]
    for number, name in enumerate(files):
        lines += [f"static const unsigned char file{number}[] = {{", f'#embed "built/{name}"', "};", ""]
    lines.append("static const settle_console_file files[] = {")
    lines += [f'    {{"{name}", file{number}, sizeof file{number}}},' for number, name in enumerate(files)]
    lines += [
        "};", "", "size_t settle_console_count(void) { return sizeof files / sizeof files[0]; }", "",
        "const settle_console_file *settle_console_at(size_t place) { return &files[place]; }", "",
    ]
    return "\n".join(lines)


def main():
    if "--check" in sys.argv[1:]:
        with open(TARGET, encoding="utf-8") as file:
            if file.read() != text():
                sys.exit("The console that the server delivers was not made of Sources/CConsole/web: run Scripts/console/generate.py")
        return
    # Only who changes the console needs it.
    from bundle import bundle
    bundle(WEB, BUILT)
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(text())


main()
