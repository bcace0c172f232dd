#!/usr/bin/env python3
"""The console in a browser: what it must do, by keyboard, under its strict policy.

    scenarios.py [--settle PATH] [--only NAME,…] [--jobs N] [--browser NAME] [--engine NAME]
    scenarios.py [--settle PATH] --compare | --keep
    scenarios.py [--settle PATH] --pictures FOLDER
"""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile

from admin import ADMIN
from administering import ADMINISTERING
from data import DATA
from documents import DOCUMENTS
from effects import EFFECTS
from elsewhere import ELSEWHERE
from forms import FORMS
from importing import FILES
from inspecting import INSPECTING
from look import LOOK
from memory import MEMORY
from names import NAMES
from places import PLACES
from play import PLAY
from room import PASSWORD, PATIENCE, WEB, Server, choose_policy, expect, milk, refuse_tea, revision, signs, until, with_password
from staying import STAYING
from slow import SLOW
from wide import WIDE
from working import WORKING

import documentation
import running

PAGES = ["#/", "#/groceries/docs?fields=name,count", "#/groceries/doc/milk", "#/groceries/doc", "#/groceries/conflicts",
         "#/groceries/conflict/milk", "#/groceries/settle", "#/groceries/changes", "#/groceries/query", "#/groceries/design", "#/groceries/design/shop",
         "#/db/groceries/view/shop?view=by-count", "#/db/groceries/compare/milk",
         "#/groceries/rights", "#/groceries/upkeep", "#/groceries/files", "#/groceries/journal",
         "#/users", "#/server", "#/activity", "#/log", "#/replications", "#/replicate", "#/replication/_replicator%2Fnone", "#/login", "#/none/none/none"]


def conflicts(server, database="groceries"):
    return server.json("GET", f"{database}/_conflicts?limit=0")["total_rows"]


def a_second_language(room):
    """Where a browser prefers German, texts, numbers, sizes and plurals are German; what its catalogue lacks is English."""
    with tempfile.TemporaryDirectory(prefix="settle-console-") as folder:
        web = shutil.copytree(WEB, os.path.join(folder, "web"))
        with open(os.path.join(web, "app/texts/de.js")) as file:
            german = file.read()
        expect(german.count(" replications: 'Replikationen',") == 1, "a text of the German catalogue")
        with open(os.path.join(web, "app/texts/de.js"), "w") as file:
            file.write(german.replace(" replications: 'Replikationen',", ""))
        server = Server(room.server.settle, console=web)
        try:
            server.ask("PUT", "many")
            server.ask("POST", "many/_bulk_docs", {"docs": [{"_id": str(place)} for place in range(1001)]})
            server.store("many", *milk("milk"))
            german, english = ("Datenbanken", "1.001", "3 Blätter"), ("Databases", "1,001", "3 leaves")
            for language, shown, (title, number, leaves) in (("de-AT", "de", german), ("en-US", "en", english), ("fr", "en", english)):
                visit = room.visit(server, language=language)
                visit.log_in()
                visit.go("#/")
                visit.page.wait_for_selector(f"h1:has-text('{title}')")
                expect(visit.page.evaluate("document.documentElement.lang") == shown, f"{language} shows another language")
                row = visit.page.text_content("tr:has-text('many')").replace("1.002", "1.001").replace("1,002", "1,001")
                expect(number in row, f"{language} writes numbers otherwise: {row}")
                expect(visit.page.get_by_role("link", name="Replications").count() >= 1, "no English text where there is no other")
                visit.go("#/many/conflict/milk")
                visit.page.wait_for_selector(f"main :text('{leaves}')")
                expect(not visit.complaints, str(visit.complaints))
        finally:
            server.close()


def every_page(width, scheme):
    def scenario(room):
        visit = room.visit(width=width, scheme=scheme)
        visit.log_in()
        for where in PAGES:
            visit.go(where)
            expect(visit.page.locator("h1:has-text('This page can’t be shown')").count() == 0, f"{where} can't be shown")
            found = visit.axe()
            expect(not found, f"{where}: {found}")
            wide = visit.page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
            expect(not wide, f"{where} is wider than the screen")
            seen = visit.page.evaluate("[...document.querySelectorAll('[hidden]')].filter(one => one.getClientRects().length).length")
            expect(seen == 0, f"{where} shows {seen} elements that are hidden")
    scenario.__name__ = f"every_page_in_{scheme}_{width}"
    scenario.__doc__ = f"Every page, {scheme}, at {width:,} pixels: no violation of axe, no error, no report of the policy."
    return scenario


def a_member_opens_a_database_by_name(room):
    """A member who may not list databases opens one by its name, finds a document by half its id, and edits it."""
    room.server.ask("PUT", "_users/org.couchdb.user:ben", {"name": "ben", "type": "user", "roles": [], "password": "pw"})
    room.server.ask("PUT", "groceries/_security", {"members": {"names": ["ben"], "roles": []}})
    visit = room.visit()
    visit.log_in("ben", "pw")
    visit.go("#/")
    visit.page.fill("[aria-label='Open a database by its name']", "groceries")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h1:has-text('Documents')")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("item-1*")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 10")
    visit.page.focus("tbody tr:nth-child(3) a")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h1:has-text('item-12')")
    visit.settled()
    edit(visit, '"count": 12', '"count": 120')
    expect(room.server.json("GET", "groceries/item-12")["count"] == 120)
    room.server.ask("PUT", "groceries/_security", {"members": {"names": [], "roles": []}})


def edit(visit, before, after):
    """Changes the text by keyboard and saves it."""
    area = visit.page.get_by_label("The document", exact=True)
    text = area.input_value()
    expect(before in text, f"{before} is not in {text}")
    place = text.index(before)
    area.focus()
    area.evaluate("(area, [start, end]) => area.setSelectionRange(start, end)", [place, place + len(before)])
    visit.page.keyboard.insert_text(after)
    visit.page.keyboard.press("Control+s")
    visit.page.wait_for_selector("text=Saved as")


def nothing_is_harmed(room):
    """Numbers of 19 digits and the order of members come back byte for byte but for what was edited."""
    room.server.ask("PUT", "groceries/exact", text='{"2":1,"1":9223372036854775807,"x":1.5,"y":{"__proto__":{"a":[]}},"e":"\\u00e9"}')
    before = room.server.ask("GET", "groceries/exact")
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/doc/exact")
    edit(visit, '"x": 1.5', '"x": 2.5')
    after = room.server.ask("GET", "groceries/exact")
    rest = lambda text: text[text.index('"2":'):]
    expect(rest(after) == rest(before).replace('"x":1.5', '"x":2.5'), f"{before} {after}")


def two_save_one_document(room):
    """Two browsers save one document: the second sees both changes, chooses, and nothing is lost."""
    room.server.ask("PUT", "groceries/pair", {"a": 1, "b": 1})
    one, two = room.visit(), room.visit()
    for visit in (one, two):
        visit.log_in()
        visit.go("#/groceries/doc/pair")
    edit(one, '"a": 1', '"a": 2')
    area = two.page.get_by_label("The document", exact=True)
    area.fill(area.input_value().replace('"b": 1', '"b": 3'))
    two.page.keyboard.press("Control+s")
    two.page.wait_for_selector("text=Somebody else has saved meanwhile")
    expect("theirs" in two.page.inner_text(".card") and "mine" in two.page.inner_text(".card"))
    two.page.get_by_role("button", name="Take into the text").focus()
    two.page.keyboard.press("Enter")
    two.page.keyboard.press("Control+s")
    two.page.wait_for_selector("text=Saved as")
    now = room.server.json("GET", "groceries/pair?conflicts=true")
    expect(now["a"] == 2 and now["b"] == 3 and "_conflicts" not in now, str(now))


def a_session_ends_in_an_edit(room):
    """A session ends in the middle of an edit: login in place, the text is there, the save goes through."""
    room.server.ask("PUT", "groceries/long", {"text": "before"})
    visit = room.visit()
    visit.log_in()
    room.server.ask("PUT", "groceries/_security", {"members": {"names": ["anna"], "roles": []}})
    visit.go("#/groceries/doc/long")
    area = visit.page.get_by_label("The document", exact=True)
    area.fill(area.input_value().replace("before", "after"))
    visit.context.clear_cookies()
    visit.page.keyboard.press("Control+s")
    visit.page.wait_for_selector("dialog[open]")
    visit.page.fill("dialog input[autocomplete=username]", "anna")
    visit.page.fill("dialog input[type=password]", PASSWORD)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("text=Saved as")
    expect(room.server.json("GET", "groceries/long")["text"] == "after")
    room.server.ask("PUT", "groceries/_security", {"members": {"names": [], "roles": []}})


def three_leaves_are_settled_by_picks(room):
    """Three leaves are settled by picks, by keyboard, by the revisions of the preview."""
    room.server.store("groceries", *milk("oat"))
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/conflict/oat")
    visit.page.wait_for_selector("text=What will be written")
    visit.page.keyboard.press("3")
    visit.page.wait_for_selector("tr[data-path='/name']:has-text('picked by you')")
    visit.page.keyboard.press("n")
    visit.page.keyboard.press("2")
    visit.page.wait_for_selector("tr[data-path='/count']:has-text('picked by you')")
    visit.page.wait_for_selector("button.act:not([disabled])")
    shown = [one.get_attribute("title") for one in visit.page.query_selector_all("section:has(h2:has-text('What will be written')) ul .rev")]
    lost = visit.page.inner_text("section[aria-label='What will be lost']")
    expect("Soy milk" not in lost and "Oat milk" in lost, lost)
    visit.page.keyboard.press("Control+Enter")
    visit.page.wait_for_selector("text=Settled.")
    now = room.server.json("GET", "groceries/oat?conflicts=true&revs=true")
    expect(now["_rev"] == shown[0] and "_conflicts" not in now, f"{now} {shown}")
    expect(now["name"] == "Soy milk" and now["count"] == 3 and "note" not in now)
    for revision_shown in shown:
        room.server.ask("GET", f"groceries/oat?rev={revision_shown}")


def all_policies_and_a_leaf_that_arrives(room):
    """All policies show their outcome; a leaf arrives meanwhile: the page says so, and the picks are still there."""
    room.server.store("groceries", *milk("late"))
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/conflict/late")
    visit.page.wait_for_selector(".ways label:has-text('lost')")
    policies = room.server.json("GET", "_policies")
    settling = [policy for policy in policies["policies"] if policy["decides"]]
    cards = visit.page.locator(".ways label")
    expect(all("lost" in text for text in cards.all_text_contents()), f"an outcome is not shown: {cards.all_text_contents()}")
    offered = [one.get_attribute("value") for one in visit.page.locator(".ways input").all()]
    expect(sorted(offered) == sorted(policy["name"] for policy in settling), f"the form offers {offered}")
    expect(visit.page.is_checked(f".ways input[value='{policies['default']}']"), "another policy is chosen first")
    rules = visit.page.get_by_label("Other clashes").locator("option").all_text_contents()
    expect(rules == [rule["name"] for rule in policies["rules"] if ":" not in rule["name"]], f"the form offers {rules}")
    visit.page.click("footer summary")
    visit.page.get_by_role("button", name="settle", exact=True).click()
    for policy in settling:
        choose_policy(visit.page, policy["name"])
        visit.page.wait_for_selector(f"fieldset p:has-text('{policy['summary']}')")
        visit.page.wait_for_selector(f"footer pre:has-text('--policy {policy['name']} ')")
        expect(visit.page.get_by_label("Other clashes").is_visible() == ("on_clash" in policy["options"]))
    choose_policy(visit.page, policies["default"])
    visit.page.click("h1")
    visit.page.keyboard.press("3")
    visit.page.wait_for_selector("button.act:not([disabled])")
    room.server.store("groceries", revision("late", "91", {"name": "Rice milk"}))
    visit.page.keyboard.press("Control+Enter")
    visit.page.wait_for_selector("text=The leaves have changed meanwhile")
    visit.page.wait_for_selector("tr[data-path='/name']:has-text('picked by you')")
    expect(len(room.server.json("GET", "groceries/late?conflicts=true")["_conflicts"]) == 3, "something was written")


def odd_conflicts(room):
    """No base, a deletion, 300 leaves, attachments, no conflict at all: each is shown, none misleads."""
    many = [revision("many", "1", {"n": 0})]
    many += [{"_id": "many", "n": number, "_revisions": {"start": 2, "ids": [f"{number:032x}", signs("1")]}} for number in range(300)]
    room.server.ask("POST", "groceries/_bulk_docs", {"docs": many, "new_edits": False})
    photo = {"_attachments": {"a.txt": {"content_type": "text/plain", "data": "aGk="}}}
    room.server.store("groceries", revision("files", "1", {"n": 1} | photo), revision("files", "2", {"n": 1}))
    visit = room.visit()
    visit.log_in()
    for identifier, words in (("rum", "created in several places"), ("tea", "a deletion against an edit"), ("many", "300 leaves"),
                              ("files", "/_attachments"), ("item-01", "is not in conflict")):
        visit.go(f"#/groceries/conflict/{identifier}")
        visit.page.wait_for_selector(f"main >> text={words}")


def a_thousand_conflicts(room):
    """1,000 conflicts are rehearsed, run, stopped, cut by a killed server, run again: all settled, none twice."""
    room.server.ask("PUT", "many")
    for start in range(0, 1000, 250):
        docs = []
        for number in range(start, start + 250):
            docs += [revision(f"d{number:04}", "1", {"n": 0}), revision(f"d{number:04}", "a1", {"n": 1}), revision(f"d{number:04}", "b1", {"n": 2})]
        room.server.ask("POST", "many/_bulk_docs", {"docs": docs, "new_edits": False})
    expect(conflicts(room.server, "many") == 1000)
    visit = room.visit()
    visit.log_in()
    visit.go("#/many/settle")
    visit.page.get_by_role("button", name="Rehearse").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("text=Done: 1,000 of 1,000", timeout=60_000)
    expect(conflicts(room.server, "many") == 1000, "a rehearsal has written")
    run_many(visit, "1000")
    until(lambda: conflicts(room.server, "many") <= 700, "no 300 are settled", pause=0.02)
    port = room.server.port
    room.server.kill()
    visit.page.wait_for_selector(".error")
    room.server.start(port)
    visit.go("#/")
    visit.go("#/many/settle")
    left = conflicts(room.server, "many")
    expect(0 < left < 1000, f"{left} are left")
    visit.page.get_by_role("button", name="Rehearse").click()
    visit.page.wait_for_selector("text=Done:", timeout=60_000)
    run_many(visit, str(left))
    visit.page.wait_for_function("() => document.querySelector('[role=status]') && /Done:/.test(document.body.innerText)", timeout=60_000)
    until(lambda: conflicts(room.server, "many") == 0, "some are left")
    changes = room.server.json("GET", "many/_changes?style=all_docs")["results"]
    expect(all(len(row["changes"]) == 2 and max(row["changes"], key=lambda one: one["rev"])["rev"].startswith("3-") for row in changes), "something was settled twice")


def run_many(visit, word):
    visit.page.get_by_role("button", name="Run…").click()
    visit.page.fill("dialog input", word)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("dialog", state="detached")


def no_tombstones(server):
    """A database with a conflict and a rule that refuses to settle it."""
    server.ask("PUT", "ruled")
    server.store("ruled", *milk("milk"))
    server.ask("PUT", "ruled/_design/rules", {"validate_doc_update": "function (doc) { if (doc._deleted) throw({forbidden: 'no tombstones here'}); }"})


def validation_is_announced(room):
    """A validation function that refuses closing tombstones is announced before anything is written."""
    no_tombstones(room.server)
    visit = room.visit()
    visit.log_in()
    visit.go("#/ruled/conflict/milk")
    visit.page.wait_for_selector("text=no tombstones here")
    expect(visit.page.is_disabled("button.act"))
    expect(conflicts(room.server, "ruled") == 1)


def a_view_is_written_with_live_rows(room):
    """A view is written with live rows, and a mistake has its line."""
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/design/shop")
    visit.page.wait_for_selector("td:has-text('item-00')")
    area = visit.page.get_by_label("The map function")
    area.fill("function (doc) {\n  emit(doc.count, doc.name;\n}")
    visit.page.wait_for_selector("text=Line 2")
    area.fill("function (doc) {\n  if (doc.count > 3) emit([doc.count], doc.name);\n}")
    visit.page.wait_for_selector("td:has-text('[4]')")
    visit.page.keyboard.press("Control+s")
    visit.page.wait_for_selector("dialog[open]")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("text=Saved.")
    rows = room.server.json("GET", "groceries/_design/shop/_view/by-count?limit=1")["rows"]
    expect(rows[0]["key"] == [4], str(rows))


def an_endless_loop_ends(room):
    """An endless loop in a view ends, and the page answers as before."""
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/design/shop")
    visit.page.wait_for_selector("td:has-text('item-00')")
    area = visit.page.get_by_label("The map function")
    area.fill("function (doc) {\n  while (true) {}\n}")
    # The server stops it twice, after 5 seconds of its own.
    visit.page.wait_for_selector("[role=status] .bad", timeout=2 * PATIENCE)
    area.fill("function (doc) {\n  if (doc.count > 3) emit([doc.count], doc.name);\n}")
    visit.page.wait_for_selector("td:has-text('[4]')")


def a_document_is_checked(room):
    """The stored rules are asked about what was typed, and nothing is written."""
    no_tombstones(room.server)
    visit = room.visit()
    visit.log_in()
    visit.go("#/ruled/doc/milk")
    area = visit.page.get_by_label("The document", exact=True)
    before = room.server.json("GET", "ruled/milk")["_rev"]
    visit.page.get_by_role("button", name="Check").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("text=let it pass")
    area.fill(area.input_value().replace('"name"', '"_deleted": true, "name"'))
    visit.page.get_by_role("button", name="Check").click()
    visit.page.wait_for_selector("text=no tombstones here")
    expect(room.server.json("GET", "ruled/milk")["_rev"] == before, "something was written")


def a_replication_says_why(room):
    """A replication to a wrong port says why in a sentence."""
    room.server.ask("PUT", "_replicator/wrong", {"source": with_password(room.server) + "groceries", "target": "http://127.0.0.1:9/x", "continuous": True})
    visit = room.visit()
    visit.log_in()
    visit.go("#/replications")
    visit.page.wait_for_selector("td:has-text('Retrying')", timeout=30_000)
    expect("nobody answers at 127.0.0.1:9" in visit.page.inner_text("tbody"), visit.page.inner_text("tbody"))
    room.server.remove("_replicator/wrong")


def what_was_not_brought(room):
    """A refused document is in the ledger of its replication, with the reason, and links to the document."""
    from urllib.parse import quote
    refuse_tea(room.server)
    visit = room.visit()
    visit.log_in()
    visit.go("#/replication/" + quote("_replicator/strict", safe=""))
    visit.page.wait_for_selector("td:has-text('no tea here')")
    visit.page.focus("a:has-text('tea')")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("h1:has-text('tea')")
    room.server.remove("_replicator/strict")


def ten_tabs_with_feeds(room):
    """Changes arrive while the page is looked at, and ten tabs with feeds leave room for an eleventh."""
    visits = [room.visit()]
    visits[0].log_in()
    for _ in range(9):
        extra = visits[0].context.new_page()
        extra.goto(visits[0].root + "#/groceries/changes")
        extra.wait_for_selector("text=● live")
        # A browser shows one tab at a time, and tells the others that they are hidden.
        extra.evaluate("Object.defineProperty(document, 'hidden', {get: () => true}); document.dispatchEvent(new Event('visibilitychange'))")
        extra.wait_for_selector("text=paused while the tab is hidden")
    visits[0].go("#/groceries/changes")
    visits[0].page.bring_to_front()
    visits[0].page.wait_for_selector("text=● live")
    room.server.ask("PUT", "groceries/fresh", {"n": 1})
    visits[0].page.wait_for_selector("li:has-text('fresh')")
    last = visits[0].context.new_page()
    last.goto(visits[0].root + "#/")
    last.wait_for_selector("text=groceries")


def hostile_names(room):
    """Ids that look like code, change direction or need escaping, and an attachment of HTML: all are shown, nothing runs."""
    names = ["<img src=x onerror=alert(1)>", "a\u202eb", "a/b", "a#b", "a%2Fb", "a b"]
    from urllib.parse import quote
    for name in names:
        room.server.ask("PUT", f"groceries/{quote(name, safe='')}", {"name": name})
    room.server.ask("PUT", "groceries/evil", {"_attachments": {"evil.html": {"content_type": "text/html", "data": "PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg=="}}})
    visit = room.visit()
    visit.log_in()
    for name in names:
        visit.go("#/groceries/doc/" + quote(name, safe=""))
        shown = visit.page.inner_text("h1")
        expect(shown == name.replace("\u202e", "⟨U+202E⟩"), f"{name!r} is shown as {shown!r}")
        visit.page.get_by_label("The document", exact=True).wait_for()
        expect(json.loads(visit.page.get_by_label("The document", exact=True).input_value())["_id"] == name)
    visit.go("#/groceries/docs?fields=name")
    visit.go("#/groceries/doc/evil")
    expect(visit.page.query_selector("li:has-text('evil.html') >> text=Show") is None, "HTML must not be shown")


def strict_and_behind_a_prefix(room):
    """No anonymous requests, TLS, and a proxy with a prefix: all work; links of Fauxton lead to ours."""
    visit = room.visit()
    visit.log_in()
    visit.page.goto(visit.root + "#database/groceries/_all_docs")
    visit.page.wait_for_selector("h1:has-text('Documents')")
    visit.page.goto(visit.root + "#database/groceries/milk")
    visit.page.wait_for_selector("h1:has-text('milk')")
    with Prefix(room.server) as prefix:
        behind = room.visit(root=prefix.url + "couch/")
        behind.log_in()
        behind.go("#/groceries/docs")
        behind.page.wait_for_selector("a:has-text('milk')")
    with over_tls(room.server.settle) as server:
        safe = room.visit(server)
        safe.log_in()
        safe.go("#/")
        cookie = next(one for one in safe.context.cookies() if one["name"] == "AuthSession")
        expect(cookie["secure"] and cookie["httpOnly"], f"the cookie is {cookie}")


@contextlib.contextmanager
def over_tls(settle):
    """A server with a certificate of its own making."""
    with tempfile.TemporaryDirectory(prefix="settle-console-tls-") as folder:
        certificate, key = f"{folder}/cert.pem", f"{folder}/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        server = Server(settle, "--tls-cert", certificate, "--tls-key", key, scheme="https")
        try:
            yield server
        finally:
            server.close()


class Prefix:
    """A proxy that adds a prefix to the server's paths."""

    def __init__(self, server):
        import http.client
        import http.server
        import threading

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                fields = {name: value for name, value in self.headers.items() if name.lower() not in ("content-length",)}
                connection.request(self.command, self.path.removeprefix("/couch"), body or None, fields)
                answer = connection.getresponse()
                data = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = pass_on

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


SCENARIOS = [
    *[every_page(width, scheme) for width in (1440, 360) for scheme in ("light", "dark")], *MEMORY, *SLOW, an_endless_loop_ends,
    a_second_language, a_member_opens_a_database_by_name, nothing_is_harmed, two_save_one_document, a_session_ends_in_an_edit,
    three_leaves_are_settled_by_picks, all_policies_and_a_leaf_that_arrives, odd_conflicts, a_thousand_conflicts,
    validation_is_announced, a_document_is_checked, a_view_is_written_with_live_rows, a_replication_says_why, what_was_not_brought, ten_tabs_with_feeds, hostile_names, strict_and_behind_a_prefix,
    *NAMES, *PLACES, *STAYING, *FORMS, *ELSEWHERE, *WIDE, *DOCUMENTS, *INSPECTING, *EFFECTS, *LOOK, *PLAY, *DATA, *ADMIN, *FILES, *ADMINISTERING,
    *WORKING,
]

# What is also done in Firefox, and with the databases in PostgreSQL.
CORE = ["the_first_login", "a_member_opens_a_database_by_name", "three_leaves_are_settled_by_picks", "a_deletion_is_called_one", "attachments_are_picked_by_name",
        "a_query_tells_its_plan", "a_view_is_written_with_live_rows", "a_replication_of_this_server", "hostile_names", "keys_after_a_key"]


if __name__ == "__main__":
    running.main(SCENARIOS, CORE, documentation.take_pictures, __doc__)
