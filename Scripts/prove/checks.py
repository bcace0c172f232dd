"""What must hold after a restart: what was acknowledged is there, and all ways to read it agree."""
import base64
import hashlib

from ledger import ANY, Item, same
from server import Lost

SHARED = 3


def order(revision):
    generation, signature = revision.split("-", 1)
    return int(generation), signature


class Found:
    """The documents of a database, read by its feed, which is checked on the way."""

    def __init__(self, client, database, ledger, since=None):
        self.client, self.database, self.ledger = client, database, ledger
        path = f"/{database}/_changes?style=all_docs&include_docs=true&conflicts=true"
        answer = client.get(path)
        self.last = answer["last_seq"]
        self.winners, self.leaves = {}, {}
        positions = [int(row["seq"].split("-")[0]) for row in answer["results"]]
        ids = [row["id"] for row in answer["results"]]
        if positions != sorted(set(positions)):
            ledger.complain("a feed that is not in order", f"{database}: {positions}")
        if len(set(ids)) != len(ids):
            ledger.complain("a document that is twice in the feed", f"{database}: {[one for one in ids if ids.count(one) > 1]}")
        for row in answer["results"]:
            revisions = [change["rev"] for change in row["changes"]]
            document = row["doc"]
            live = [document] if not document.get("_deleted") else []
            if document.get("_conflicts"):
                rows = client.get(f"/{database}/{row['id']}?open_revs=all")
                live = [one["ok"] for one in rows if not one["ok"].get("_deleted")]
            self.winners[row["id"]] = document
            self.leaves[row["id"]] = (revisions, [(one["_rev"], one.get("n"), one.get("_attachments", {})) for one in live])
            best = max((one["_rev"] for one in live), key=order, default=max(revisions, key=order))
            if best != document["_rev"]:
                ledger.complain("a wrong winner", f"{database} {row['id']}: {document['_rev']} of {revisions}")
        if since is not None:
            self.check_since(since, answer["results"])

    def check_since(self, since, rows):
        """A feed from an earlier position has what the whole feed has after it."""
        later = self.client.get(f"/{self.database}/_changes?style=all_docs&since={since}")["results"]
        start = int(since.split("-")[0])
        wanted = [row["id"] for row in rows if int(row["seq"].split("-")[0]) > start]
        if [row["id"] for row in later] != wanted:
            text = f"{self.database} since {since}: {len(later)} rows instead of {len(wanted)}"
            self.ledger.complain("a feed that goes on wrongly", text)

    def state(self, name):
        return self.leaves.get(name, ([], []))[1]


def locals_of(client, name):
    status, answer = client.ask("GET", f"/main/_local/{name}")
    return [] if status == 404 else [(answer["_rev"], answer["n"], {})]


def other_state(client, kind, name):
    """The state of an item that is not a document of `main`."""
    if kind == "database":
        status, _ = client.ask("GET", "/" + name)
        if status == 404:
            return "absent"
        status, answer = client.ask("GET", f"/{name}/x")
        return "empty" if status == 404 else answer["n"]
    if kind == "index":
        rows = [row for row in client.get("/main/_index")["indexes"] if row["name"] == name]
        return ",".join(next(iter(field)) for field in rows[0]["def"]["fields"]) if rows else "absent"
    path = f"/_replicator/{name}" if kind == "_replicator" else f"/_users/org.couchdb.user:{name}"
    status, answer = client.ask("GET", path)
    return "absent" if status == 404 else answer["n"]


def check_items(client, ledger, items, state_of, seen, contents, then):
    """Compares items with their candidates; calls `then` with each, the number of an entry that fits, and what was found.

    Gives the revisions that must be in the trees of `main`.
    """
    known = {}
    for item in items:
        kind, name = item.key[:2]
        state = state_of(kind, name)
        candidates = item.candidates(seen)
        fitting = [number for number in candidates if same(item.entries[number].state, state)]
        ledger.count("states compared")
        if not fitting:
            wanted = [item.entries[number].state for number in candidates]
            ledger.complain("a lost or damaged write", f"{item.key}: found {state}, expected one of {wanted}")
            continue
        if kind == "main":
            # A deletion and a purge after it leave the same state. Only what each of the entries that fit leaves must be there.
            known.setdefault(name, set()).update(set.intersection(*(item.revisions(number) for number in fitting)))
            if contents and item.entries[fitting[0]].state is not ANY:
                check_contents(client, ledger, name, item.entries[fitting[0]].state, state)
        if kind == "_users" and contents and state != "absent":
            check_login(client, ledger, name, state)
        then(item, fitting[-1], ANY if item.entries[0].state is ANY else state)
    return known


def check(client, ledger, seen=lambda mark: True, since=None, contents=True, revisions=True, then=Item.settle):
    """Compares the server with the ledger; what is wrong becomes a complaint. Gives the last position of the feed.

    With `revisions` unset old ones may be missing, beyond the limit of the database.
    """
    found = Found(client, "main", ledger, since)

    def state_of(kind, name):
        return found.state(name) if kind == "main" else locals_of(client, name) if kind == "local" else other_state(client, kind, name)

    known = check_items(client, ledger, list(ledger.items.values()), state_of, seen, contents, then)
    if revisions and any(known.values()):
        for name, answer in client.get("/main/_revs_diff", {name: sorted(revisions) for name, revisions in known.items()}).items():
            ledger.complain("a lost revision", f"{name}: {answer}")
    ledger.count("revisions compared", sum(map(len, known.values())))
    check_rows(client, ledger, found)
    return found.last


def reread(client, ledger, after_kill=False):
    """The states of items, without contents: after an error those that are not certain, after a kill all."""
    def state_of(kind, name):
        if kind == "main":
            status, rows = client.ask("GET", f"/main/{name}?open_revs=all")
            if status not in (200, 404):
                raise AssertionError(f"{name}: {status} {rows}")
            live = [row["ok"] for row in rows if not row["ok"].get("_deleted")] if status == 200 else []
            return [(one["_rev"], one.get("n"), one.get("_attachments", {})) for one in live]
        return locals_of(client, name) if kind == "local" else other_state(client, kind, name)

    items = [item for item in ledger.items.values() if item.entries[0].state is not ANY and (after_kill or not item.certain)]
    check_items(client, ledger, items, state_of, lambda mark: True, False, Item.settle if after_kill else Item.proceed)


def check_contents(client, ledger, name, state, found):
    revisions = {token: revision for revision, token, _ in found}
    for _, token, attachments in state:
        for file, length, digest, kind in attachments:
            if kind == "stub":
                continue
            try:
                status, content = client.raw("GET", f"/main/{name}/{file}?rev={revisions[token]}", headers={"Accept": "*/*"})
            except Lost as reason:
                status, content = reason, b""
            if status != 200 or len(content) != length or base64.b64encode(hashlib.md5(content).digest()).decode() != digest:
                ledger.complain("a damaged attachment", f"{name}/{file}: {status}, {len(content)} bytes instead of {length}")
            ledger.count("attachments compared")


def check_login(client, ledger, name, password):
    credentials = "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()
    status, answer = client.ask("GET", "/_session", headers={"Authorization": credentials})
    if status != 200 or answer["userCtx"]["name"] != name:
        ledger.complain("a user who can't log in", f"{name}: {status} {answer}")


def check_rows(client, ledger, found):
    """The rows of the view, of `_all_docs` and of `_find` are those that the documents give."""
    live = {name: one for name, one in found.winners.items() if not one.get("_deleted")}
    rows = client.get("/main/_all_docs")["rows"]
    if [(row["id"], row["value"]["rev"]) for row in rows] != sorted((name, one["_rev"]) for name, one in live.items()):
        ledger.complain("a list that differs from the feed", f"{len(rows)} rows, {len(live)} documents")
    numbered = {name: one for name, one in live.items() if "v" in one}
    wanted = sorted((one["v"], name, one.get("n")) for name, one in numbered.items())
    if "_design/views" in live:
        rows = client.get("/main/_design/views/_view/by_v?reduce=false")["rows"]
        if [(row["key"], row["id"], row["value"]) for row in rows] != wanted:
            ledger.complain("rows of a view that differ from the documents", f"{rows}, expected {wanted}")
        counted = client.get("/main/_design/views/_view/by_v")["rows"]
        if (counted[0]["value"] if counted else 0) != len(wanted):
            ledger.complain("a reduction that differs from the rows", f"{counted} of {len(wanted)}")
    question = {"selector": {"v": {"$gte": 20}}, "fields": ["_id"], "limit": 100000}
    answer = sorted(one["_id"] for one in client.get("/main/_find", question)["docs"])
    if answer != sorted(name for name, one in numbered.items() if one["v"] >= 20):
        ledger.complain("an answer of _find that differs from the documents", f"{answer}")
    ledger.count("rows compared", 2 * len(wanted) + len(live))


def check_copy(client, ledger, tries, wait):
    """All leaves of `main` are in `copy`, to which a continuous replication runs."""
    for _ in range(tries):
        found = Found(client, "main", ledger)
        wanted = {name: revisions for name, (revisions, _) in found.leaves.items()}
        missing = client.get("/copy/_revs_diff", wanted) if wanted else {}
        if not missing:
            return
        wait()
    ledger.complain("a replication that does not get on", f"{missing}")
