#!/usr/bin/env python3
"""A PostgreSQL for tests, on loopback and a free port, in a temporary folder that is removed at the end.

    cluster.py run [OPTIONS] COMMAND…     runs a command with the variables below, and then removes the cluster
    cluster.py start [OPTIONS]            prints the variables, and keeps the cluster until Ctrl-C or `stop`
    cluster.py available                  says why there can be no cluster here, with status 1, or nothing
    cluster.py kill FOLDER [SERVER]       kill -9 of a postmaster; its server is `a`, the standby `b`
    cluster.py up FOLDER [SERVER]         starts that server again
    cluster.py promote FOLDER [SERVER]    makes the standby the primary
    cluster.py stop FOLDER                ends what `start` began

    --durable  with fsync        --standby  with a synchronous standby        --tls  with a certificate, and nothing without TLS

The variables: SETTLE_TEST_POSTGRES (a connection string of the role settle_app, all hosts in it), SETTLE_TEST_POSTGRES_PASSWORD_FILE,
the same two with _OWNER and _SUPERUSER, SETTLE_TEST_POSTGRES_FOLDER, and with --tls SETTLE_TEST_POSTGRES_ROOT_CERTIFICATE. Root lets the
user postgres run it. SETTLE_TEST_POSTGRES_BIN names the folder of initdb if it is not where packages put it.
"""
import contextlib
import glob
import itertools
import os
import pwd
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

from room import Room

ROLES = """
CREATE ROLE settle_owner LOGIN PASSWORD '{settle_owner}';
CREATE ROLE settle_app LOGIN PASSWORD '{settle_app}';
CREATE ROLE settle_standby LOGIN REPLICATION PASSWORD '{settle_standby}';
CREATE DATABASE settle OWNER settle_owner;
REVOKE ALL ON DATABASE settle FROM PUBLIC;
GRANT CONNECT ON DATABASE settle TO settle_app;
\\connect settle
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA settle AUTHORIZATION settle_owner;
GRANT USAGE ON SCHEMA settle TO settle_app;
ALTER DEFAULT PRIVILEGES FOR ROLE settle_owner IN SCHEMA settle GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO settle_app;
"""


class Unavailable(Exception):
    """There can be no cluster on this machine, or it did not start."""


def binaries():
    """The folder of initdb and its like, of the newest version."""
    packages = ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin")
    found = [path for package in packages for path in glob.glob(package)]
    found.sort(key=lambda path: int("".join(filter(str.isdigit, path))), reverse=True)
    wish = os.environ.get("SETTLE_TEST_POSTGRES_BIN")
    for place in [wish] if wish else [os.path.dirname(os.path.realpath(shutil.which("initdb") or "/")), *found]:
        if all(os.access(os.path.join(place, name), os.X_OK) for name in ("initdb", "postgres", "psql")):
            return place
    raise Unavailable(f"there is no initdb in {wish}" if wish else (
        "there is no initdb: install the package postgresql, or name its folder in SETTLE_TEST_POSTGRES_BIN"))


def identity():
    """Who runs the server: root must not."""
    if os.geteuid() != 0:
        return {}
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        raise Unavailable("PostgreSQL does not run as root, and there is no user postgres") from None
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Server:
    """One postmaster and its folder."""

    def __init__(self, room, name):
        self.room, self.name, self.bin, self.who = room, name, binaries(), identity()
        self.folder, self.data = room.path(name), room.path(name, "data")
        self.process = None
        # The home of another user is closed to it, and libpq looks there for certificates.
        own = {"LC_ALL": "C", "HOME": self.folder, "PGPASSFILE": os.path.join(self.folder, "pgpass")}
        self.environment = os.environ | own
        if not os.path.exists(self.folder):
            os.mkdir(self.folder, 0o700)
            self.give(self.folder)
            self.keep("port", str(free_port()))
        with open(os.path.join(self.folder, "port")) as file:
            self.port = int(file.read())

    def give(self, path):
        """Makes a file that of the user who runs the server."""
        if self.who:
            os.chown(path, self.who["user"], self.who["group"])

    def keep(self, name, text):
        """A file of that user, in the folder of the server."""
        path = self.room.write(os.path.join(self.name, name), text)
        self.give(path)
        return path

    def run(self, program, *arguments):
        """A program of PostgreSQL, as the server's user."""
        done = subprocess.run(
            [os.path.join(self.bin, program), *arguments], cwd="/", env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **self.who)
        if done.returncode != 0:
            raise Unavailable(f"{program} failed:\n{done.stdout}")

    def configure(self, **settings):
        """Adds settings; the last of a name counts. A server that runs needs a `reload`."""
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self, patience=60):
        """Starts it, and waits until it takes connections. Processes of a killed postmaster may need a moment to be gone, and so
        may a connection of another program that got the port of this server since it was chosen."""
        end = time.monotonic() + patience
        while True:
            with open(os.path.join(self.folder, "log"), "ab") as log:
                self.process = self.room.start(
                    [os.path.join(self.bin, "postgres"), "-D", self.data], signal.SIGQUIT, cwd="/", stdout=log, stderr=log,
                    stdin=subprocess.DEVNULL, env=self.environment, **self.who)
            while self.process.poll() is None and time.monotonic() < end:
                if self.status() == (self.process.pid, "ready"):
                    return
                time.sleep(0.01)
            if self.process.poll() is None or time.monotonic() > end or " in use" not in self.log_end():
                raise Unavailable(f"the server {self.name} did not start:\n{self.log_end()}")
            self.room.ended(self.process)
            time.sleep(0.05)

    def log_end(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as file:
            return "".join(file.readlines()[-12:])

    def status(self):
        """The process and what it says of itself, from its file."""
        with contextlib.suppress(OSError, ValueError):
            with open(os.path.join(self.data, "postmaster.pid")) as file:
                lines = file.read().split("\n")
            if len(lines) > 7:
                return int(lines[0]), lines[7].strip()
        return None, None

    def send(self, number):
        """Sends a signal to the postmaster, and waits for the end of one that it ends by."""
        process, _ = self.status()
        if process is None:
            raise Unavailable(f"the server {self.name} does not run")
        os.kill(process, number)
        if number in (signal.SIGHUP, signal.SIGSTOP, signal.SIGCONT):
            return
        if self.process:
            self.room.ended(self.process)
            return
        # Another process of the room started it.
        with contextlib.suppress(ProcessLookupError):
            while True:
                os.kill(process, 0)
                time.sleep(0.01)
        self.room.forget(process, signal.SIGQUIT)

    def kill(self):
        self.send(signal.SIGKILL)

    def stop(self):
        self.send(signal.SIGINT)

    def reload(self):
        self.send(signal.SIGHUP)

    def promote(self):
        self.run("pg_ctl", "promote", "-w", "-D", self.data)

    def backends(self, role="settle_app"):
        """The processes that serve a role's connections, by their titles."""
        found = []
        with contextlib.suppress(OSError, TypeError):
            with open("/proc/{0}/task/{0}/children".format(self.status()[0])) as file:
                children = file.read().split()
            for child in children:
                with contextlib.suppress(OSError), open(f"/proc/{child}/cmdline", "rb") as file:
                    if file.read().startswith(b"postgres: %s " % role.encode()):
                        found.append(int(child))
        return found

    def discard(self):
        """Removes the data of a server that does not run, also what a killed one left in shared memory."""
        with contextlib.suppress(OSError, IndexError):
            with open(os.path.join(self.data, "postmaster.pid")) as file:
                segment = file.read().split("\n")[6].split()[1]
            subprocess.run(["ipcrm", "-m", segment], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.data, ignore_errors=True)


class Cluster:
    """A primary, roles with passwords in files, and perhaps a standby that every commit waits for."""

    def __init__(self, room, durable=False, standby=False, tls=False, **settings):
        self.room = room
        self.primary, self.standby = Server(room, "a"), None
        names = ("postgres", "settle_owner", "settle_app", "settle_standby")
        words = {name: secrets.token_hex(16) for name in names}
        self.files = {name: room.write(name + ".password", word + "\n") for name, word in words.items()}
        passwords = "".join(f"*:*:*:{name}:{word}\n" for name, word in words.items())
        self.passwords, self.certificate = room.write("pgpass", passwords), None
        self.standby_password = f"*:*:*:settle_standby:{words['settle_standby']}\n"
        server = self.primary
        server.keep("pgpass", self.standby_password)
        first = server.keep("first", words["postgres"] + "\n")
        server.run(
            "initdb", "-D", server.data, "-k", "--encoding=UTF8", "--locale=C", "-U", "postgres", "--pwfile", first,
            "--auth=scram-sha-256", "--no-sync")
        os.remove(first)
        with open(os.path.join(server.data, "pg_hba.conf"), "w") as file:
            kind = "hostssl" if tls else "host"
            file.writelines(f"{kind} {what} all 127.0.0.1/32 scram-sha-256\n" for what in ("all", "replication"))
        # Dynamic shared memory in files of the folder is gone with it, also after a kill -9.
        server.configure(**{
            "listen_addresses": "127.0.0.1", "port": server.port, "unix_socket_directories": "", "max_connections": 400,
            "dynamic_shared_memory_type": "mmap", "wal_keep_size": "512MB", "wal_retrieve_retry_interval": "100ms",
            "fsync": "on" if durable else "off",
        } | settings)
        if tls:
            self.certify(server)
        server.start()
        self.ask(ROLES.format(**words), database="postgres")
        if standby:
            self.add_standby(Server(room, "b"))

    def certify(self, server):
        """A certificate for localhost and 127.0.0.1 by an authority of its own."""
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True)

        self.certificate = self.room.path("root.crt")
        key, request, authority = (self.room.path(name) for name in ("server.key", "server.csr", "root.key"))
        fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", "-x509", *fresh, "-keyout", authority, "-out", self.certificate, "-subj", "/CN=for tests", "-days", "2")
        openssl("req", "-new", *fresh, "-keyout", key, "-out", request, "-subj", "/CN=localhost")
        names = self.room.write("names", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        made = os.path.join(server.data, "server.crt")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", authority, "-CAcreateserial",
                "-extfile", names, "-out", made, "-days", "2")
        shutil.move(key, os.path.join(server.data, "server.key"))
        for name in ("server.crt", "server.key"):
            server.give(os.path.join(server.data, name))
        server.configure(ssl="on")

    def add_standby(self, server):
        """Copies the primary to a server that does not run, and lets all commits wait for it from then on."""
        server.discard()
        server.keep("pgpass", self.standby_password)
        host = "host=localhost sslmode=require" if self.certificate else "host=127.0.0.1"
        server.run(
            "pg_basebackup", "-D", server.data, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync",
            "-d", f"{host} port={self.primary.port} user=settle_standby application_name={server.name}")
        server.configure(port=server.port, synchronous_standby_names="")
        server.start()
        self.standby = server
        self.primary.configure(synchronous_standby_names=server.name)
        self.primary.reload()
        self.wait_until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")

    def wait_until(self, question, patience=30):
        """Waits until the primary answers 1."""
        end = time.monotonic() + patience
        while self.ask(question) != "1":
            if time.monotonic() > end:
                raise Unavailable(f"after {patience} s still untrue: {question}")
            time.sleep(0.02)

    def promote(self):
        """Makes the standby the primary; no standby is left."""
        self.standby.promote()
        self.primary, self.standby = self.standby, None

    def string(self, role="settle_app", ports=None):
        """A connection string, of the two servers if there are two, or of other ports, such as a proxy's."""
        ports = ports or [server.port for server in (self.primary, self.standby) if server]
        host, more = "127.0.0.1", ""
        if self.certificate:
            host, more = "localhost", f" sslmode=verify-full sslrootcert={self.certificate}"
        if len(ports) > 1:
            more += " target_session_attrs=read-write"
        hosts = ",".join(host for _ in ports)
        return f"host={hosts} port={','.join(map(str, ports))} dbname=settle user={role}{more}"

    def ask(self, sql, role="postgres", database="settle", server=None, patience=60):
        """What psql prints for a text of statements, on the primary unless another server is given."""
        target = self.string(role, [(server or self.primary).port]).replace("dbname=settle", f"dbname={database}")
        done = subprocess.run(
            [os.path.join(self.primary.bin, "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", target], input=sql, text=True,
            capture_output=True, timeout=patience, env=os.environ | {"PGPASSFILE": self.passwords, "PGCONNECT_TIMEOUT": "5"})
        if done.returncode != 0:
            raise Unavailable(f"psql failed: {done.stderr}")
        return done.stdout.strip()

    def variables(self):
        values = {"SETTLE_TEST_POSTGRES_FOLDER": self.room.folder}
        for part, role in (("", "settle_app"), ("_OWNER", "settle_owner"), ("_SUPERUSER", "postgres")):
            # A node gives up after two seconds by default, which is too early while other tests have the processors.
            values["SETTLE_TEST_POSTGRES" + part] = self.string(role) + " connect_timeout=60"
            values[f"SETTLE_TEST_POSTGRES{part}_PASSWORD_FILE"] = self.files[role]
        if self.certificate:
            values["SETTLE_TEST_POSTGRES_ROOT_CERTIFICATE"] = self.certificate
        return values


def end(*_):
    """Ends this process and its servers. A second signal must not interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def run(cluster, command):
    """Runs a command, which gets Ctrl-C itself, and passes a SIGTERM on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen(
        command, env=os.environ | cluster.variables(), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    status = child.wait()
    return 128 - status if status < 0 else status


def keep(cluster):
    """Prints the variables, and waits for the end."""
    cluster.room.write("keeper.pid", str(os.getpid()))
    for name, value in cluster.variables().items():
        print(f"{name}={shlex.quote(value)}")
    sys.stdout.flush()
    # Another command may kill a server, which must not stay as a process without an end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


def main():
    verb, rest = (sys.argv[1:2] or ["--help"])[0], sys.argv[2:]
    flags = list(itertools.takewhile(lambda word: word.startswith("--"), rest))
    rest = rest[len(flags):]
    if verb not in ("run", "start", "available", "kill", "up", "promote", "stop") or "--help" in flags:
        print(__doc__)
        return 0 if "--help" in [verb, *flags] else 2
    if verb == "available":
        return binaries() and identity() and None
    if verb in ("run", "start"):
        unknown = set(flags) - {"--durable", "--standby", "--tls"}
        if unknown or (verb == "run") != bool(rest):
            raise Unavailable(f"there is no option {unknown.pop()}" if unknown else "a command belongs to `run`, and only there")
        if verb == "start":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        else:
            signal.signal(signal.SIGTERM, end)
        with Room() as room:
            cluster = Cluster(room, **{flag[2:]: True for flag in flags})
            return run(cluster, rest) if verb == "run" else keep(cluster)
    if not rest:
        raise Unavailable("name the folder that `start` printed")
    room = Room(rest[0])
    if verb == "stop":
        with open(room.path("keeper.pid")) as file:
            os.kill(int(file.read()), signal.SIGTERM)
        return None
    server = Server(room, rest[1] if len(rest) > 1 else "b" if verb == "promote" else "a")
    {"kill": server.kill, "up": server.start, "promote": server.promote}[verb]()
    return None


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unavailable as reason:
        print(f"cluster: {reason}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
