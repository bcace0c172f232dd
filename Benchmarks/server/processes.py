"""The processes that a benchmark starts. They end with it, however it ends."""
import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

is_starting, held = False, []


def leave(number, _):
    """Ends this process with its `finally` and `atexit`, but not before a process that starts is known."""
    if is_starting:
        held.append(number)
    else:
        sys.exit(128 + number)


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
        signal.signal(number, leave)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def launch(command, **options):
    """Starts a process, and ends it when this one ends."""
    global is_starting
    is_starting = True
    try:
        process = subprocess.Popen(command, **options)
        atexit.register(end, process)
        return process
    except OSError as reason:
        sys.exit(f"{command[0]} does not start: {reason.strerror}")
    finally:
        is_starting = False
        if held:
            signal.raise_signal(held[0])


def run(command):
    """Runs a program to its end, and returns what it printed."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as reason:
        sys.exit(f"{command[0]} does not start: {reason.strerror}")
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def end(process, seconds=30):
    """Ends a process, if it still runs: by force if it does not end within so many seconds."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def scratch(name):
    """A new folder. It is removed when this process ends, after the processes that were launched later."""
    folder = tempfile.mkdtemp(prefix=f"settle-{name}-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def memory(process, kind="VmRSS"):
    """The memory of a process in MiB: VmRSS is what it has, VmHWM the most that it has had."""
    with open(f"/proc/{process}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(kind)) / 1024


class Server:
    """A server of Settle over a folder. It listens on a port that the system chooses, so that it is no other one that is measured."""

    def __init__(self, settle, data, password, *options, user="admin"):
        log = os.path.join(data, "server.log")
        try:
            os.makedirs(data, exist_ok=True)
            with open(log, "ab") as file:
                self.process = launch(
                    [settle, "serve", "--quiet", "--json", "--data", data, "--port", "0", "--admin", user, *options],
                    env=os.environ | {"SETTLE_ADMIN_PASSWORD": password}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file)
            self.port = json.loads(self.process.stdout.readline())["port"]
        except OSError as reason:
            sys.exit(f"the server cannot start: {reason}")
        except (ValueError, KeyError, TypeError):
            with open(log, errors="replace") as file:
                sys.exit("the server did not start:\n" + "".join(file.readlines()[-12:]))
        self.pid, self.url = self.process.pid, f"http://127.0.0.1:{self.port}"

    def stop(self):
        end(self.process)
        self.process.stdout.close()
