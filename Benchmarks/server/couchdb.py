"""A CouchDB to compare with, from the folder of a release; docs/PERFORMANCE.md says how to build one."""
import os
import socket
import subprocess
import sys
import time

from options import program
from processes import free_port, launch


def release(folder):
    """The type of an option that takes the folder of a release, by the program in it."""
    program(os.path.join(folder, "bin", "couchdb"))
    return os.path.abspath(folder)


class CouchDB:
    """A CouchDB with stock settings that writes to one folder alone, and needs no process for the names of Erlang's nodes.

    Without that process, CouchDB would take itself for the search server for which `GET /` looks, and wait 7 s for its own answer. So that
    one has another address, where nothing listens.
    """

    def __init__(self, release, folder, password, user="admin"):
        self.port = free_port()
        os.makedirs(folder, exist_ok=True)
        settings = os.path.join(folder, "bench.ini")
        with open(settings, "w") as file:
            file.write(
                f"[couchdb]\ndatabase_dir = {folder}\nview_index_dir = {folder}\nsingle_node = true\n[smoosh]\nstate_dir = {folder}\n"
                f"[chttpd]\nport = {self.port}\nbind_address = 127.0.0.1\n[log]\nwriter = file\nfile = {folder}/log\n"
                f"[dreyfus]\nname = clouseau@127.0.0.2\n[admins]\n{user} = {password}\n")
        flags = f"-start_epmd false -erl_epmd_port {free_port()} -kernel inet_dist_use_interface {{127,0,0,1}}"
        stock = [os.path.join(release, "etc", name) for name in ("default.ini", "local.ini")]
        self.process = launch(
            [os.path.join(release, "bin", "couchdb")],
            env=os.environ | {"COUCHDB_INI_FILES": " ".join([*stock, settings]), "ERL_FLAGS": flags},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}"
        self.wait()

    def wait(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"CouchDB ended with {self.process.returncode}")
                time.sleep(0.05)
        sys.exit("CouchDB did not listen within 30 s")
