"""Nodes with writers and feeds, and an inspector of what they did: the stage of kills.py, failover.py and frozen.py."""
import time

from following import Feed, Inspector
from nodes import Client, Fleet, Violations, say
from proxy import Proxy
from writers import Crowd, Ledger


class Scene:
    DATABASE = "scene"

    def __init__(self, given, kinds=None, proxied=False, violations=None, **cluster):
        """Starts all; with `proxied` the nodes reach PostgreSQL through `proxy`. The writers stand still."""
        self.violations, self.ledger = violations or Violations(), Ledger()
        self.fleet = Fleet(given, given.nodes, **cluster)
        self.cluster, self.proxy = self.fleet.cluster, None
        if proxied:
            self.proxy = Proxy(self.fleet.room, self.cluster.primary.port)
            self.fleet.string = self.cluster.string(ports=[self.proxy.port])
        self.fleet.start()
        Client(self.fleet).sure(self.fleet.nodes[0], "PUT", "/" + self.DATABASE)
        shared = (self.fleet, self.DATABASE)
        self.feeds = [Feed(*shared, node, self.violations) for node in self.fleet.nodes]
        self.inspector = Inspector(*shared, self.ledger, self.feeds, self.violations)
        self.crowd = Crowd(*shared, self.ledger, self.violations, given.writers, kinds)
        for feed in self.feeds:
            feed.start()

    def inspect(self, what, everything=False):
        """Lets the writers stand still, and looks whether all is as it was acknowledged."""
        self.crowd.pause()
        self.inspector.inspect(everything)
        found = sum(map(len, self.violations.found.values()))
        say(f"{what}: {self.ledger.count} acknowledged, {found} violations")

    def all_wrote_after(self, moment, patience=90):
        """Seconds from a moment until every writer had an answer to what it asked then or later."""
        while True:
            firsts = [next((end for end, took, _ in since(moment, writer.times) if end - took >= moment), None)
                      for writer in self.crowd.writers]
            if None not in firsts:
                return max(firsts) - moment
            if time.monotonic() - moment > patience:
                self.violations.add("no answers", f"{firsts.count(None)} writers had none within {patience} s")
                return patience
            time.sleep(0.01)

    def figures(self):
        return {
            "acknowledged edits": self.ledger.count, "documents": len(self.ledger.revisions),
            "answers that were lost": self.crowd.total("lost"), "503": self.crowd.total("refused"),
            "longest wait for an answer, s": max((took for one in self.crowd.writers for _, took, _ in one.times), default=0.0),
            "rows of feeds": sum(feed.rows for feed in self.feeds),
            "reconnects of feeds": sum(feed.reconnects for feed in self.feeds)}


def since(moment, times):
    """The answers that came after a moment, oldest first."""
    found = []
    for entry in reversed(times):
        if entry[0] < moment:
            break
        found.append(entry)
    return reversed(found)
