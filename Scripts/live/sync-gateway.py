#!/usr/bin/env python3
"""Settle's replicator with a real Sync Gateway: what it copies, how conflicts end, and how fast.

    Scripts/live/sync-gateway.py --gateway PROGRAM [--settle .build/release/settle] [--seeds N] [--documents N]

The gateway is a `sync_gateway` from its public source, 3.x or 4.x; it runs with the storage in memory that its own tests use. Each
check prints a line. Ends with 1 if one of them fails.
"""
import base64
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks/server"))
from options import BUILT, add_settle, parser, positive, program  # noqa: E402
from processes import Server, end, free_port, launch  # noqa: E402

USER, PASSWORD, MOST_ROUNDS = "anna", "secret", 14
failed = []


def check(what, fine, *details):
    print("ok  " if fine else "FAIL", what, *(details if not fine else []), flush=True)
    if not fine:
        failed.append(what)


class Gateway:
    """The gateway, and the API of its documents."""

    def __init__(self, path, folder, storage, sync):
        self.port, self.admin, metrics = free_port(), free_port(), free_port()
        rights = {"admin_channels": ["*"], "password": PASSWORD}
        database = {"server": storage, "bucket": "db", "num_index_replicas": 0, "users": {USER: rights, "bert": {
            "admin_channels": ["home"], "password": PASSWORD}}, "use_views": True, "allow_conflicts": False, "sync": sync}
        database["enable_shared_bucket_access"] = not storage.startswith("walrus")
        databases = {"db": database}
        configuration = {"interface": f"127.0.0.1:{self.port}", "adminInterface": f"127.0.0.1:{self.admin}",
                         "metricsInterface": f"127.0.0.1:{metrics}", "databases": databases,
                         "logging": {"console": {"log_level": "warn"}}}
        settings = os.path.join(folder, "gateway.json")
        with open(settings, "w") as file:
            json.dump(configuration, file)
        self.log = open(os.path.join(folder, "gateway.log"), "w")
        self.process = launch([path, "-disable_persistent_config", settings], stdout=self.log, stderr=self.log)
        for _ in range(200):
            if self.process.poll() is not None:
                break
            try:
                if self.ask("GET", "")[0] == 200:
                    return
            except (OSError, ValueError):
                pass
            time.sleep(0.1)
        self.stop()
        raise SystemExit(f"the gateway did not start:\n{open(self.log.name).read()}")

    def ask(self, method, path, body=None, database="db"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{database}/{path}", method=method, data=None if body is None else json.dumps(body).encode())
        request.add_header("Authorization", "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def address(self, database="db", user=USER):
        return f"ws://{user}@127.0.0.1:{self.port}/{database}"

    def stop(self):
        end(self.process)


class Device:
    """A database of Settle."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)
        self.run("create", self.path)

    @staticmethod
    def run(*words, password=PASSWORD, input=None):
        environment = {**os.environ, "SETTLE_PASSWORD": password}
        return subprocess.run([ARGUMENTS.settle, *words], capture_output=True, text=True, env=environment, input=input)

    def get(self, id):
        known = self.run("get", self.path, id)
        return json.loads(known.stdout) if known.returncode == 0 else None

    def put(self, id, value):
        known = self.get(id)
        result = self.run("put", self.path, id, json.dumps(value), *(["--rev", known["_rev"]] if known else []))
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def replicate(self, verb, address, *options, password=PASSWORD):
        result = self.run(verb, self.path, address, "--json", *options, password=password)
        lines = result.stdout.strip().splitlines()
        said = json.loads(lines[-1]) if lines else {}
        return result, said.get({"push": "sent", "pull": "received"}.get(verb), said)

    def sync(self, address, *options):
        result, said = self.replicate("sync", address, "--policy", "threeWayMerge", *options)
        assert said, result.stderr
        return sum(said["sent"][name] + said["received"][name] for name in ["revisions", "settled"])


def members(document):
    return document and {name: value for name, value in document.items() if not name.startswith("_")}


def copies(gateway, folder):
    one, other = Device(folder, "one"), Device(folder, "other")
    content = os.urandom(300_000)
    with open(os.path.join(folder, "noise"), "wb") as file:
        file.write(content)
    for number in range(500):
        gateway.ask("PUT", f"there-{number}", {"n": number, "big": 1234567890123456789})
    lines = "".join(json.dumps({"_id": f"here-{number}", "n": number, "f": 1.5}) + "\n" for number in range(500))
    result = Device.run("import", one.path, "/dev/stdin", input=lines)
    assert result.returncode == 0, result.stderr
    Device.run("attach", one.path, "here-1", os.path.join(folder, "noise"))
    Device.run("delete", one.path, "here-2", "--force")
    _, said = one.replicate("sync", gateway.address())
    check("500 documents are sent and 500 received", said["sent"]["revisions"] == said["received"]["revisions"] == 500, said)
    _, said = one.replicate("sync", gateway.address())
    check("the next run copies nothing", said["sent"]["revisions"] + said["received"]["revisions"] == 0, said)
    _, said = other.replicate("pull", gateway.address())
    check("another device receives 1,000", said["revisions"] in (999, 1000), said)
    check("a revision keeps its id", one.get("there-7")["_rev"] == gateway.ask("GET", "there-7")[1]["_rev"] == other.get("there-7")["_rev"])
    check("a number of 19 digits arrives", other.get("there-7")["big"] == 1234567890123456789)
    stub = (other.get("here-1") or {}).get("_attachments", {}).get("noise", {})
    check("an attachment arrives", stub.get("length") == len(content), stub)
    check("a deletion arrives", gateway.ask("GET", "here-2")[0] == 404 and other.get("here-2") is None)
    revision = gateway.ask("GET", "there-3")[1]["_rev"]
    gateway.ask("DELETE", f"there-3?rev={revision}")
    other.replicate("pull", gateway.address())
    check("a deletion of the gateway arrives", other.get("there-3") is None)
    some = Device(folder, "some")
    some.replicate("pull", gateway.address(), "--id", "there-1", "--id", "here-1", "--id", "none")
    check("only the asked ids are received", some.get("there-1") and some.get("here-1") and not some.get("there-2"))


def channels(gateway, folder):
    for id, names in [("at-home", ["home"]), ("at-work", ["work"])]:
        gateway.ask("PUT", id, {"channels": names})
    home, bert = Device(folder, "home"), Device(folder, "bert")
    home.replicate("pull", gateway.address(), "--channel", "home")
    check("only the asked channel is received", home.get("at-home") and not home.get("at-work"))
    bert.replicate("pull", gateway.address(user="bert"))
    check("a user receives the channels that are theirs", bert.get("at-home") and not bert.get("at-work"))
    document = gateway.ask("GET", "at-home")[1]
    gateway.ask("PUT", f"at-home?rev={document['_rev']}", {"channels": ["work"]})
    result, said = bert.replicate("pull", gateway.address(user="bert"))
    check("a document that left the channel stays as it was", result.returncode in (0, 8) and bert.get("at-home"), result.stderr, said)


def refusals(gateway, folder):
    device = Device(folder, "refused")
    result, _ = device.replicate("pull", gateway.address(), password="wrong-one")
    fine = result.returncode and "wrong-one" not in result.stderr and "refuses" in result.stderr
    check("an error names the refused user, and no password", fine, result.stderr)
    result, _ = device.replicate("pull", gateway.address("nothing"))
    check("a missing database gives an error", result.returncode, result.stderr)
    device.put("not-allowed", {"forbidden": True})
    device.put("allowed", {})
    result, said = device.replicate("push", gateway.address())
    check("a document that the sync function refuses is listed, and others are sent",
          said.get("refused") == 1 and gateway.ask("GET", "allowed")[0] == 200 and "not-allowed" in result.stderr, result.stderr, said)


def continuous(gateway, folder):
    device = Device(folder, "continuous")
    environment = {**os.environ, "SETTLE_PASSWORD": PASSWORD}
    running = launch([ARGUMENTS.settle, "sync", device.path, gateway.address(), "--continuous", "--quiet"],
                     env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(2)
        gateway.ask("PUT", "later", {"n": 1})
        time.sleep(2)
    finally:
        running.terminate()
        errors = running.communicate()[1]
    check("a continuous sync receives a later change", device.get("later") is not None, errors)


def server(gateway, folder):
    serving = Server(ARGUMENTS.settle, os.path.join(folder, "data"), PASSWORD, user=USER)
    try:
        here = f"http://{USER}:{PASSWORD}@127.0.0.1:{serving.port}"
        Device.run("create", f"{here}/notes")
        source, options = gateway.address(user=f"{USER}:{PASSWORD}"), ("--continuous", "--name", "in")
        added = Device.run("replications", "add", f"{here}/", source, f"{here}/notes", *options)
        check("a document of _replicator is written", added.returncode == 0, added.stderr)
        gateway.ask("PUT", "for-the-server", {"n": 1})
        known = None
        for _ in range(100):
            known = Device.run("get", f"{here}/notes", "for-the-server")
            if known.returncode == 0:
                break
            time.sleep(0.1)
        listed = Device.run("replications", "list", f"{here}/").stdout
        check("the server receives by it", known.returncode == 0, known.stderr, listed)
    finally:
        serving.stop()


def conflicts(gateway, folder, seed):
    """Three devices edit two documents apart; rounds until all are quiet."""
    choice = random.Random(seed)
    devices = [Device(folder, f"d{seed}-{number}") for number in range(3)]
    ids = [f"s{seed}-{number}" for number in range(2)]
    for id in ids:
        devices[0].put(id, {"words": {}})
    for device in devices:
        device.sync(gateway.address())
    written = {id: set() for id in ids}
    for _ in range(choice.randint(2, 4)):
        for device in devices:
            for _ in range(choice.randint(0, 2)):
                id = choice.choice(ids)
                word = f"w{len(written[id])}"
                value = members(device.get(id))
                value["words"][word] = device.path[-1]
                device.put(id, value)
                written[id].add(word)
        choice.choice(devices).sync(gateway.address())
    for round in range(1, MOST_ROUNDS + 1):
        moved = sum(device.sync(gateway.address()) for device in choice.sample(devices, len(devices)))
        if not moved:
            break
    said = [[members(device.get(id)) for id in ids] for device in devices] + [[members(gateway.ask("GET", id)[1]) for id in ids]]
    # A tool prints one line for each document in conflict.
    still = [Device.run("conflicts", device.path, "--json").stdout.strip() for device in devices]
    lost = [word for id, one in zip(ids, said[0]) for word in written[id] if word not in one["words"]]
    fine = not moved and all(one == said[0] for one in said) and not any(still) and not lost
    check(f"seed {seed}: three devices are quiet and equal after {round} rounds, no word of {sum(map(len, written.values()))} is lost",
          fine, said, still, lost)


def speed(gateway, folder):
    count = ARGUMENTS.documents
    lines = "".join(json.dumps({"_id": f"fast-{number:06}", "n": number, "text": "so it goes " * 10}) + "\n" for number in range(count))
    one, other = Device(folder, "fast-one"), Device(folder, "fast-other")
    with open(os.path.join(folder, "lines.ndjson"), "w") as file:
        file.write(lines)
    result = Device.run("import", one.path, file.name)
    assert result.returncode == 0, result.stderr
    for verb, device in [("push", one), ("pull", other)]:
        begin = time.time()
        result, said = device.replicate(verb, gateway.address())
        seconds = time.time() - begin
        fine = said.get("revisions", 0) >= count
        check(f"{verb} of {count:,} documents: {count / seconds:,.0f} a second", fine, result.stderr[-500:], said)


def main():
    sync = """function (doc, old) {
        if (doc.forbidden) { throw ({ forbidden: "not this one" }); }
        channel(doc.channels || "all");
    }"""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(ARGUMENTS.gateway, folder, ARGUMENTS.storage, sync)
        try:
            version = gateway.ask("GET", "", database=".")[1]
            print("with", version.get("vendor"), flush=True)
            copies(gateway, folder)
            channels(gateway, folder)
            refusals(gateway, folder)
            continuous(gateway, folder)
            server(gateway, folder)
            for seed in range(1, ARGUMENTS.seeds + 1):
                conflicts(gateway, folder, seed)
            if ARGUMENTS.documents:
                speed(gateway, folder)
        finally:
            gateway.stop()
            if ARGUMENTS.keep_log:
                print(open(gateway.log.name).read()[-4000:])
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--gateway", type=program, required=True, metavar="PROGRAM")
    add_settle(options, default=BUILT)
    options.add_argument("--storage", default="walrus:", help="walrus: of 3.0 and 3.1, rosmar:/?mode=memory of later ones")
    options.add_argument("--seeds", type=positive, default=5)
    options.add_argument("--documents", type=positive, help="measures with so many, too")
    options.add_argument("--keep-log", action="store_true", help="print what the gateway logged")
    ARGUMENTS = options.parse_args()
    sys.exit(main())
