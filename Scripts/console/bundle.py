"""Makes of the console's modules and sheets what the server delivers: few files, and short ones.

esbuild makes a file of each area of pages (`app/areas`), and of each other module that is imported when it is needed. What the first
visit needs is in `main.js` and `common.js`; what several areas need beyond that is in `shared.js`.
"""
import collections
import glob
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile

import texts

MAIN = "app/main.js"
FRAME = "app/areas/frame.js"
TEXTS = "app/texts/"
MODULES = ["--bundle", "--format=esm", "--target=es2022", "--splitting", "--legal-comments=none"]


def esbuild(folder, *arguments):
    """Runs esbuild in a folder."""
    if not shutil.which("esbuild"):
        sys.exit("Changes of the console need esbuild, which bundles its modules: apt-get install esbuild")
    if subprocess.run(["esbuild", *arguments, "--log-level=warning"], cwd=folder, check=False).returncode:
        sys.exit("esbuild can't bundle the console")


def described(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, text, mode="w"):
    with open(path, mode, encoding="utf-8") as file:
        file.write(text)


class Graph:
    """Which module imports which, as esbuild reads them."""

    def __init__(self, web, room):
        meta = os.path.join(room, "graph.json")
        esbuild(web, MAIN, *MODULES, "--outdir=" + os.path.join(room, "graph"), "--metafile=" + meta)
        inputs = described(meta)["inputs"]
        self.imports = {name: [(one["path"], one["kind"]) for one in found["imports"]] for name, found in inputs.items()}
        self.entries = sorted({path for all in self.imports.values() for path, kind in all if kind == "dynamic-import"})

    def needed(self, name):
        """A module and all that it imports as it begins."""
        found, left = set(), [name]
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left += [path for path, kind in self.imports[one] if kind == "import-statement"]
        return found


def gather(web, graph):
    """Has each area import all that areas share, and all what the first visit shares with them or the frame: each is one file then."""
    first, frame = graph.needed(MAIN), graph.needed(FRAME)
    areas = [name for name in graph.entries if name != FRAME and not name.startswith(TEXTS)]
    times = collections.Counter(one for name in areas for one in graph.needed(name))
    common = {one for one in first | frame if one in times} | first & frame
    shared = {one for one, count in times.items() if count > 1} - common
    for name, modules in ((MAIN, common), (FRAME, common), *((area, common | shared) for area in areas)):
        lines = [f"import './{posixpath.relpath(one, posixpath.dirname(name))}';\n" for one in sorted(modules)]
        write(os.path.join(web, name), "".join(lines), "a")


def mark_whole_texts(web):
    """Says of each catalogue that lacks no text that it is whole."""
    english = texts.texts("en.js")
    for path in glob.glob(os.path.join(web, TEXTS, "*.js")):
        if not english.keys() - texts.texts(os.path.basename(path)).keys():
            write(path, "export const isWhole = true;\n", "a")


def rename_chunks(built, outputs):
    """Gives files that several others share names without the hash of esbuild. Returns what each file imports as it begins."""
    names = {}
    chunks = [name for name, one in outputs.items() if "entryPoint" not in one]
    first = {one["path"] for one in outputs[MAIN]["imports"] if one["kind"] == "import-statement"}
    for kind, found in (("common", first.intersection(chunks)), ("shared", set(chunks) - first)):
        for place, name in enumerate(sorted(found, key=lambda name: (-len(outputs[name]["inputs"]), sorted(outputs[name]["inputs"])))):
            names[name] = f"app/{kind}{place + 1 if place else ''}.js"
    for name in outputs:
        path = os.path.join(built, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in names.items():
            text = text.replace(posixpath.basename(old), posixpath.basename(new))
        write(path, text)
        if name in names:
            os.rename(path, os.path.join(built, names[name]))
    return {names.get(name, name): [names.get(one["path"], one["path"]) for one in output["imports"] if one["kind"] == "import-statement"]
            for name, output in outputs.items()}


def preload(page, imports):
    """Has the page load at once what its script imports. Which texts it needs only the browser knows."""
    found, left = set(), list(imports[MAIN])
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += imports[name]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    lines = "".join(f'<link rel="modulepreload" href="a/{{hash}}/{name}">\n' for name in sorted(found))
    write(page, re.sub(r"(?=<script )", lines, text, count=1))


def bundle(sources, built):
    """Fills the folder `built`, which it empties first, with what the server delivers."""
    with tempfile.TemporaryDirectory(prefix="settle-bundle-") as room:
        web = shutil.copytree(sources, os.path.join(room, "web"))
        out, meta = os.path.join(room, "built"), os.path.join(room, "meta.json")
        graph = Graph(web, room)
        gather(web, graph)
        mark_whole_texts(web)
        esbuild(web, MAIN, *graph.entries, *MODULES, "--minify", "--outdir=" + out, "--entry-names=app/[name]", "--chunk-names=app/[name]-[hash]",
                "--metafile=" + meta)
        outputs = {os.path.relpath(os.path.join(web, name), out): one for name, one in described(meta)["outputs"].items()}
        for one in outputs.values():
            for each in one["imports"]:
                each["path"] = os.path.relpath(os.path.join(web, each["path"]), out)
        imports = rename_chunks(out, outputs)
        for path in sorted(glob.glob(os.path.join(web, "*"))):
            name = os.path.basename(path)
            if name.endswith(".css"):
                esbuild(web, name, "--minify", "--outfile=" + os.path.join(out, name))
            elif os.path.isfile(path):
                shutil.copy(path, out)
        preload(os.path.join(out, "index.html"), imports)
        shutil.rmtree(built, ignore_errors=True)
        shutil.copytree(out, built)
