"""Compiles power.c, and names it to a server."""
import os

from proof import give_up, run

HERE = os.path.dirname(os.path.abspath(__file__))


def build(folder):
    """The path of the library, which is built if it is older than its source."""
    source, library = os.path.join(HERE, "power.c"), os.path.join(os.path.abspath(folder), "power.so")
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        command = [os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library + ".new", source,
                   "-ldl", "-lpthread"]
        try:
            complaints = "" if (result := run(command)).returncode == 0 else result.stderr or f"it ends with {result.returncode}"
        except OSError as error:
            complaints = error.strerror
        if complaints:
            give_up(f"{command[0]} can't compile power.c, and CC names another compiler: {complaints}")
        os.replace(library + ".new", library)
    return library


def environment(library, data, log=None, control=None):
    """The variables for a server over a folder of data."""
    found = {"LD_PRELOAD": library, "PROVE_FOLDER": data, "PROVE_LOG": log, "PROVE_CONTROL": control}
    return {name: value for name, value in found.items() if value}
