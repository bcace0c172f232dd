#!/usr/bin/env python3
"""Reads the plan of a build for iOS: Scripts/apple-plan.py PLAN PACKAGE SDK

Fails if a command names a library, a folder of headers or a system library's module map that an iPhone does not have.
"""
import json
import re
import sys

plan, package, room = sys.argv[1:]
LIBRARIES = {"sqlite3", "z"}
MODULES = {"CSQLite", "CZlib"}

unexpected, links = set(), set()
commands = 0
for line in open(plan, encoding="utf-8"):
    found = re.match(r"\s*args: (\[.*\])$", line)
    if not found:
        continue
    commands += 1
    words = [word for word in json.loads(found[1]) if word not in ("-Xcc", "-Xlinker")]
    for word, following in zip(words, words[1:] + [""]):
        folder = following if word == "-I" else word[2:] if word.startswith("-I") else None
        if folder is not None and not folder.startswith((package + "/", room + "/")):
            unexpected.add(f"-I {folder}")
        if word.startswith("-l") and word[2:] not in LIBRARIES:
            unexpected.add(word)
        if word.startswith("-fmodule-map-file=" + package + "/Sources/"):
            module = word.split("/")[-2]
            (links if module in MODULES else unexpected).add(module)

if commands == 0 or links != MODULES:
    sys.exit(f"apple-plan: the plan has {commands} commands, and module maps of {sorted(links)}")
if unexpected:
    sys.exit("apple-plan: the plan for iOS names what an iPhone does not have:\n" + "\n".join(sorted(unexpected)))
print(f"The plan for iOS, {commands} commands, needs {' and '.join(sorted(links))} of the system.")
