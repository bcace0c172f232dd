"""A server with known data, and a browser in front of it."""
import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

PASSWORD = "correct horse"
WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/CConsole/web")
CHROMIUM = os.environ.get("SETTLE_CHROMIUM", "/usr/bin/chromium-headless-shell")

# How long a page may take, in milliseconds: long enough for a machine with other work. No scenario measures by it.
PATIENCE = 30_000


def expect(condition, message="not as expected"):
    if not condition:
        raise AssertionError(message)


def until(isTrue, what, pause=0.05):
    """Waits for something outside of the page."""
    deadline = time.monotonic() + 2 * PATIENCE / 1000
    while not isTrue():
        expect(time.monotonic() < deadline, what)
        time.sleep(pause)


def named(text):
    """The selector of the links on a page with a name."""
    return f"main a:has(bdi:text-is('{text}'))"


def signs(digit):
    return digit * 32


def revision(identifier, digits, members, deleted=False):
    """A document with its history, the newest first."""
    history = {"start": len(digits), "ids": [signs(digit) for digit in digits]}
    return {"_id": identifier, "_revisions": history, **members, **({"_deleted": True} if deleted else {})}


def choose_policy(page, name):
    """Chooses the card of a policy."""
    page.check(f".ways input[value='{name}']")


class Server:
    """`settle serve` over a folder of its own, which begins as a copy of `data` if there is one, or over a PostgreSQL that `store` names."""

    def __init__(self, settle, *options, scheme="http", console=None, data=None, store=None, isNew=True):
        self.settle, self.options, self.scheme, self.isNew = settle, options, scheme, isNew and data is None
        self.console = {"SETTLE_CONSOLE_FOLDER": console} if console else {}
        self.folder = tempfile.TemporaryDirectory(prefix="settle-console-")
        self.store_options = [*store, "--index-dir", self.folder.name + "/indexes"] if store else ["--dir", self.data]
        self.process = None
        if data:
            shutil.copytree(data, self.data)
        self.start()

    @property
    def data(self):
        return self.folder.name + "/data"

    def start(self, port=0):
        # A password that is set again ends all sessions, so only the first start sets it.
        first = {"SETTLE_ADMIN": "anna", "SETTLE_ADMIN_PASSWORD": PASSWORD} if self.isNew and self.process is None else {}
        environment = os.environ | first | self.console
        self.process = subprocess.Popen(
            [self.settle, "serve", *self.store_options, "--port", str(port), "--json", *self.options],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        self.port = json.loads(line)["port"]
        self.url = f"{self.scheme}://127.0.0.1:{self.port}/"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()

    def close(self):
        self.stop()
        self.folder.cleanup()

    def ask(self, method, path, body=None, user="anna", password=PASSWORD, text=None):
        """The answer as JSON, or text as it came."""
        data = text.encode() if text is not None else json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, method=method, data=data)
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def json(self, method, path, body=None):
        return json.loads(self.ask(method, path, body))

    def remove(self, path):
        """Deletes a document as it is now."""
        self.ask("DELETE", f"{path}?rev={self.json('GET', path)['_rev']}")

    def store(self, database, *revisions):
        """Stores revisions, each as if it had come alone."""
        for one in revisions:
            self.ask("POST", f"{database}/_bulk_docs", {"docs": [one], "new_edits": False})

    def fill(self):
        """The data of all scenarios: the same ids, revisions and values each time."""
        self.ask("PUT", "groceries")
        self.store("groceries", *milk("milk"),
                   revision("tea", "1", {"name": "Tea"}), revision("tea", "c1", {"name": "Green tea"}),
                   revision("tea", "d1", {}, deleted=True),
                   revision("rum", "2", {"name": "Rum"}), revision("rum", "3", {"name": "White rum"}))
        shop = {"views": {"by-count": {"map": "function (doc) { emit(doc.count, null); }"}}}
        self.ask("PUT", "groceries/_design/shop", shop)
        for number in range(40):
            self.ask("PUT", f"groceries/item-{number:02}", {"name": f"Item {number}", "count": number})


def milk(identifier):
    return (
        revision(identifier, "1", {"name": "Milk", "count": 1, "note": "low fat", "tags": ["dairy"]}),
        revision(identifier, "b1", {"name": "Oat milk", "count": 2, "note": "low fat", "tags": ["dairy", "vegan"]}),
        revision(identifier, "a1", {"name": "Milk", "count": 3, "tags": ["dairy", "fresh"]}),
        revision(identifier, "01", {"name": "Soy milk", "count": 1, "note": "low fat", "tags": ["dairy"]}))


def with_password(server):
    """The address of a server, with the name and the password of its administrator."""
    return server.url.replace("http://", f"http://anna:{urllib.parse.quote(PASSWORD)}@")


def refuse_tea(server):
    """A replication to a database that refuses one document."""
    server.ask("PUT", "strict")
    server.ask("PUT", "strict/_design/rules", {"validate_doc_update": "function (doc) { if (doc._id === 'tea') throw({forbidden: 'no tea here'}); }"})
    place = with_password(server)
    server.ask("PUT", "_replicator/strict", {"source": place + "groceries", "target": place + "strict", "continuous": True})


class Visit:
    """A browser's page that notes what must not happen: errors, reports of the policy, requests to others."""

    # How many milliseconds late each answer comes. Only Chromium can delay answers.
    latency = 0

    def __init__(self, browser, server, width=1440, scheme="light", root=None, language="en-US", clock=False, latency=None, **more):
        self.server, self.complaints = server, []
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, ignore_https_errors=True, locale=language, **more)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        late = self.latency if latency is None else latency
        if late and browser.browser_type.name == "chromium":
            line = {"offline": False, "latency": late, "downloadThroughput": -1, "uploadThroughput": -1}
            self.context.new_cdp_session(self.page).send("Network.emulateNetworkConditions", line)
        if clock:
            self.page.clock.install()
        self.root = (root or server.url) + "_utils/"
        self.page.on("console", self.note)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.on_dialog = lambda dialog: dialog.accept()
        self.page.on("dialog", lambda dialog: self.on_dialog(dialog))
        self.page.on("request", lambda request: None if request.url.startswith((root or server.url, "data:", "blob:"))
                     else self.complaints.append(f"asked {request.url}"))

    def note(self, message):
        # A browser reports each status from 400 on as an error of its own; those are answers here.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(f"{message.type}: {message.text}")

    def go(self, where):
        self.page.goto(self.root + where)
        self.page.wait_for_function("() => document.querySelector('main')?.dataset.shown === location.hash")
        self.settled()

    def sources(self):
        """The address of the console's sources, whose modules a page can import one by one. The server delivers bundles of them."""
        place = self.page.locator("link[rel=stylesheet]").first.evaluate("link => new URL('sources/', link.href).href")

        def answer(route):
            route.fulfill(path=os.path.join(WEB, route.request.url.removeprefix(place)), content_type="text/javascript")

        self.page.route(place + "**", answer)
        return place + "app/"

    def settled(self):
        """Waits until the page of the address is shown and nothing is being read."""
        self.page.wait_for_function("""() => {
          const [shown, place] = [document.querySelector('[data-shown]')?.dataset.shown, location.hash].map(hash => hash?.split('?')[0]);
          return (shown === undefined || shown === place) && !document.querySelector('[aria-busy=true]');
        }""")

    def later(self, seconds):
        """Lets time pass on the page, which has a clock of its own: what it does again and again it does at once."""
        self.page.clock.fast_forward(int(seconds * 1000))

    def heap(self):
        """The memory of the page that is in use, in megabytes. Only Chromium tells it."""
        session = self.context.new_cdp_session(self.page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
        session.detach()
        return used

    def log_in(self, name="anna", password=PASSWORD):
        self.go("#/login")
        self.page.fill("main input[autocomplete=username]", name)
        self.page.fill("main input[type=password]", password)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(f"header .user:has-text('{name}')")

    def axe(self):
        """What axe-core finds wrong, run by the debugger and so under the strict policy."""
        # A button that was enabled just now passes through colors that it has for a moment only.
        self.page.evaluate("""Promise.all(document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < Infinity)
          .map(one => one.finished.catch(() => {})))""")
        found = Axe().run(self.page).response["violations"]
        return [f"{one['id']}: {one['nodes'][0]['target']} {one['nodes'][0]['failureSummary']}" for one in found]

    def close(self):
        self.context.close()


@contextlib.contextmanager
def browser(name="chromium"):
    with sync_playwright() as playwright:
        if name == "firefox":
            program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "firefox.py")
            started = playwright.firefox.launch(channel="moz-firefox", executable_path=program)
        else:
            started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()
