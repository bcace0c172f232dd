#!/usr/bin/env python3
"""Freezes a node (SIGSTOP) that others depend on, lets it go on later, and checks that nobody waits long and nothing comes late.

    frozen.py [--settle PATH] [--rounds 5] [--scenes writing,killed,lease]

writing   a node freezes while clients write at all nodes, for --frozen seconds: clients of the others wait at most about 5 s
killed    the node that runs a continuous replication is killed: within 20 s another one runs it
lease     the node that runs a continuous replication freezes: within 20 s another one runs it; when the first goes on, it
          writes no checkpoint and no note any more, and does not take the lease back
"""
import random
import threading
import time

from nodes import Client, Fleet, Lost, Violations, main, parser, say
from options import above_zero, positive, words
from scene import Scene, since

options = parser(__doc__, nodes=3)
options.add_argument("--rounds", type=positive, default=5, help="of each scene")
options.add_argument("--scenes", type=words("writing", "killed", "lease"), default="writing,killed,lease")
options.add_argument("--writers", type=positive, default=9)
options.add_argument("--frozen", type=above_zero, default=10, help="seconds of scene `writing`")
# What others wait for the transaction of a frozen node, with some seconds for a machine that is busy.
WAIT, TAKEOVER = 5 + 2, 20


def writing(given, chance, violations):
    scene = Scene(given, {"bulk": 6, "update": 2, "shared": 2, "attach": 1}, violations=violations)
    waits = [0.0]
    for number in range(given.rounds):
        scene.crowd.resume()
        time.sleep(chance.uniform(0.5, 2))
        node, began = chance.choice(scene.fleet.nodes), time.monotonic()
        node.freeze()
        time.sleep(given.frozen)
        node.thaw()
        waits.append(max(
            (took for writer in scene.crowd.writers for _, took, place in since(began, writer.times) if place is not node),
            default=0.0))
        if waits[-1] > WAIT:
            violations.add("a wait for a frozen node", f"{waits[-1]:.1f} s, for {node.name}")
        scene.inspect(f"{node.name} was frozen, clients of others waited up to {waits[-1]:.1f} s")
    scene.inspect("all", everything=True)
    scene.fleet.close()
    return {"clients of other nodes wait up to, s (about 5)": max(waits)} | scene.figures()


class Source(threading.Thread):
    """Writes into the source of a replication, twenty documents a second, until it is told to end."""

    def __init__(self, fleet, node, database):
        super().__init__(daemon=True)
        self.client, self.node, self.path, self.written, self.ending = Client(fleet), node, "/" + database, {}, False

    def run(self):
        while not self.ending:
            name = f"doc-{len(self.written)}"
            try:
                if self.client.ask(self.node, "PUT", f"{self.path}/{name}", {})[0] == 201:
                    self.written[name] = time.monotonic()
            except Lost:
                pass
            time.sleep(0.05)


class Replication:
    """A document of _replicator between two databases at a node that is never frozen."""

    def __init__(self, fleet, number):
        self.fleet, self.client, self.peer, self.number = fleet, Client(fleet), fleet.nodes[-1], number
        self.name, self.source, self.target = f"job-{number}", f"source-{number}", f"target-{number}"
        for database in (self.source, self.target):
            self.client.sure(self.peer, "PUT", "/" + database)
        place = f"http://admin:{fleet.password}@127.0.0.1:{self.peer.port}/"
        self.client.sure(self.peer, "PUT", "/_replicator/" + self.name, {
            "source": place + self.source, "target": place + self.target, "continuous": True})
        self.writer = Source(fleet, self.peer, self.source)
        self.writer.start()

    def lease(self):
        """The node and the term of the lease that counts now."""
        answer = self.fleet.cluster.ask(
            "SELECT node, term FROM settle.leases WHERE encode(job, 'escape') LIKE 'replication/%' AND until > clock_timestamp()")
        node, term = answer.split("\n")[0].split("|") if answer else (None, 0)
        return node, int(term)

    def there(self):
        rows = self.client.sure(self.peer, "GET", f"/{self.target}/_all_docs")["rows"]
        return {row["id"] for row in rows}

    def wait_for_later(self, moment, patience):
        """Seconds until a document is in the target that was written after a moment; none within the patience is `None`."""
        while (now := time.monotonic()) - moment < patience:
            if any(self.writer.written.get(name, 0) > moment for name in self.there()):
                return now - moment
            time.sleep(0.1)
        return None

    def checkpoints(self):
        """The sessions that wrote the newest checkpoints, by database and local document, and how far they came."""
        found = {}
        for database in (self.source, self.target):
            for row in self.client.sure(self.peer, "GET", f"/{database}/_local_docs?include_docs=true")["rows"]:
                if "session_id" in row["doc"]:
                    position = int(str(row["doc"].get("source_last_seq", 0)).split("-")[0])
                    found[database, row["id"]] = (row["doc"]["session_id"], position)
        return found

    def note(self):
        return self.client.sure(self.peer, "GET", "/_replicator/" + self.name)["_rev"]

    def end(self):
        self.writer.ending = True
        self.client.sure(self.peer, "DELETE", f"/_replicator/{self.name}?rev={self.note()}")
        end = time.monotonic() + 30
        while self.lease()[0] and time.monotonic() < end:
            time.sleep(0.1)


def lease(given, _, violations):
    return leave_job(given, violations, take_over)


def killed(given, _, violations):
    return leave_job(given, violations, die)


def leave_job(given, violations, over):
    """Takes the node that runs a replication away, in some rounds."""
    if given.engine != "postgres":
        return {}
    fleet = Fleet(given, max(given.nodes, 3))
    fleet.start()
    Client(fleet).sure(fleet.nodes[0], "PUT", "/_replicator", good=(201, 412))
    took, number = [], 0
    while len(took) < given.rounds and number < given.rounds * 10 and not violations.found:
        job = Replication(fleet, number)
        number += 1
        if job.wait_for_later(time.monotonic(), 60) is None:
            violations.add("a replication does not run", job.name)
            break
        holder, term = job.lease()
        # The last node has source and target, so a job of its own proves nothing.
        if holder and holder != job.peer.name:
            took.append(over(job, next(node for node in fleet.nodes if node.name == holder), term, violations))
        job.end()
    if not took:
        violations.add("no lease to freeze", f"in {number} replications")
    fleet.close()
    return {"taken over after, s, median": sorted(took)[len(took) // 2] if took else 0.0,
            "the same, worst (goal 20)": max(took, default=0.0), "rounds": len(took)}


def die(job, node, _, violations):
    """Kills the node that has the lease; the seconds until another one runs the job."""
    began = time.monotonic()
    node.kill()
    took = job.wait_for_later(began, 60)
    if took is None or took > TAKEOVER:
        violations.add("not taken over", f"{job.name} after {took} s")
    say(f"{node.name} was killed, {job.lease()[0]} ran {job.name} after {took or 0:.1f} s")
    node.start()
    job.writer.ending = True
    job.writer.join()
    return took or 60.0


def take_over(job, node, term, violations):
    """Freezes the node that has the lease, until another one runs the job; the seconds that takes."""
    sleeping = {session for session, _ in job.checkpoints().values()}
    frozen = time.monotonic()
    node.freeze()
    took = job.wait_for_later(frozen, 60)
    if took is None or took > TAKEOVER:
        violations.add("not taken over", f"{job.name} after {took} s")
    # Lets the new one write a checkpoint, of which a late one would be seen.
    time.sleep(8)
    holder, newer = job.lease()
    if holder == node.name or newer <= term:
        violations.add("a lease without a new holder", f"{holder} in term {newer}, before {node.name} in {term}")
    before, note = job.checkpoints(), job.note()
    node.thaw()
    end = time.monotonic() + 12
    while time.monotonic() < end:
        now, last = job.lease()
        if (now, last) != (holder, newer) and last <= newer:
            violations.add("a lease taken back", f"{now} in term {last}, after {holder} in {newer}")
        for key, (session, position) in job.checkpoints().items():
            if session in sleeping and before.get(key, (session,))[0] not in sleeping or position < before.get(key, (0, 0))[1]:
                violations.add("a late checkpoint", f"{key}: {session} at {position}, after {before.get(key)}")
        if job.note() != note:
            violations.add("a late note", f"_replicator/{job.name} was changed")
            break
        time.sleep(0.2)
    job.writer.ending = True
    job.writer.join()
    end = time.monotonic() + 30
    while (missing := job.writer.written.keys() - job.there()) and time.monotonic() < end:
        time.sleep(0.2)
    if missing:
        violations.add("lost: a replicated document", f"{len(missing)} of {job.name}: {sorted(missing)[:3]}")
    say(f"{node.name} was frozen, {holder} ran {job.name} after {took or 0:.1f} s")
    return took or 60.0


def run(given):
    violations, figures, chance = Violations(), {"seed": given.seed}, random.Random(given.seed)
    for name in given.scenes:
        figures |= {f"{name}: {what}": value for what, value in globals()[name](given, chance, violations).items()}
    return violations.report(figures, given.json)


if __name__ == "__main__":
    main(run, options.parse_args())
