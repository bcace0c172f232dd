"""A temporary folder with processes: both are gone when whoever made it ends, however it ends."""
import atexit
import os
import signal
import subprocess
import tempfile

# Waits until its input ends, which it does with its maker, by kill -9 too. Then it ends the processes, each by the signal in
# the name of its file, releases the shared memory of killed postmasters, and removes the folder unless it was told to keep it.
KEEPER = r"""
trap '' INT TERM HUP
read -r wish
cd "$1/pids" || exit
for file in *.*; do kill -CONT "${file#*.}"; kill -"${file%.*}" "${file#*.}"; done 2>/dev/null
for _ in $(seq 100); do
    left=
    for file in *.*; do kill -0 "${file#*.}" && left=$left" ${file#*.}"; done 2>/dev/null
    [ -n "$left" ] || break
    sleep 0.05
done
[ -z "$left" ] || kill -KILL $left
for file in "$1"/*/data/postmaster.pid; do
    [ ! -e "$file" ] || ipcrm -m "$(sed -n 7p "$file" | awk '{ print $2 }')"
done 2>/dev/null
[ "$wish" = keep ] || rm -rf "$1"
"""


class Room:
    def __init__(self, folder=None, name="settle-postgres"):
        """A new folder; with `folder` one that another process made and keeps."""
        self.folder = folder or tempfile.mkdtemp(prefix=name + "-")
        self.keeper = None
        if folder is None:
            # A user that the database server runs as must be able to reach folders inside.
            os.chmod(self.folder, 0o711)
            os.mkdir(self.path("pids"), 0o700)
            self.keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "keeper", self.folder], stdin=subprocess.PIPE, start_new_session=True)
            atexit.register(self.close)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, text, mode=0o600):
        """A file, which only its owner reads unless `mode` says else."""
        path = self.path(name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
            file.write(text)
        return path

    def start(self, arguments, end=signal.SIGKILL, **options):
        """A process that is ended with the room, by the signal `end`. Ctrl-C in a terminal does not reach it."""
        process = subprocess.Popen(arguments, start_new_session=True, **options)
        process.end = end
        open(self.entry(process.pid, end), "w").close()
        return process

    def entry(self, number, end):
        return self.path("pids", f"{end.name[3:]}.{number}")

    def ended(self, process):
        """Waits for a process that was started here, and forgets it."""
        status = process.wait()
        self.forget(process.pid, process.end)
        return status

    def forget(self, number, end):
        if os.path.exists(self.entry(number, end)):
            os.remove(self.entry(number, end))

    def close(self, keeps=False):
        """Ends all processes and removes the folder, unless it is to be kept for reading its logs."""
        if self.keeper and not self.keeper.stdin.closed:
            self.keeper.stdin.write(b"keep\n" if keeps else b"\n")
            self.keeper.stdin.close()
            self.keeper.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
