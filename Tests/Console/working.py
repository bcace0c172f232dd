"""Scenarios of working: a list of conflicts is worked off, messages report finished actions, which can be taken back, and an edit can be undone."""
import json
import urllib.error

from data import to_the_end
from room import expect, milk, revision

TOASTS = ".toasts"


def told(page, text):
    """The message in the corner that has a text."""
    message = page.locator(f"{TOASTS} > *", has_text=text)
    message.first.wait_for()
    return message.first


def is_gone(server, path):
    try:
        server.ask("GET", path)
    except urllib.error.HTTPError as error:
        return error.code == 404
    return False


def focused(page):
    return page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent")


def settle(page, position):
    page.wait_for_selector(f"main .head:has-text('{position}')")
    page.wait_for_selector(".act:not([disabled])")
    page.keyboard.press("Control+Enter")


def conflicts_are_worked_off(room):
    """From the list of conflicts each one has its place there and its neighbours; settling opens the next one, the last one the list."""
    server = room.server
    server.ask("PUT", "listed")
    server.store("listed", *milk("first"), *milk("second"), *milk("third"), *milk("fourth"))
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/listed/conflicts")
    page.get_by_role("link", name="fourth").click()
    page.wait_for_selector("main .head:has-text('2 of 4')")
    page.keyboard.press("[")
    page.wait_for_selector("h1:has-text('first')")
    page.wait_for_selector("main .head:has-text('1 of 4')")
    expect(page.get_by_role("button", name="Previous conflict").is_disabled(), "something is before the first one")
    page.keyboard.press("]")
    page.wait_for_selector("h1:has-text('fourth')")
    settle(page, "2 of 4")
    page.wait_for_selector("h1:has-text('second')")
    message = told(page, "Settled. 3 revisions were written")
    message.hover()
    page.wait_for_selector("main .head:has-text('2 of 3')")
    expect(server.json("GET", "listed/_conflicts/fourth")["conflict"] is False, "it is not settled")
    expect(visit.axe() == [], str(visit.axe()))

    # What was settled before can be taken back while the next one is shown; one of its leaves is chosen.
    message.get_by_role("button", name="Take back").click()
    page.locator("dialog select").select_option(index=1)
    expect(visit.axe() == [], str(visit.axe()))
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    expect(message.is_visible(), "the offer is gone, although nothing was written")
    message.get_by_role("button", name="Dismiss").click()
    settle(page, "2 of 3")
    page.wait_for_selector("h1:has-text('third')")
    told(page, "Settled.").get_by_role("button", name="Take back").click()
    page.locator("dialog select").select_option(index=1)
    page.get_by_role("button", name="Write it again").click()
    told(page, "is written again as 4-")
    expect(server.json("GET", "listed/second")["name"] == "Milk", "another leaf is written")
    page.get_by_role("link", name="Skip", exact=True).click()
    page.wait_for_selector("h1:has-text('Conflicts')")
    visit.settled()
    expect(page.locator("main tbody tr").count() == 2, "another number is left")

    # One that nobody took from the list stays; after Skip the list is worked off.
    server.store("listed", *milk("zebra"))
    visit.go("#/db/listed/conflict/first")
    settle(page, "1 of 3")
    page.wait_for_selector("main h2:has-text('This document is not in conflict')")
    told(page, "Settled.")
    page.get_by_role("link", name="Skip", exact=True).wait_for(state="hidden")
    page.get_by_role("button", name="Next conflict").click()
    page.wait_for_selector("h1:has-text('third')")
    page.wait_for_selector("main .head:has-text('1 of 2')")
    settle(page, "1 of 2")
    page.wait_for_selector("h1:has-text('zebra')")
    settle(page, "1 of 1")
    page.wait_for_selector("main .state:has-text('No conflicts')")
    server.ask("DELETE", "listed")


def what_is_done_is_told(room):
    """A message in the corner reports a finished action for six seconds, longer under the pointer or with the focus, and undoes a deletion; errors stand on the page."""
    server = room.server
    visit = room.visit(clock=True)
    visit.log_in()
    page = visit.page
    page.get_by_role("link", name="Databases", exact=True).first.click()
    page.get_by_role("button", name="New database").click()
    page.fill("dialog input", "told")
    page.keyboard.press("Enter")
    told(page, "Database “told” created")
    visit.later(7)
    page.wait_for_selector(f"{TOASTS} > *", state="detached")

    server.ask("PUT", "told/note", {"text": "kept", "_attachments": {"a.txt": {"content_type": "text/plain", "data": "aGk="}}})
    visit.go("#/db/told/doc/note")
    page.get_by_role("button", name="Delete").click()
    page.locator("dialog").get_by_role("button", name="Delete").click()
    message = told(page, "“note” deleted")
    page.wait_for_selector("h1:has-text('Documents')")
    expect(page.locator(TOASTS).get_attribute("role") == "status", "it is not read aloud")
    message.hover()
    visit.later(20)
    expect(message.is_visible(), "it goes while it is hovered")
    page.mouse.move(5, 5)
    message.get_by_role("button", name="Undo").focus()
    visit.later(20)
    expect(message.is_visible() and is_gone(server, "told/note"), "it goes while it has the focus")
    expect(visit.axe() == [], str(visit.axe()))
    page.keyboard.press("Enter")
    told(page, "“note” restored as 3-")
    page.wait_for_selector("h1:has-text('note')")
    expect(server.json("GET", "told/note")["text"] == "kept" and server.ask("GET", "told/note/a.txt") == "hi", "not all is restored")

    # An error is no message of the corner, and stays.
    page.get_by_role("button", name="Delete").click()
    page.locator("dialog").get_by_role("button", name="Delete").click()
    told(page, "“note” deleted")
    server.ask("PUT", "told/note", {"text": "somebody else’s"})
    page.keyboard.press("z")
    page.wait_for_selector("dialog .error")
    expect(page.locator(f"{TOASTS} .error").count() == 0, "an error is told in the corner")
    page.keyboard.press("Escape")
    expect(server.json("GET", "told/note")["text"] == "somebody else’s", "it is overwritten")

    visit.go("#/db/told/rights")
    page.get_by_label("Members: Names").fill("ben")
    place = page.get_by_role("heading", name="Check a user").bounding_box()
    page.get_by_role("button", name="Save").click()
    told(page, "Permissions saved")
    expect(page.get_by_role("heading", name="Check a user").bounding_box() == place, "something moves")
    visit.go("#/")
    page.click("button[aria-label='Delete told…']")
    page.fill("dialog input", "told")
    page.keyboard.press("Enter")
    told(page, "Database “told” deleted")


def a_leaf_is_deleted(room):
    """Deleting says what is deleted: a leaf that does not win, the winner, or of a conflict with a deletion the document, which can be undone."""
    server = room.server
    server.store("groceries", revision("coal", "1", {"n": 1}), revision("coal", "a1", {"n": "edited"}), revision("coal", "b1", {}, deleted=True))
    expect(server.json("GET", "groceries/_conflicts/coal")["kind"] == "deletion", "another kind of conflict")
    visit = room.visit()
    visit.log_in()
    page = visit.page

    def delete(where, said):
        visit.go(where)
        page.get_by_role("button", name="Delete").click()
        page.wait_for_selector("dialog:has-text('The deletion replicates')")
        text = page.locator("dialog p").inner_text()
        expect(said in text if said else "winner" not in text, text)
        page.locator("dialog").get_by_role("button", name="Delete").click()

    delete("#/groceries/doc/coal", None)
    message = told(page, "“coal” deleted")
    expect(is_gone(server, "groceries/coal"), "it is not deleted")
    message.get_by_role("button", name="Undo").click()
    told(page, "“coal” restored as ")
    expect(server.json("GET", "groceries/coal")["n"] == "edited", "it is not restored")

    server.store("groceries", *milk("cream"))
    before = server.json("GET", "groceries/cream?conflicts=true")
    delete(f"#/groceries/doc/cream?rev={before['_conflicts'][0]}", "does not win")
    message = told(page, "A losing edit of “cream” deleted; the winner stays as it is")
    expect(message.get_by_role("button", name="Undo").count() == 0, "what can't be undone is offered")
    now = server.json("GET", "groceries/cream?conflicts=true")
    expect(now["_rev"] == before["_rev"] and now["_conflicts"] == before["_conflicts"][1:], f"another leaf is deleted: {now}")
    delete("#/groceries/doc/cream", "another leaf becomes the winner")
    told(page, "The winning edit of “cream” deleted; another edit is the winner now")
    expect(server.json("GET", "groceries/cream")["_rev"] == before["_conflicts"][1], "another leaf is the winner")


def many_deletions_are_undone(room):
    """Documents that were deleted together come back with their contents and attachments; what can't is listed."""
    server = room.server
    server.ask("PUT", "undone")
    for number in range(5):
        server.ask("PUT", f"undone/d{number}", {"n": number, "_attachments": {"a.txt": {"content_type": "text/plain", "data": "aGk="}}})
    server.ask("POST", "undone", {"_id": ".", "n": 7})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/undone/docs")
    page.wait_for_selector("main tbody tr >> nth=5")
    page.get_by_label("Select all rows that are read").check()
    page.get_by_role("button", name="Delete…").click()
    page.locator("dialog").get_by_role("button", name="Delete 6 documents").click()
    message = told(page, "6 documents deleted.")
    page.wait_for_selector("main .state:has-text('No documents yet'), main h2:has-text('No documents yet')")
    server.ask("PUT", "undone/d3", {"n": "somebody else’s"})
    message.get_by_role("button", name="Undo").click()
    told(page, "5 documents restored.")
    page.wait_for_selector("main .refused li:has-text('d3')")
    page.wait_for_selector("main tbody tr >> nth=5")
    numbers = [row["doc"]["n"] for row in server.json("GET", "undone/_all_docs?include_docs=true")["rows"]]
    expect(numbers == [7, 0, 1, 2, "somebody else’s", 4] and server.ask("GET", "undone/d4/a.txt") == "hi", str(numbers))
    server.ask("DELETE", "undone")


def many_deletions_fail_midway(room):
    """If a later portion of many deletions or settings of a field fails, and the question is left, what was written is told, read again, and undone."""
    server = room.server
    server.ask("PUT", "midway")
    server.ask("POST", "midway/_bulk_docs", {"docs": [{"_id": f"d{number:03}", "n": number} for number in range(250)]})
    count = lambda: server.json("GET", "midway")["doc_count"]
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/midway/docs")
    to_the_end(visit)
    page.get_by_label("Select all rows that are read").check()
    page.wait_for_selector("text=250 selected")
    sent = []

    def fail_later(route):
        sent.append(route)
        if len(sent) % 2:
            route.continue_()
        else:
            route.fulfill(status=500, content_type="application/json", body=json.dumps({"error": "internal", "reason": "no more"}))

    page.route("**/midway/_bulk_docs", fail_later)
    page.get_by_role("button", name="Set a field").click()
    page.get_by_role("textbox", name="Field").fill("done")
    page.get_by_role("textbox", name="Value").fill("true")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .error:has-text('no more')")
    page.locator("dialog").get_by_role("button", name="Cancel").click()
    told(page, "200 documents written.")
    visit.settled()

    page.get_by_role("button", name="Delete…").click()
    page.locator("dialog").get_by_role("button", name="Delete 250 documents").click()
    page.wait_for_selector("dialog .error:has-text('no more')")
    page.locator("dialog").get_by_role("button", name="Cancel").click()
    message = told(page, "200 documents deleted.")
    message.hover()
    page.wait_for_selector("text=50 selected")
    page.wait_for_function("""() => {
      const list = document.querySelector('.key-list');
      if (list) list.scrollTop = 0;
      return list?.textContent.includes('d200') && !list.textContent.includes('d000');
    }""")
    expect(count() == 50, f"{count()} documents are left")
    page.unroute_all(behavior="ignoreErrors")
    message.get_by_role("button", name="Undo").click()
    told(page, "200 documents restored.")
    expect(count() == 250, f"{count()} documents are there")

    # One that is left before anything was written tells nothing.
    page.get_by_role("button", name="Delete…").click()
    page.locator("dialog").get_by_role("button", name="Cancel").click()
    page.wait_for_selector("dialog", state="detached")
    expect(page.locator(TOASTS, has_text="deleted").count() == 0, "what was left is told")
    server.ask("DELETE", "midway")


def undo_goes_back_beyond_a_save(room):
    """After a save Ctrl Z brings back the text from before, key by key, and it can be saved again; redo goes forward."""
    server = room.server
    server.ask("PUT", "undo")
    server.ask("PUT", "undo/note", {"text": "one", "n": 1000})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/undo/doc/note")
    area = page.get_by_label("The document", exact=True)
    area.wait_for()
    text = area.input_value()

    def write(after, word):
        area.focus()
        page.keyboard.press("Control+Home")
        place = area.input_value().index(after) + len(after)
        for _ in range(place):
            page.keyboard.press("ArrowRight")
        page.keyboard.type(word)

    write('"text": "one', " two")
    page.keyboard.press("Control+s")
    told(page, "Saved as 2-")
    visit.settled()
    expect(page.evaluate("document.activeElement.tagName") == "TEXTAREA", "the cursor is lost")
    page.keyboard.type(" three")
    expect('"one two three"' in area.input_value(), area.input_value())
    page.get_by_role("button", name="Save").click()
    told(page, "Saved as 3-")
    visit.settled()
    expect(focused(page).startswith("Save"), f"the focus is on {focused(page)}")
    expect(server.json("GET", "undo/note")["_rev"] in area.input_value(), "another revision stands in the text")
    page.wait_for_function("() => !window.onbeforeunload")

    area.focus()
    for _ in range(20):
        page.keyboard.press("Control+z")
    expect(json.loads(area.input_value())["text"] == "one", area.input_value())
    expect(area.input_value() == text, "it is not the text of the beginning")
    for _ in range(20):
        page.keyboard.press("Control+y")
    expect(json.loads(area.input_value())["text"] == "one two three", area.input_value())
    expect(server.json("GET", "undo/note")["_rev"] in area.input_value(), "the revision of redo is another one")
    page.keyboard.press("Control+z")
    expect(json.loads(area.input_value())["text"] != "one two three", "a step is seen by nobody")
    for _ in range(20):
        page.keyboard.press("Control+z")
    asked = []
    visit.on_dialog = lambda dialog: (asked.append(dialog.type), dialog.dismiss())
    page.get_by_role("link", name="Databases", exact=True).first.click()
    page.wait_for_timeout(100)
    expect(asked, "what was undone is no change")
    visit.on_dialog = lambda dialog: dialog.accept()
    page.keyboard.press("Control+s")
    told(page, "Saved as 4-")
    expect(server.json("GET", "undo/note")["text"] == "one", "something else is saved")

    # What somebody else has saved meanwhile is not overwritten by an earlier text.
    visit.settled()
    area.focus()
    rev = server.json("GET", "undo/note")["_rev"]
    server.ask("PUT", "undo/note", {"_rev": rev, "text": "somebody else’s"})
    for _ in range(4):
        page.keyboard.press("Control+z")
    page.keyboard.press("Control+s")
    page.wait_for_selector("h2:has-text('Somebody else has saved meanwhile')")
    expect(server.json("GET", "undo/note")["text"] == "somebody else’s", "it is overwritten")
    server.ask("DELETE", "undo")


def the_editor_on_a_telephone(room):
    """On a telephone the parts of a document are tabs, and Save stays in sight below, in the place of the bar."""
    server = room.server
    server.ask("PUT", "handy")
    doc = {"lines": [{"n": number} for number in range(60)], "_attachments": {"a.txt": {"content_type": "text/plain", "data": "aGk="}}}
    server.ask("PUT", "handy/note", doc)
    visit = room.visit(width=390, has_touch=True, is_mobile=True)
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.log_in()
    page = visit.page
    visit.go("#/db/handy/doc/note")
    area = page.get_by_label("The document", exact=True)
    area.wait_for()
    tabs = page.locator("main .seg.phone button")
    expect(tabs.all_inner_texts() == ["Document", "Revision history", "Attachments"], str(tabs.all_inner_texts()))
    expect(not page.locator(".bar").is_visible(), "the bar is there, too")
    save = page.get_by_role("button", name="Save")
    expect(save.count() == 1, f"{save.count()} buttons save")
    for share in (0, .5, 1):
        page.evaluate("share => { const main = document.querySelector('main'); main.scrollTop = share * main.scrollHeight; }", share)
        box = save.bounding_box()
        expect(box and 0 <= box["y"] and box["y"] + box["height"] <= 844 and box["height"] >= 44, f"at {share}: {box}")
    expect(all(tab.bounding_box()["height"] >= 44 for tab in tabs.all()), "a tab is too small")
    area.fill(area.input_value().replace('"n": 59', '"n": 590'))
    page.wait_for_selector(".dock:has-text('Unsaved changes')")
    tabs.nth(2).tap()
    page.locator("li:has-text('a.txt')").wait_for()
    expect(not area.is_visible() and not page.get_by_text("Older bodies are removed").is_visible(), "other parts are shown, too")
    expect(visit.axe() == [], str(visit.axe()))
    save.tap()
    told(page, "Saved as 2-")
    expect(page.locator("li:has-text('a.txt')").is_visible(), "another part is shown after saving")
    tabs.nth(1).tap()
    page.get_by_role("link", name="Compare").first.wait_for()
    tabs.nth(0).tap()
    area.fill("{")
    tabs.nth(1).tap()
    save.tap()
    page.wait_for_selector("p.bad:has-text('Line')")
    expect(area.is_visible(), "the mistake is in a part that is not shown")
    expect(visit.axe() == [], str(visit.axe()))
    server.ask("DELETE", "handy")


def long_texts_keep_the_inspector_small(room):
    """With texts of 300 kB the inspector stays within three heights of the screen, also while a text is opened; the dock stays in sight."""
    server = room.server
    lines = [f"{number}: what was seen on the round, and what was done about it" for number in range(5000)]
    changed = ["another beginning"] + lines[1:2500] + ["another middle"] + lines[2501:]
    server.ask("PUT", "long")
    server.store("long", revision("report", "1", {"text": "\n".join(lines), "n": 1}),
                 revision("report", "b1", {"text": "\n".join(changed), "n": 2}), revision("report", "a1", {"text": "\n".join(lines[:4000]), "n": 3}))
    for width, height in ((1440, 900), (390, 844)):
        visit = room.visit(width=width)
        visit.page.set_viewport_size({"width": width, "height": height})
        visit.log_in()
        page = visit.page
        visit.go("#/db/long/conflict/report")
        page.wait_for_selector(".dock strong")
        row = page.locator("tr[data-path='/text']")
        for place in (None, *range(row.locator("summary").count())):
            if place is not None:
                row.locator("summary").nth(place).click()
            page.wait_for_timeout(100)
            high = page.evaluate("document.querySelector('main').scrollHeight")
            expect(high <= 3 * height, f"{high} pixels at {width} with {place}")
            box = page.locator(".dock .act").bounding_box()
            expect(box and box["y"] + box["height"] <= height, f"at {width} with {place}: {box}")
            if place is not None:
                row.locator("summary").nth(place).click()
    server.ask("DELETE", "long")


WORKING = [conflicts_are_worked_off, what_is_done_is_told, a_leaf_is_deleted, many_deletions_are_undone, many_deletions_fail_midway,
           undo_goes_back_beyond_a_save, the_editor_on_a_telephone, long_texts_keep_the_inspector_small]
