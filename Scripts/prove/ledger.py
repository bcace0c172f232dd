"""What was requested and acknowledged, and which states a failure may leave.

Each item (a document, a local document, a database) has one writer, who sends one request after the other. So after a failure
the item has the state of the last acknowledged request, or that of a later one that had begun. The state of a document is its
live leaves, each with its revision (None as long as no answer named it), the token in its body and its attachments.
"""
import base64
import hashlib
import itertools
import threading

# A state that is not known, such as what a policy made of a conflict.
ANY = None
ABSENT = frozenset()


def attachment(name, content, kind="bytes"):
    """What the ledger holds of an attachment: its name, length and digest, and what that is of.

    The digest of `bytes` is that of the content and of the stub; of a `text`, of which the server may store gzip, that of the
    content alone; of a `stub`, which was found after a failure or a merge, that of the stub alone.
    """
    return (name, len(content), base64.b64encode(hashlib.md5(content).digest()).decode(), kind)


def from_stubs(stubs, known=()):
    """Attachments that were found. Those that are known keep what is known of them."""
    known = {(name, length): one for one in known for name, length in [one[:2]]}
    return frozenset(known.get((name, stub["length"]), (name, stub["length"], stub["digest"][4:], "stub")) for name, stub in stubs.items())


def leaf(revision, token, attachments=()):
    return (revision, token, frozenset(attachments))


def same_leaf(wanted, found):
    (revision, token, attachments), (found_revision, found_token, stubs) = wanted, found
    if token != found_token or revision not in (None, found_revision) or {name for name, *_ in attachments} != set(stubs):
        return False
    return all(stubs[name]["length"] == length and (kind == "text" or stubs[name]["digest"] == "md5-" + digest)
               for name, length, digest, kind in attachments)


def same(wanted, found):
    """Whether leaves that were found are a state. Tokens differ, so a leaf fits at most one other."""
    if wanted is ANY:
        return True
    if not isinstance(wanted, frozenset):
        return wanted == found
    return len(wanted) == len(found) and all(any(same_leaf(one, other) for other in found) for one in wanted)


class Entry:
    """One request to one item, and the state that it leaves."""

    def __init__(self, state, begun, revisions=(), purges=False):
        self.state, self.begun, self.acknowledged = state, begun, None
        self.revisions, self.purges = list(revisions), purges


class Item:
    def __init__(self, key, first=ABSENT):
        self.key, self.entries, self.read = key, [Entry(first, 0)], None
        self.entries[0].acknowledged = 0

    @property
    def state(self):
        return self.entries[-1].state if self.read is None else self.read

    @property
    def certain(self):
        """Whether the last request was answered or its effect was read, and the state is known with all revisions."""
        is_answered = self.entries[-1].acknowledged is not None or self.read is not None
        return is_answered and self.state is not ANY and not any(one[0] is None for one in self.state if isinstance(one, tuple))

    def candidates(self, seen):
        """The entries of which one must be the state after a failure; `seen` says whether a mark came before it."""
        last = max(number for number, entry in enumerate(self.entries) if entry.acknowledged is not None and seen(entry.acknowledged))
        return [last] + [number for number in range(last + 1, len(self.entries)) if seen(self.entries[number].begun)]

    def revisions(self, number):
        """The acknowledged revisions that must be in the tree, if an entry is the last one that was done."""
        known = set()
        for entry in self.entries[:number + 1]:
            if entry.purges:
                known.clear()
            known.update(entry.revisions)
        return known

    def settle(self, number, found):
        """After a failure: an entry is what was done, and the next requests go on from what was found."""
        kept = self.revisions(number)
        self.entries, self.read = [Entry(self.state_of(number, found), 0, kept)], None
        self.entries[0].acknowledged = 0

    def proceed(self, number, found):
        """After an error: what a server that goes on shows. After its end there may be another of the candidates."""
        if not self.certain:
            self.read = self.state_of(number, found)

    def state_of(self, number, found):
        """What was found, as a state: attachments keep what is known of them."""
        if not isinstance(found, list):
            return found
        known = {one[1]: one[2] for one in self.entries[number].state or ()}
        return frozenset((revision, token, from_stubs(stubs, known.get(token, ()))) for revision, token, stubs in found)


class Ledger:
    def __init__(self, mark=None):
        """`mark` is called before a request and after its acknowledgment, with a letter, and gives a number that grows."""
        self.items, self.lock, counter = {}, threading.Lock(), itertools.count(1)
        self.mark = mark or (lambda letter: next(counter))
        self.figures, self.complaints = {}, []

    def item(self, *key, first=ABSENT):
        with self.lock:
            if key not in self.items:
                self.items[key] = Item(key, first)
            return self.items[key]

    def begin(self, changes, purges=False):
        """Entries for a request that leaves states: {item: state}."""
        mark = self.mark("B")
        entries = {}
        for item, state in changes.items():
            entry = Entry(state, mark, purges=purges)
            item.entries.append(entry)
            item.read = None
            entries[item] = entry
        return entries

    def acknowledge(self, entries):
        mark = self.mark("A")
        for entry in entries.values():
            entry.acknowledged = mark
        self.count("acknowledged")

    def refuse(self, entries):
        """The answer says that nothing was done."""
        for item, entry in entries.items():
            item.entries.remove(entry)

    def count(self, figure, by=1):
        with self.lock:
            self.figures[figure] = self.figures.get(figure, 0) + by

    def complain(self, kind, text):
        with self.lock:
            self.complaints.append((kind, text))
