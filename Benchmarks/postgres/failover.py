#!/usr/bin/env python3
"""Takes the primary away while clients write at all nodes, and checks that nothing acknowledged is lost.

    failover.py [--settle PATH] [--rounds 50] [--scenes failover,cut,away,mistake] [--nodes 2] [--writers 8]

failover   kill -9 of the primary, promotion of its synchronous standby, and a new standby, --rounds times: how long until
           every client has written again
cut        a proxy ends connections at their COMMIT: before it, while it is on its way, or before its answer
away       the standby is gone for --away seconds: a write gets 503 after about ten, a read its answer at once, and
           afterwards all goes on
mistake    the old primary is started again after the promotion, and the nodes come to it first: nothing is acknowledged there

After each, all that was acknowledged must be at every node, in every feed and in sound tables. Status 1 if not.
"""
import random
import signal
import time

from kills import signal_backend
from nodes import Client, Lost, Violations, main, parser
from options import above_zero, positive, words
from scene import Scene

options = parser(__doc__, nodes=2)
options.add_argument("--rounds", type=positive, default=50)
options.add_argument("--scenes", type=words("failover", "cut", "away", "mistake"), default="failover,cut,away,mistake")
options.add_argument("--writers", type=positive, default=8)
options.add_argument("--away", type=above_zero, default=30, help="how long the standby is gone, in seconds")
options.add_argument("--cuts", type=above_zero, default=20, help="how long the proxy cuts, in seconds")


def failover(given, chance, violations):
    scene, cluster = begin(given, violations, standby=True)
    killed, promoted = [], []
    for number in range(given.rounds):
        scene.crowd.resume()
        time.sleep(chance.uniform(0.5, 2))
        old, begun = cluster.primary, time.monotonic()
        old.kill()
        cluster.promote()
        done = time.monotonic()
        promoted.append(scene.all_wrote_after(done))
        killed.append(done + promoted[-1] - begun)
        scene.inspect(f"failover {number + 1} of {given.rounds}, all wrote {promoted[-1]:.2f} s after the promotion")
        cluster.add_standby(old)
        if violations.found:
            break
    return finish(scene, {
        "rounds": len(promoted), "all write after the promotion, s, median": median(promoted),
        "the same, worst (goal 2)": max(promoted), "all write after the kill, s, worst": max(killed)})


def cut(given, _, violations):
    scene, _ = begin(given, violations, proxied=True)
    scene.crowd.resume()
    scene.proxy.tell("cut 0.05 answer sent before")
    time.sleep(given.cuts)
    scene.proxy.tell("cut 0")
    counts = scene.proxy.count()
    if not counts.get("answer"):
        violations.add("nothing was cut", "the proxy has seen no COMMIT")
    scene.inspect("cut")
    return finish(scene, {f"connections cut: {name}": count for name, count in sorted(counts.items())})


def away(given, _, violations):
    scene, cluster = begin(given, violations, standby=True)
    client, node = Client(scene.fleet), scene.fleet.nodes[0]
    scene.crowd.resume()
    time.sleep(2)
    client.sure(node, "PUT", f"/{scene.DATABASE}/read", {})
    cluster.standby.kill()
    gone = time.monotonic()
    time.sleep(0.5)
    took, status = timed(client, node, "PUT", f"/{scene.DATABASE}/probe")
    if status != 503 or not 5 <= took <= 15:
        violations.add("a write without the standby", f"status {status} after {took:.1f} s")
    reading, status = timed(client, node, "GET", f"/{scene.DATABASE}/read")
    if status != 200 or reading > 3:
        violations.add("a read without the standby", f"status {status} after {reading:.1f} s")
    time.sleep(max(0, given.away - (time.monotonic() - gone)))
    cluster.standby.start()
    back = time.monotonic()
    again = scene.all_wrote_after(back)
    scene.inspect("standby away")
    return finish(scene, {
        "a write gets 503 after, s": took, "a read takes, s": reading, "all write after its return, s": again})


def mistake(given, chance, violations):
    scene, cluster = begin(given, violations, standby=True)
    scene.crowd.resume()
    time.sleep(2)
    old = cluster.primary
    old.kill()
    cluster.promote()
    scene.all_wrote_after(time.monotonic())
    before = scene.ledger.count
    old.start()
    end = time.monotonic() + 15
    while time.monotonic() < end:
        # Makes the nodes connect anew, where they find the old one first.
        signal_backend(cluster, chance, signal.SIGTERM)
        time.sleep(0.1)
    strays = len(old.backends())
    acknowledged = scene.ledger.count - before
    old.kill()
    again = scene.all_wrote_after(time.monotonic())
    scene.inspect("old primary")
    return finish(scene, {
        "connections at the old primary": strays, "acknowledged while it ran": acknowledged, "all write after its end, s": again})


def begin(given, violations, **more):
    scene = Scene(given, violations=violations, **more)
    return scene, scene.cluster


def finish(scene, figures):
    """Looks at everything once more, and ends the scene."""
    scene.inspect("all", everything=True)
    figures |= scene.figures()
    scene.fleet.close(keeps=bool(scene.violations.found) and scene.fleet.given.keep)
    return figures


def timed(client, node, method, path):
    began = time.monotonic()
    try:
        status, _ = client.ask(node, method, path, {} if method == "PUT" else None)
    except Lost:
        status = 0
    return time.monotonic() - began, status


def median(values):
    return sorted(values)[len(values) // 2]


def run(given):
    if given.engine != "postgres":
        raise SystemExit("failover.py needs PostgreSQL")
    violations, figures, chance = Violations(), {"seed": given.seed}, random.Random(given.seed)
    for name in given.scenes:
        figures |= {f"{name}: {what}": value for what, value in globals()[name](given, chance, violations).items()}
    return violations.report(figures, given.json)


if __name__ == "__main__":
    main(run, options.parse_args())
