"""`settle serve` as a process that may be killed, and a client for one thread."""
import base64
import http.client
import json
import os
import socket
import subprocess

from proof import run, start

PASSWORD = "correct horse"
HEADERS = {"Authorization": "Basic " + base64.b64encode(f"anna:{PASSWORD}".encode()).decode(), "Content-Type": "application/json",
           "Accept": "application/json"}


class Lost(Exception):
    """No answer came, or not all of it: the request may have been done, or not."""


class Client:
    """One connection. Not for several threads at once."""

    def __init__(self, port, timeout=60):
        self.port, self.timeout, self.connection = port, timeout, None

    def raw(self, method, path, body=None, headers=None):
        """Status and bytes of an answer."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
            try:
                self.connection.request(method, path, data, HEADERS | (headers or {}))
            except (BrokenPipeError, ConnectionResetError):
                # A server that refuses a body answers before it has read it.
                if data is None or self.connection.sock is None:
                    raise
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.will_close:
                self.close()
            return answer.status, text
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Lost(f"{method} {path}: {error!r}") from error

    def ask(self, method, path, body=None, headers=None):
        """Status and JSON of an answer."""
        status, text = self.raw(method, path, body, headers)
        try:
            return status, json.loads(text) if text.strip() else None
        except ValueError as error:
            raise Lost(f"{method} {path}: {status} {text[:200]!r}") from error

    def get(self, path, body=None):
        """The JSON of an answer with status 200."""
        status, answer = self.ask("GET" if body is None else "POST", path, body)
        if status not in (200, 201):
            raise AssertionError(f"{path}: {status} {answer}")
        return answer

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def verified(settle, path):
    """What `settle verify` prints for a database, {} if that is not readable; and the problems."""
    done = run([settle, "verify", path, "--json"])
    try:
        result = json.loads(done.stdout.splitlines()[-1])
        problems = [f"{path}: {text}" for text in result["problems"]]
    except (ValueError, IndexError, KeyError, TypeError):
        result, problems = {}, []
    if done.returncode != 0 and not problems:
        problems.append(f"settle verify {path} ends with {done.returncode}: {done.stderr[-500:]}")
    return result, problems


class Server:
    """A server over one folder, at one port over all of its starts."""

    def __init__(self, settle, folder, environment=None):
        self.settle, self.folder, self.environment = settle, folder, environment or {}
        self.data, self.log, self.port, self.process = os.path.join(folder, "data"), os.path.join(folder, "log"), free_port(), None

    @property
    def url(self):
        return f"http://anna:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{self.port}/"

    def start(self, waits=True):
        """Starts it. Without an announcement it gives False; with `waits` unset it does not wait for one."""
        # Only the first start sets the password, which takes a while.
        first = not os.path.exists(os.path.join(self.data, "server.json"))
        environment = os.environ | ({"SETTLE_ADMIN": "anna", "SETTLE_ADMIN_PASSWORD": PASSWORD} if first else {}) | self.environment
        with open(self.log, "ab") as log:
            self.process = start(
                [self.settle, "serve", "--data", self.data, "--port", str(self.port), "--json"],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        return bool(self.process.stdout.readline()) if waits else True

    def kill(self):
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """SIGTERM; gives the exit status."""
        self.process.terminate()
        try:
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()
            return "it did not end within 60 s"
        self.process.stdout.close()
        return status

    def last_lines(self, count=5):
        with open(self.log, errors="replace") as file:
            return "".join(file.readlines()[-count:])

    def databases(self):
        """The folders of its databases. One that was being created or removed has no file of a database, and is none."""
        paths = [os.path.join(self.data, name) for name in sorted(os.listdir(self.data)) if name.endswith(".settle")]
        return [path for path in paths if os.path.exists(os.path.join(path, "database.sqlite"))]

    def verify(self):
        """What `settle verify` finds in the folders, while no server runs. Gives (bodies and attachments checked, problems)."""
        checked, problems = 0, []
        for path in self.databases():
            result, found = verified(self.settle, path)
            checked += result.get("bodies", 0) + result.get("attachments", 0)
            problems += found
        return checked, problems
