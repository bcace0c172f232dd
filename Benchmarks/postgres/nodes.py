"""What the harnesses share: nodes of Settle over one PostgreSQL or over a folder, and a client that says what it cannot know."""
import base64
import http.client
import json
import os
import random
import secrets
import select
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../Scripts/postgres"), os.path.join(HERE, "../server")]
from cluster import Cluster, Unavailable  # noqa: E402
from options import BUILT, add_settle, positive  # noqa: E402
from options import parser as plain_parser  # noqa: E402
from room import Room  # noqa: E402


class Lost(Exception):
    """The connection ended before the answer: what was asked is done, or not."""


class Node:
    """One process of `settle serve`. Each start listens on another port."""

    def __init__(self, fleet, name, port=0):
        self.fleet, self.name, self.wish = fleet, name, port
        self.process, self.port = None, None
        self.log = fleet.room.path(name + ".log")

    def start(self, patience=60):
        with open(self.log, "ab") as log:
            self.process = self.fleet.room.start(
                [self.fleet.settle, "serve", *self.fleet.source(self), "--port", str(self.wish), "--json"],
                env=self.fleet.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        ready, _, _ = select.select([self.process.stdout], [], [], patience)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            raise Unavailable(f"the node {self.name} did not start:\n{self.log_end()}")
        self.port = json.loads(line)["port"]
        if not self.fleet.signed_in:
            self.fleet.sign_in(self)

    def log_end(self):
        with open(self.log, errors="replace") as file:
            return "".join(file.readlines()[-15:])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.port = None
        self.process.kill()
        self.fleet.room.ended(self.process)
        self.process.stdout.close()

    def send(self, number):
        """Sends a signal, such as one that freezes it."""
        os.kill(self.process.pid, number)

    def freeze(self):
        self.send(signal.SIGSTOP)

    def thaw(self):
        self.send(signal.SIGCONT)

    def peak(self):
        """The most memory it has had since its start, in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


class Fleet:
    """A new cluster with its schema and some nodes, or with the file engine a folder and one node."""

    def __init__(self, given, count, more=(), **cluster):
        self.given, self.settle, self.more = given, given.settle, list(more)
        self.room = Room(name="settle-nodes")
        self.password = secrets.token_hex(8)
        basic = base64.b64encode(f"admin:{self.password}".encode()).decode()
        self.fields, self.signed_in = {"Authorization": "Basic " + basic}, False
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SETTLE_")}
        self.environment = clean | {"SETTLE_ADMIN": "admin", "SETTLE_ADMIN_PASSWORD": self.password}
        self.cluster, self.string, self.closed = None, None, False
        if given.engine == "postgres":
            self.cluster = Cluster(self.room, **cluster)
            self.string = self.cluster.string()
            done = subprocess.run(
                [self.settle, "postgres", "migrate", "--postgres", self.cluster.string("settle_owner"),
                 "--postgres-password-file", self.cluster.files["settle_owner"]],
                env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0:
                raise Unavailable(f"settle postgres migrate failed:\n{done.stdout}{done.stderr}")
        self.nodes = [Node(self, f"node{number + 1}") for number in range(count if self.cluster else 1)]

    def source(self, node):
        """The options that say where a node has its databases."""
        if not self.cluster:
            return ["--data", self.room.path("databases"), *self.more]
        return [
            "--postgres", self.string, "--postgres-password-file", self.cluster.files["settle_app"],
            "--index-dir", self.room.path(node.name + "-indexes"), "--node", node.name,
            "--postgres-connections", str(self.given.connections), *self.more]

    def start(self):
        for node in self.nodes:
            node.start()

    def sign_in(self, node):
        """Gets a session: a node that starts need not hash the password. The administrator is there for all nodes now."""
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=30)
        login = json.dumps({"name": "admin", "password": self.password})
        connection.request("POST", "/_session", login, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise Unavailable(f"no session at {node.name}: {answer.status} {answer.read()!r}")
        self.fields["Cookie"] = answer.getheader("Set-Cookie").split(";")[0]
        connection.close()
        self.signed_in = True
        for name in ("SETTLE_ADMIN", "SETTLE_ADMIN_PASSWORD"):
            del self.environment[name]

    def up(self):
        return [node for node in self.nodes if node.port]

    def close(self, keeps=False):
        self.closed = True
        for node in self.nodes:
            node.port = None
        self.room.close(keeps)
        if keeps:
            print(f"logs and data are in {self.room.folder}", file=sys.stderr)


class Client:
    """A connection, at one node at a time, opened when it is needed."""

    def __init__(self, fleet, timeout=30):
        self.fleet, self.timeout = fleet, timeout
        self.connection, self.place = None, None

    def ask(self, node, method, path, body=None, kind="application/json"):
        """Status and answer, read from JSON where it is some. Raises `Lost` if there is none."""
        if (port := node.port) is None:
            raise Lost(f"{node.name} is down")
        if self.place != port:
            self.close()
            self.connection, self.place = http.client.HTTPConnection("127.0.0.1", port, timeout=self.timeout), port
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        fields = self.fleet.fields | {"Content-Type": kind}
        try:
            self.connection.request(method, path, data, fields)
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.getheader("Content-Type", "").startswith("application/json"):
                return answer.status, json.loads(text)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise Lost(repr(error)) from error
        return answer.status, text

    def sure(self, node, method, path, body=None, good=(200, 201, 202)):
        """The answer; anything but success ends the run."""
        status, answer = self.ask(node, method, path, body)
        if status not in good:
            raise Unavailable(f"{method} {path} at {node.name}: {status} {answer}")
        return answer

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection, self.place = None, None


class Violations:
    """What must not be, by kind; some of each are printed."""

    def __init__(self):
        self.lock, self.found = threading.Lock(), {}

    def add(self, kind, text):
        with self.lock:
            self.found.setdefault(kind, []).append(text)

    def report(self, figures, as_json, *fleets):
        """Prints the result; the status for `exit`."""
        counts = {kind: len(texts) for kind, texts in self.found.items()}
        if as_json:
            print(json.dumps(figures | {"violations": counts}))
        else:
            for name, value in figures.items():
                print(f"{name:52} {value if isinstance(value, (str, int)) else f'{value:.2f}'}")
        for kind, texts in self.found.items():
            print(f"VIOLATION {kind}: {len(texts)} times", *texts[:5], sep="\n    ", file=sys.stderr)
        for fleet in fleets:
            fleet.close(keeps=bool(self.found) and fleet.given.keep)
        return 1 if self.found else 0


def parser(text, nodes):
    options = plain_parser(text)
    add_settle(options, default=BUILT)
    options.add_argument("--engine", choices=("postgres", "file"), default="postgres", help="file: one node, to try the harness")
    options.add_argument("--nodes", type=positive, default=nodes)
    options.add_argument("--connections", type=positive, default=16, help="to PostgreSQL, of each node")
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options.add_argument("--keep", action="store_true", help="keep logs and data if something was wrong")
    options.add_argument("--json", action="store_true")
    return options


def main(body, given):
    """Runs a harness; Ctrl-C ends it, and all processes end with it."""
    print(f"seed {given.seed}", file=sys.stderr)
    try:
        sys.exit(body(given))
    except Unavailable as reason:
        print(f"{os.path.basename(sys.argv[0])}: {reason}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
