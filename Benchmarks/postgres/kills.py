#!/usr/bin/env python3
"""Kills nodes, backends and sometimes PostgreSQL itself while clients write, and checks that nothing is lost.

    kills.py [--settle PATH] [--nodes 2] [--seconds 60] [--kills 10000] [--backends 40] [--restarts 1] [--crashes 0.05]

Writers insist on an answer and may ask another node. After each round, in calm: every acknowledged revision is in its tree at
every node, documents of one writer are as that writer left them, there is no conflict that nobody made, every feed has seen
the last state of each document, attachments and local documents are right, and the tables agree (checks.sql). The seed
determines what is written and killed, not the moments. A start of PostgreSQL after a crash takes some seconds, since it forces
its files to the disk; --fsync off allows several crashes a second, and loses nothing while the machine itself goes on. Ends
after --seconds or --kills; status 1 if anything was wrong.
"""
import os
import random
import signal
import threading
import time

from nodes import Unavailable, main, parser
from options import above_zero, at_least, positive
from scene import Scene

options = parser(__doc__, nodes=2)
options.add_argument("--seconds", type=above_zero, default=60)
options.add_argument("--kills", type=positive, default=10000)
options.add_argument("--writers", type=positive, default=8)
options.add_argument("--round", type=above_zero, default=8, help="seconds between two checks")
options.add_argument("--backends", type=at_least(0, float), default=40, help="pg_terminate_backend, a second")
options.add_argument("--restarts", type=at_least(0, float), default=1, help="kill -9 of nodes, a second")
options.add_argument("--crashes", type=at_least(0, float), default=0.05, help="kill -9 of a backend, a second; PostgreSQL starts anew")
options.add_argument("--fsync", choices=("on", "off"), default="on")
options.add_argument("--postmasters", type=at_least(0, float), default=0.01, help="kill -9 of the postmaster, a second")


class Killer(threading.Thread):
    """Does one kind of harm at random moments, or stands still."""

    def __init__(self, harm, rate, seed, violations):
        super().__init__(daemon=True)
        self.harm, self.rate, self.chance, self.violations = harm, rate, random.Random(seed), violations
        self.go, self.idle, self.count = threading.Event(), threading.Event(), 0

    def run(self):
        while True:
            if not self.go.is_set():
                self.idle.set()
                self.go.wait()
            due = time.monotonic() + self.chance.expovariate(self.rate)
            while self.go.is_set() and (left := due - time.monotonic()) > 0:
                time.sleep(min(left, 0.1))
            try:
                if self.go.is_set() and self.harm(self.chance):
                    self.count += 1
            except Unavailable as reason:
                self.violations.add("PostgreSQL does not start", str(reason))
                return self.idle.set()

    def resume(self):
        self.idle.clear()
        self.go.set()


def restart(node, violations):
    """Kills a node and starts it again; it may end at once while PostgreSQL is away."""
    node.kill()
    end = time.monotonic() + 60
    while True:
        try:
            return node.start()
        except Unavailable as reason:
            node.process.kill()
            node.fleet.room.ended(node.process)
            if time.monotonic() > end:
                return violations.add("a node does not start", str(reason))
            time.sleep(0.1)


def signal_backend(cluster, chance, number):
    backends = cluster.primary.backends()
    if not backends:
        return False
    try:
        os.kill(chance.choice(backends), number)
    except ProcessLookupError:
        return False
    return True


def crash(cluster):
    cluster.primary.kill()
    cluster.primary.start()
    return True


def killers(given, fleet, violations):
    """Their names and they; each node has one of its own, so that nobody else starts it."""
    def of_node(node):
        return lambda chance: restart(node, violations) is None

    made = {f"kill -9 of {node.name}": (of_node(node), given.restarts / len(fleet.nodes)) for node in fleet.nodes}
    if cluster := fleet.cluster:
        turn = threading.Lock()

        def in_turn(body):
            def harm(chance):
                with turn:
                    return body(chance)
            return harm

        made["pg_terminate_backend"] = (lambda chance: signal_backend(cluster, chance, signal.SIGTERM), given.backends)
        made["kill -9 of a backend"] = (in_turn(lambda chance: signal_backend(cluster, chance, signal.SIGKILL)), given.crashes)
        made["kill -9 of the postmaster"] = (in_turn(lambda chance: crash(cluster)), given.postmasters)
    return {name: Killer(harm, rate, f"{given.seed} {name}", violations) for name, (harm, rate) in made.items() if rate > 0}


def run(given):
    scene = Scene(given, durable=given.fsync == "on")
    violations, ledger = scene.violations, scene.ledger
    harm = killers(given, scene.fleet, violations)
    for killer in harm.values():
        killer.start()

    def kills():
        return sum(killer.count for killer in harm.values())

    end, rounds = time.monotonic() + given.seconds, 0
    while time.monotonic() < end and kills() < given.kills and not violations.found:
        before = ledger.count
        scene.crowd.resume()
        for killer in harm.values():
            killer.resume()
        time.sleep(min(given.round, max(0.5, end - time.monotonic())))
        for killer in harm.values():
            killer.go.clear()
        for killer in harm.values():
            killer.idle.wait()
        rounds += 1
        scene.inspect(f"round {rounds}, {kills()} kills")
        if ledger.count == before:
            violations.add("no progress", f"nothing was acknowledged in round {rounds}")
    scene.inspect("all", everything=True)
    figures = {"seed": given.seed, "rounds": rounds} | {name: killer.count for name, killer in harm.items()} | scene.figures()
    return violations.report(figures, given.json, scene.fleet)


if __name__ == "__main__":
    chosen = options.parse_args()
    if not (chosen.restarts or chosen.engine == "postgres" and chosen.backends + chosen.crashes + chosen.postmasters):
        options.error("with these rates nothing would be killed")
    main(run, chosen)
