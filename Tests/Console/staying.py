"""Scenarios of pages that read again by themselves: what a person has chosen stays, and an ended session is told."""
import datetime
import time
from urllib.parse import quote

from room import PASSWORD, Server, expect, named, until, with_password


def log_in_over_the_page(page):
    page.wait_for_selector("dialog[open]:has-text('Log in')")
    page.fill("dialog input[autocomplete=username]", "anna")
    page.fill("dialog input[type=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")


# Longer than a page waits before it reads again.
AGAIN = 11


def read_again(visit, times, part):
    """Lets time pass until the page has read something again by itself, and shown it."""
    for _ in range(times):
        with visit.page.expect_response(lambda answer: part in answer.url):
            visit.later(AGAIN)
        visit.settled()


def in_time(visit, selector, state="visible"):
    """Lets time pass until the page shows what came meanwhile."""
    deadline = time.monotonic() + 30
    shown = visit.page.locator(selector).first
    while shown.is_visible() != (state == "visible"):
        expect(time.monotonic() < deadline, f"{selector} is not {state} in time")
        visit.later(AGAIN)
        visit.page.wait_for_timeout(50)


def focus_and_selection_stay(room):
    """Six pages are read again, or get what is new; the focus and what is selected there stay."""
    server = room.server
    nobody = "http://127.0.0.1:9/x"
    server.ask("PUT", "_replicator/fails", {"source": nobody, "target": nobody + "y", "continuous": True})
    visit = room.visit(clock=True)
    visit.log_in()
    page = visit.page
    focused = "document.activeElement.textContent"
    visit.go("#/replications")
    in_time(visit, "td:has-text('nobody answers')")
    page.focus(named("fails"))
    page.evaluate("getSelection().selectAllChildren([...document.querySelectorAll('td')].find(cell => cell.textContent.includes('nobody answers')).querySelector('bdi'))")
    chosen = page.evaluate("String(getSelection())")
    expect("nobody answers" in chosen, chosen)
    server.ask("PUT", "_replicator/before", {"source": nobody, "target": nobody + "z", "continuous": True})
    in_time(visit, named("before"))
    read_again(visit, 1, "_scheduler/docs")
    expect(page.evaluate(focused) == "fails", "the focus is lost")
    expect(page.evaluate("String(getSelection())") == chosen, "the selection is lost")

    visit.go("#/replication/" + quote("_replicator/fails", safe=""))
    in_time(visit, "dd:has-text('nobody answers')")
    page.evaluate("getSelection().selectAllChildren([...document.querySelectorAll('dd')].find(one => one.textContent.includes('nobody answers')))")
    chosen = page.evaluate("String(getSelection())")
    read_again(visit, 3, "_scheduler/docs")
    expect(page.evaluate("String(getSelection())") == chosen != "", "the selection is lost")

    visit.go("#/activity")
    page.wait_for_selector("li:has-text('replication')")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('main li strong'))")
    read_again(visit, 3, "_active_tasks")
    expect(page.evaluate("String(getSelection())").strip() == "replication", "the selection is lost")

    visit.go("#/server")
    page.wait_for_selector("main .tiles strong")
    page.locator("main summary").last.focus()
    focus = page.evaluate(focused)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('main .tiles strong').closest('figcaption'))")
    # The words of the tile: its value changes.
    chosen = page.evaluate("String(getSelection())").split()[0]
    read_again(visit, 3, "_stats")
    expect(page.evaluate(focused) == focus, "the focus is lost")
    now = page.evaluate("String(getSelection())")
    expect(now.split()[:1] == [chosen], f"“{chosen}” was selected, and “{now}” is")

    visit.go("#/db/groceries/changes")
    page.wait_for_selector("text=● live")
    page.locator("main li summary").nth(2).focus()
    focus = page.evaluate(focused)
    page.evaluate("getSelection().selectAllChildren(document.querySelectorAll('main li summary bdi')[3])")
    chosen = page.evaluate("String(getSelection())")
    for number in range(3):
        server.ask("PUT", f"groceries/arrived-{number}", {"n": number})
    page.wait_for_function("() => document.querySelector('main').textContent.includes('arrived-2') || document.querySelector('.arrivals button')")
    expect(page.evaluate(focused) == focus, "the focus is lost")
    expect(page.evaluate("String(getSelection())") == chosen != "", "the selection is lost")

    visit.go("#/")
    page.focus(named("groceries"))
    server.ask("PUT", "earlier")
    in_time(visit, named("earlier"))
    expect(page.evaluate(focused) == "groceries", "the focus is lost")
    page.focus("button[aria-label='Delete earlier…']")
    server.ask("DELETE", "earlier")
    in_time(visit, named("earlier"), state="gone")
    expect(page.evaluate("document.activeElement.closest('tr') !== null"), "the focus does not go to the next row")
    for name in ("fails", "before"):
        server.remove(f"_replicator/{name}")


def a_speed_needs_time(room):
    """A replication that is read twice in one moment shows no speed yet, and after an outage shows none for what was written before it."""
    server, target = room.server, Server(room.server.settle)
    target.ask("PUT", "copy")
    server.ask("PUT", "leaving")
    server.ask("POST", "leaving/_bulk_docs", {"docs": [{} for _ in range(50)]})
    server.ask("PUT", "_replicator/away", {"source": with_password(server) + "leaving", "target": with_password(target) + "copy", "continuous": True})

    def written():
        return (server.json("GET", "_scheduler/docs/_replicator/away").get("info") or {}).get("docs_written")

    until(lambda: target.json("GET", "copy")["doc_count"] == 50 and written() == 50, "nothing is replicated")
    visit = room.visit(clock=True)
    visit.log_in()
    visit.page.clock.pause_at(datetime.datetime.now() + datetime.timedelta(hours=1))
    visit.go("#/replication/" + quote("_replicator/away", safe=""))
    # What the document says comes after the state, which is read anew then.
    visit.page.wait_for_selector("dd:has-text('continuous')")
    line = visit.page.locator("main figure polyline")
    expect(line.get_attribute("points") is None, line.get_attribute("points"))
    read_again(visit, 2, "_scheduler/docs")
    target.kill()
    server.ask("PUT", "leaving/late", {})
    until(lambda: written() is None, "the outage is not noticed")
    read_again(visit, 1, "_scheduler/docs")
    target.start(target.port)
    until(lambda: written() == 51, "the replication does not go on")
    read_again(visit, 1, "_scheduler/docs")
    points = line.get_attribute("points").split()
    speed = visit.page.locator("main figure:has(polyline) strong").text_content()
    expect(len(points) == 3 and speed == "0.0", f"{speed} documents a second: {points}")
    server.remove("_replicator/away")
    server.ask("DELETE", "leaving")
    target.close()


def a_session_ends_on_each_page(room):
    """A session ends: each page asks for a login in place, also those that only read again by themselves, and goes on."""
    visit = room.visit(clock=True)
    visit.log_in()
    page = visit.page
    for where, there in (("#/replications", "New replication"), ("#/replication/_replicator%2Fnone", "Documents per second"), ("#/activity", "Activity"), ("#/server", "Settings"), ("#/", "groceries")):
        visit.go(where)
        page.wait_for_selector(f"main >> text={there}")
        visit.context.clear_cookies()
        in_time(visit, "dialog[open]")
        log_in_over_the_page(page)
        page.wait_for_selector("header .user:has-text('anna')")
        visit.settled()
        expect(page.locator("main .error:has-text('unauthorized')").count() == 0, f"{where}: {page.inner_text('main')}")
    visit.go("#/db/groceries/journal")
    visit.context.clear_cookies()
    page.get_by_role("button", name="Refresh").click()
    log_in_over_the_page(page)
    page.wait_for_selector("text=keeps no journal")
    # One that nobody fills in is asked for once, and not while another page is read.
    visit.go("#/activity")
    visit.context.clear_cookies()
    in_time(visit, "dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector(".error:has-text('unauthorized')")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "_active_tasks" in request.url else None)
    for _ in range(3):
        visit.later(AGAIN)
        page.wait_for_timeout(100)
    expect(not asked and page.locator("dialog[open]").count() == 0, f"it asks again: {asked}")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("dialog[open]")
    page.evaluate("location.hash = '#/login'")
    page.wait_for_selector("h1:has-text('Log in')")
    expect(page.locator("dialog[open]").count() == 0, "the dialog lies over the page")


def the_first_login(room):
    """Who logs in over the first page can create and delete databases there."""
    visit = room.visit()
    page = visit.page
    page.goto(visit.root)
    log_in_over_the_page(page)
    page.wait_for_selector("button[aria-label='Delete groceries…']")
    page.get_by_role("button", name="New database").click()
    page.fill("dialog input", "made-first")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Documents')")
    room.server.ask("DELETE", "made-first")


def changes_say_what_changed(room):
    """A row of the changes opens to the members that this edit changed, also of a deletion and of an id with a dot."""
    server = room.server
    server.ask("PUT", "edited")
    for identifier, first in (("note", {"a": 1, "b": "x", "gone": True}), (".", {"a": 1})):
        rev = server.json("POST", "edited", {"_id": identifier} | first)["rev"]
        server.json("POST", "edited", {"_id": identifier, "_rev": rev, "a": 2, "b": "x", "new": [1]})
    rev = server.json("PUT", "edited/dropped", {"a": 1})["rev"]
    server.ask("DELETE", f"edited/dropped?rev={rev}")
    server.ask("PUT", "edited/fresh", {"a": 1})
    server.store("edited", {"_id": "alone", "_revisions": {"start": 2, "ids": ["b" * 32, "a" * 32]}, "a": 1})
    visit = room.visit()
    visit.log_in()
    visit.go("#/db/edited/changes")
    wanted = {"note": ["~ /a 1 → 2", "− /gone true → ", "+ /new [1]"], ".": ["~ /a 1 → 2", "+ /b \"x\"", "+ /new [1]"],
              "dropped": ["− /a 1 → ", "+ /_deleted true"], "fresh": ["+ /a 1"], "alone": []}
    for identifier, members in wanted.items():
        row = visit.page.locator(f"li:has(> details > summary bdi:text-is('{identifier}'))")
        row.locator("summary").click()
        row.locator("a:has-text('To the document')").wait_for()
        told = [one.inner_text() for one in row.locator("li").all()]
        expect(sorted(one.strip() for one in told) == sorted(one.strip() for one in members), f"{identifier}: {told}")
    expect("not kept any more" in visit.page.inner_text("li:has(bdi:text-is('alone'))"), "nothing is said of a body that is gone")


def a_feed_is_opened_again(room):
    """The server restarts: the feed says that it is lost, opens again by itself, and shows what came meanwhile."""
    visit = room.visit()
    visit.log_in()
    visit.go("#/db/groceries/changes")
    page = visit.page
    page.wait_for_selector("text=● live")
    port = room.server.port
    room.server.kill()
    page.wait_for_selector("text=the connection is lost")
    room.server.start(port)
    room.server.ask("PUT", "groceries/came-meanwhile", {"n": 1})
    page.wait_for_selector("li:has-text('came-meanwhile')", timeout=60_000)
    page.wait_for_selector("text=● live")
    expect(page.locator("main .error").count() == 0, "an error is left")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector("[role=status]:has-text('paused')")


STAYING = [focus_and_selection_stay, a_speed_needs_time, a_session_ends_on_each_page, the_first_login, changes_say_what_changed, a_feed_is_opened_again]
