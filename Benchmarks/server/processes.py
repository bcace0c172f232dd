"""The processes that a benchmark starts. They end with it, however it ends."""
import atexit
import signal
import socket
import subprocess
import sys


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def launch(command, **options):
    """Starts a process, and ends it when this one ends."""
    # By default these signals end a program without its `finally` and `atexit`.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    process = subprocess.Popen(command, **options)
    atexit.register(end, process)
    return process


def end(process, seconds=30):
    """Ends a process, if it still runs: by force if it does not end within so many seconds."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
