"""Scenarios of a slow line, where each answer comes late: what is typed meanwhile stays, and what was asked last is shown."""
from inspecting import save_design
from play import begin_to_play
from room import expect, milk, revision
from staying import log_in_over_the_page

LATE = 400  # milliseconds


def typing_goes_on_while_it_is_saved(room):
    """On a slow line what is typed while a page saves stays: permissions, a design document, and both devices of the demonstration."""
    server = room.server
    server.ask("PUT", "shop")
    server.ask("PUT", "shop/_design/late", {"filters": {"big": "function (doc) { return doc.big; }"}, "validate_doc_update": "function () {}"})
    visit = room.visit(latency=LATE)
    visit.log_in()
    page = visit.page

    visit.go("#/db/shop/rights")
    page.get_by_label("Members: Names").fill("anna")
    page.get_by_role("button", name="Save").click()
    page.get_by_label("Members: Names").fill("ben")
    page.wait_for_selector(".toasts > :has-text('Permissions saved')")
    expect(page.get_by_label("Members: Names").input_value() == "ben", "what was typed is gone")
    expect(server.json("GET", "shop/_security")["members"]["names"] == ["anna"])
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("button:has-text('ben')")
    visit.settled()
    page.wait_for_function("() => document.querySelector('aside ul').textContent.includes('Nothing')")
    expect(server.json("GET", "shop/_security")["members"]["names"] == ["anna", "ben"])

    visit.go("#/db/shop/design/late")
    page.get_by_label("The filter function").fill("function () { return true; }")
    save_design(page, "No view is rebuilt")
    page.get_by_role("button", name="validation function", exact=True).click()
    page.get_by_role("button", name="Remove this validation function").click()
    # Longer than an answer takes.
    page.wait_for_timeout(2 * LATE)
    save_design(page, "No view is rebuilt")
    stored = server.json("GET", "shop/_design/late")
    expect(stored["filters"]["big"] == "function () { return true; }" and "validate_doc_update" not in stored, str(stored))

    visit.go("#/play")
    begin_to_play(visit)
    page.get_by_role("button", name="Play freely").press("Enter")
    anna, ben = (page.get_by_role("region", name=name) for name in ("Anna’s telephone", "Ben’s laptop"))
    for device, name in ((anna, "Bread"), (ben, "Salt")):
        device.get_by_label("Name").fill(name)
        device.get_by_role("button", name="Save").press("Enter")
    visit.settled()
    ben.get_by_label("Note", exact=True).fill("of the sea")
    visit.context.clear_cookies()
    anna.get_by_role("button", name="Save").press("Enter")
    log_in_over_the_page(page)
    visit.settled()
    expect(ben.get_by_label("Note", exact=True).input_value() == "of the sea", "a login has ended the demonstration")
    for device, name in ((anna, "anna"), (ben, "ben")):
        database = device.locator("a").first.inner_text()
        expect(server.json("GET", f"{database}/item")["name"] == {"anna": "Bread", "ben": "Salt"}[name], f"{name} has not saved")
    page.get_by_role("button", name="Delete 3 databases").press("Enter")
    page.wait_for_selector("text=3 databases deleted.")


def revisions(server, where):
    """The generation of a document."""
    return int(server.json("GET", where)["_rev"].split("-")[0])


def what_was_asked_last_is_shown(room):
    """On a slow line the last choice and the last search are shown, buttons wait for what they are about, and a list goes on being read."""
    server = room.server
    server.ask("PUT", "listed")
    server.store("listed", *milk("edited"), revision("gone", "1", {"n": 1}), revision("gone", "c1", {"n": 2}), revision("gone", "d1", {}, deleted=True))
    visit = room.visit(latency=LATE)
    visit.log_in()
    page = visit.page

    visit.go("#/db/listed/conflicts")
    kind = page.get_by_label("Kind")
    kind.select_option("branches")
    kind.select_option("deletions")
    visit.settled()
    expect(page.locator("main tbody th").all_inner_texts() == ["gone"], str(page.locator("main tbody th").all_inner_texts()))

    # The place of a list that was left does not become that of the next one.
    server.ask("PUT", "long")
    server.ask("POST", "long/_bulk_docs", {"docs": [{"_id": f"doc-{number:04}"} for number in range(1000)]})
    visit.go("#/db/long/docs?from=doc-0500")
    page.wait_for_selector("tbody tr:first-child:has-text('doc-0500')")
    page.evaluate("document.querySelector('.key-list').scrollTop = 40")
    page.get_by_label("Search").fill("doc-0042")
    page.keyboard.press("Enter")
    page.wait_for_selector("tbody tr:first-child:has-text('doc-0042')")

    visit.page.goto(visit.root + "#/db/listed/doc/edited")
    page.wait_for_selector("h1:has-text('edited')")
    expect(page.get_by_role("button", name="Delete…").is_disabled(), "a document can be deleted before it is read")
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Delete…").click()
    page.locator("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_selector("h1:has-text('Documents')")

    # Settling many: what was rehearsed by another policy can't be run.
    visit.go("#/db/listed/settle")
    page.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_label("Kind").is_disabled() and page.locator(".ways input").first.is_disabled(), "the choice can change under a rehearsal")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Done: 1 of 1")
    page.get_by_role("button", name="Run…").wait_for()
    page.locator(".ways input:not(:checked)").first.check()
    expect(page.get_by_role("button", name="Run…").count() == 0, "what was rehearsed by another policy can be run")

    # A page that reads again does so although an answer takes longer than it waits.
    slow = room.visit(latency=LATE, clock=True)
    slow.log_in()
    slow.go("#/replications")
    nobody = "http://127.0.0.1:9/x"
    server.ask("PUT", "_replicator/fails", {"source": nobody, "target": nobody + "y", "continuous": True})
    for _ in range(20):
        slow.later(6)
        slow.page.wait_for_timeout(LATE / 3)
    slow.page.wait_for_selector("main a:has-text('fails')")
    server.remove("_replicator/fails")


def what_was_sent_is_waited_for(room):
    """On a slow line leaving a dialog or its page waits for the answer to what was sent, two presses do one thing, and attachments follow each other."""
    server = room.server
    server.ask("PUT", "long")
    server.ask("POST", "long/_bulk_docs", {"docs": [{"_id": f"doc-{number:04}"} for number in range(1000)]})
    visit = room.visit(latency=LATE)
    visit.log_in()
    page = visit.page

    visit.go("#/")
    page.get_by_role("button", name="New database").click()
    page.fill("dialog input", "made-late")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[aria-busy=true]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector(".toasts > :has-text('made-late')")

    # Leaving the page by the browser's button waits, too; a deletion of many ends after the portion that was sent.
    visit.go("#/db/long/docs")
    page.locator("thead input[type=checkbox]").check()
    while page.get_by_role("button", name="More").is_visible():
        page.get_by_role("button", name="More").click()
        visit.settled()
    page.locator("thead input[type=checkbox]").check()
    page.get_by_role("button", name="Delete…", exact=True).dblclick()
    page.wait_for_selector("dialog")
    visit.settled()
    expect(page.locator("dialog").count() == 1, "it asks twice")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[aria-busy=true]")
    page.go_back()
    page.wait_for_selector("dialog", state="detached")
    page.get_by_role("button", name="Undo").wait_for()
    left = server.json("GET", "long")["doc_count"]
    expect(0 < left < 1000, f"{left} documents are left")
    page.wait_for_timeout(3 * LATE)
    expect(server.json("GET", "long")["doc_count"] == left, "it goes on after it was left")
    server.ask("PUT", "long/doc-0001", {"n": 0})

    # One press is one revision.
    visit.go("#/db/long/doc/doc-0001")
    area = page.get_by_label("The document", exact=True)
    before = revisions(server, "long/doc-0001")
    area.fill(area.input_value().replace('"n": 0', '"n": 1'))
    page.keyboard.press("Control+s")
    page.keyboard.press("Control+s")
    page.wait_for_selector(".toasts > :has-text('Saved as')")
    page.wait_for_timeout(3 * LATE)
    expect(server.json("GET", "long/doc-0001")["n"] == 1 and revisions(server, "long/doc-0001") == 1 + before, "it is saved twice")

    # What is attached or removed follows what was written just before.
    for name in ("one.txt", "two.txt"):
        page.get_by_label("Attach files").set_input_files({"name": name, "mimeType": "text/plain", "buffer": name.encode()})
        page.wait_for_selector(f"aside li:has-text('{name}')")
    visit.settled()
    for name in ("one.txt", "two.txt"):
        page.get_by_role("button", name=f"Remove {name}").click()
        page.locator("dialog").get_by_role("button", name="Remove").click()
        page.wait_for_selector("dialog", state="detached")
    visit.settled()
    expect("_attachments" not in server.json("GET", "long/doc-0001"), "an attachment is left")


def files_are_sent_one_by_one(room):
    """An error names its file, two files of one name are not one without a question, leaving asks, and the focus stays where the work is."""
    server = room.server
    server.ask("PUT", "papers")
    server.ask("PUT", "papers/one", {})
    server.store("papers", *milk("torn"))
    visit = room.visit(latency=LATE)
    visit.log_in()
    page = visit.page
    visit.go("#/db/papers/doc/one")
    chooser = page.get_by_label("Attach files")

    def send(*names):
        chooser.press("Shift")
        chooser.set_input_files([{"name": name, "mimeType": "text/plain", "buffer": name.encode()} for name in names])

    def focused():
        return page.evaluate("document.activeElement.outerHTML")

    send("good.txt", "_bad.txt", "late.txt")
    page.wait_for_selector("main [role=alert]:has-text('_bad.txt: ')")
    for name in ("good.txt", "late.txt"):
        page.wait_for_selector(f"aside li:has-text('{name}')")
    visit.settled()
    expect("file" in focused(), focused())

    send("same.txt", "same.txt")
    page.get_by_role("button", name="Replace", exact=True).click()
    page.wait_for_selector("aside li:has-text('same.txt')")
    visit.settled()
    expect(revisions(server, "papers/one") == 5, "a file was not replaced by the other one")

    asked = []
    answers = ["dismiss", "accept"]
    visit.on_dialog = lambda dialog: (asked.append(dialog.message), getattr(dialog, answers[len(asked) - 1])())
    send(*(f"{number}.txt" for number in range(20)))
    for _ in answers:
        page.wait_for_selector("aside:has-text('Sending')")
        page.evaluate("location.hash = '#/db/papers/docs'")
        page.wait_for_timeout(LATE)
    page.wait_for_selector("h1:has-text('Documents')")
    expect(asked == ["Files are being sent. Leave the page?"] * 2, str(asked))
    page.wait_for_timeout(3 * LATE)
    sent = len(server.json("GET", "papers/one")["_attachments"])
    expect(3 < sent < 20, f"{sent} attachments")

    visit.go("#/db/papers/conflict/torn")
    visit.settled()
    page.locator(".dock .act").press("Enter")
    page.wait_for_selector(".toasts > :has-text('Settled')")
    visit.settled()
    expect("<body" not in focused(), "the focus is lost")


SLOW = [typing_goes_on_while_it_is_saved, what_was_asked_last_is_shown, what_was_sent_is_waited_for, files_are_sent_one_by_one]
