"""What a power failure may leave of files, by the log of power.c.

Modelled, for each file and each folder on its own:
- what was written, renamed, created or removed before a completed fsync or fdatasync of that file or folder began is there;
- of what came later a random part is there, in no order: nothing, all, the first so many, some, or of each write some of its
  sectors of 512 bytes; a file may have its new length, and zeros where nothing was written;
- a rename within a folder, or between two, is atomic: the old name does not go before the new one is there;
- fsync of a file forces no name of it; that of a folder forces no content.

Not modelled: a drive that damages sectors which were not written, or loses what it has acknowledged as forced; writes to shared memory
(SQLite's -shm, which SQLite creates again); file systems that reorder more than that, such as a rename that is half done.
"""
import mmap
import os
import struct

HEAD = struct.Struct("<HBBiIIQ")
MAGIC, SECTOR = 0x5E77, 512
OPEN, CLOSE, WRITE, TRUNCATE, FORCE, FORCED, RENAME, UNLINK, MKDIR, LINK, UNSEEN, MARK = range(1, 13)
STYLES = ["nothing", "all", "first", "some", "sectors", "sectors"]


def mark_record(letter, number):
    return HEAD.pack(MAGIC, MARK, ord(letter), 0, 0, 0, number)


class Records:
    """The log of one run."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.view = memoryview(mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ))

    def __iter__(self):
        place, end = 0, len(self.view)
        while place + HEAD.size <= end:
            magic, operation, flags, descriptor, first, second, offset = HEAD.unpack_from(self.view, place)
            if magic != MAGIC:
                raise ValueError(f"the log is damaged at {place}")
            place += HEAD.size
            if place + first + second > end:
                return
            yield operation, flags, descriptor, offset, self.view[place:place + first], self.view[place + first:place + first + second]
            place += first + second


class Rename:
    """The two halves of a rename: whether each is on the disk already."""

    def __init__(self):
        self.added, self.removed = False, False


class Node:
    """A file or a folder: what is on the disk, and what was done since."""

    def __init__(self, is_folder):
        self.is_folder, self.kept = is_folder, {} if is_folder else bytearray()
        self.now = {} if is_folder else None
        self.pending, self.forced = [], 0

    @property
    def position(self):
        return self.forced + len(self.pending)

    def force(self, position):
        """All up to a position is on the disk."""
        count = max(0, position - self.forced)
        for change in self.pending[:count]:
            apply(self.kept, change) if not self.is_folder else enter(self.kept, change, final=True)
        del self.pending[:count]
        self.forced += count


def apply(content, change):
    offset, data = change
    if data is None:
        if offset < len(content):
            del content[offset:]
        else:
            content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(data)] = data


def enter(names, change, final=False):
    name, node, rename = change
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node
    if final and rename:
        rename.added, rename.removed = rename.added or node is not None, rename.removed or node is None


class Disk:
    """The files below a folder, as far as the log was replayed."""

    def __init__(self, folder):
        self.folder, self.root, self.open, self.forces = folder, Node(True), {}, {}
        self.calls = 0

    def parent(self, path):
        """The folder of a path, and the last name; None outside."""
        parts = path[len(self.folder):].strip("/").split("/")
        node = self.root
        for part in parts[:-1]:
            node = node.now.get(part)
            if node is None or not node.is_folder:
                return None, parts[-1]
        return node, parts[-1]

    def find(self, path):
        if path.rstrip("/") == self.folder:
            return self.root
        folder, name = self.parent(path)
        return folder.now.get(name) if folder else None

    def change(self, folder, name, node, rename=None):
        folder.pending.append((name, node, rename))
        enter(folder.now, (name, node, rename))

    def replay(self, record):
        operation, flags, descriptor, offset, first, second = record
        self.calls += 1
        if operation == WRITE:
            node = self.open.get(descriptor)
            if node:
                node.pending.append((offset, second))
        elif operation == TRUNCATE:
            if node := self.open.get(descriptor):
                node.pending.append((offset, None))
        elif operation == FORCE:
            if node := self.open.get(descriptor):
                self.forces[offset] = (node, node.position)
        elif operation == FORCED:
            if begun := self.forces.pop(offset, None):
                begun[0].force(begun[1])
        elif operation == CLOSE:
            self.open.pop(descriptor, None)
        elif operation == UNSEEN:
            raise ValueError(f"{bytes(second).decode()} of {bytes(first).decode() or descriptor} is not modelled")
        elif operation != MARK:
            self.name(operation, flags, descriptor, bytes(first).decode(), bytes(second).decode())

    def name(self, operation, flags, descriptor, path, other):
        if operation == OPEN:
            node = self.find(path)
            if node is None:
                folder, name = self.parent(path)
                if folder is None:
                    return
                node = Node(False)
                self.change(folder, name, node)
            elif flags & 2:
                node.pending.append((0, None))
            self.open[descriptor] = node
            return
        folder, name = self.parent(path)
        if path.rstrip("/") == self.folder or folder is None:
            return
        if operation == MKDIR:
            self.change(folder, name, Node(True))
        elif operation == UNLINK and name in folder.now:
            self.change(folder, name, None)
        elif operation in (RENAME, LINK) and name in folder.now:
            node, (target, new) = folder.now[name], self.parent(other)
            rename = Rename() if operation == RENAME else None
            if target is not None:
                self.change(target, new, node, rename)
            if operation == RENAME:
                self.change(folder, name, None, rename)

    def fail(self, dice, place):
        """Writes the files as a failure at this moment may leave them. Gives how many changes were lost or torn."""
        return Failure(dice).write(self.root, place)


class Failure:
    def __init__(self, dice):
        # Mostly one way of losing for all files, so that some failures are extreme.
        self.dice, self.style, self.renames, self.lost = dice, dice.choice([*STYLES, None]), {}, 0

    def choose(self):
        return self.style if self.style and self.dice.random() < 0.8 else self.dice.choice(STYLES)

    def write(self, folder, place):
        os.makedirs(place, exist_ok=True)
        for name, node in self.names(folder).items():
            path = os.path.join(place, name)
            if node.is_folder:
                self.write(node, path)
            else:
                with open(path, "wb") as file:
                    file.write(self.content(node))
        return self.lost

    def names(self, folder):
        names, style = dict(folder.kept), self.choose()
        count = self.dice.randrange(len(folder.pending) + 1)
        for number, change in enumerate(folder.pending):
            _, node, rename = change
            happens = style == "all" or (style == "first" and number < count) or (style in ("some", "sectors") and self.dice.random() < 0.5)
            if rename:
                happens = self.renamed(rename, node is not None, happens)
            if happens:
                enter(names, change)
            else:
                self.lost += 1
        return names

    def renamed(self, rename, adds, happens):
        """Both halves of a rename, or none; with one of them on the disk, the new name is there."""
        if rename not in self.renames:
            self.renames[rename] = happens or rename.removed
        return True if adds and rename.removed else happens if rename.added and not adds else self.renames[rename]

    def content(self, node):
        content, style = bytearray(node.kept), self.choose()
        count = self.dice.randrange(len(node.pending) + 1)
        for number, change in enumerate(node.pending):
            offset, data = change
            if style == "all" or (style == "first" and number < count) or (style == "some" and self.dice.random() < 0.5):
                apply(content, change)
                continue
            self.lost += 1
            if style != "sectors":
                continue
            if data is None:
                if self.dice.random() < 0.5:
                    apply(content, change)
                continue
            if self.dice.random() < 0.2 and len(content) < offset + len(data):
                apply(content, (offset + len(data), None))
            start = 0
            while start < len(data):
                end = min(len(data), start + SECTOR - (offset + start) % SECTOR)
                if self.dice.random() < 0.5:
                    apply(content, (offset + start, data[start:end]))
                start = end
        return content
