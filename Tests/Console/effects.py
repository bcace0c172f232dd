"""Scenarios of what the inspector says a settlement does: it is what the server says, and what is written then."""
import base64
import hashlib
import json
import urllib.error

from room import choose_policy, expect, milk, revision

LOST = "section[aria-label='What will be lost']"


def eight(identifier):
    """Seven edits and a deletion; members of `checklist` differ in the last ones alone."""
    base = {"rpm": 1200, "owner": "ann", "note": "?", "checklist": {"oil": False, "noise": False}}
    changes = [{"rpm": 1230}, {"owner": "ben"}, {"note": "loud"}, {"rpm": 1240}, {"checklist": {"oil": True, "noise": False}},
               {"checklist": {"oil": False, "noise": "high"}}, {"checklist": {"oil": False, "noise": "low"}}]
    return [revision(identifier, "1", base), *[revision(identifier, f"{digit}1", base | change) for digit, change in zip("fedcba9", changes)],
            revision(identifier, "81", {}, deleted=True)]


def open_conflict(room, database, identifier, **options):
    visit = room.visit(**options)
    visit.log_in()
    visit.go(f"#/{database}/conflict/{identifier}")
    visit.page.wait_for_selector(".dock strong")
    return visit


def choose(visit, policy):
    choose_policy(visit.page, policy)
    visit.settled()


def shown_rows(visit):
    """The path and the result of each row."""
    return [(row.get_attribute("data-path"), row.query_selector("td.result .v").inner_text().strip()) for row in visit.page.query_selector_all("tbody tr[data-path]")]


def rehearsed(room, database, identifier, **request):
    """The effect that the server tells of a request."""
    leaves = [leaf["rev"] for leaf in room.server.json("GET", f"{database}/_conflicts/{identifier}?docs=false&tree=none")["leaves"]]
    return room.server.json("POST", f"{database}/_settle/{identifier}", {"leaves": leaves, "dry_run": True, **request})["effect"]


def is_as_told(visit, effect, what):
    """The page shows the rows, the results and the losses of an effect, and no others."""
    rows = shown_rows(visit)
    told = {row["path"]: row for row in effect["rows"]}
    expect(sorted(path for path, _ in rows) == sorted(told), f"{what}: {rows}")
    for path, shown in rows:
        row = told[path]
        if effect["outcome"] == "deletes":
            expected = "deleted"
        elif "result" not in row:
            expected = "—"
        else:
            expected = json.dumps(row["result"], ensure_ascii=False, separators=(",", ":"))
        expect(shown == expected, f"{what}, {path}: {shown} and not {expected}")
    lost = visit.page.inner_text(LOST)
    expect(visit.page.locator(f"{LOST} li").count() == len(effect["lost"]), f"{what}: {lost}")
    expect(("Nothing." in lost) == (effect["lost_count"] == 0), f"{what}: {lost}")
    for entry in effect["lost"]:
        expect(entry["path"] in lost, f"{what}: {entry} is not in {lost}")


def each_choice_is_told_as_the_server_does(room):
    """For each policy, each leaf and a deletion the page shows the rows and losses of the server's answer, and no others."""
    server = room.server
    server.ask("PUT", "told")
    server.store("told", *milk("milk"))
    visit = open_conflict(room, "told", "milk")
    policies = server.json("GET", "told/_conflicts/milk?policies=true&docs=false&tree=none")["policies"]
    for policy in [one for one in policies if one["settles"]]:
        choose(visit, policy["name"])
        is_as_told(visit, policy["effect"], policy["name"])
    leaves = [leaf["rev"] for leaf in server.json("GET", "told/_conflicts/milk?docs=false&tree=none")["leaves"]]
    for name, leaf in zip("ABC", leaves):
        visit.page.locator(".dock").get_by_role("button", name=f"Keep {name}", exact=True).click()
        visit.settled()
        is_as_told(visit, rehearsed(room, "told", "milk", keep=leaf), f"keep {name}")
        expect(visit.page.inner_text(".act") == f"Keep {name}, close the others", visit.page.inner_text(".act"))
    visit.page.click(".dock button:text-is('Delete')")
    visit.settled()
    is_as_told(visit, rehearsed(room, "told", "milk", delete=True), "delete")
    expect(visit.axe() == [], str(visit.axe()))


def a_deletion_is_called_one(room):
    """A policy that deletes a document with seven edits says so, lists what is lost, and its button names the deed."""
    server = room.server
    server.ask("PUT", "eight")
    server.store("eight", *eight("note"))
    visit = open_conflict(room, "eight", "note")
    for policy in ("deletesWin", "latestDocumentWins"):
        choose(visit, policy)
        lost = visit.page.inner_text(LOST)
        expect("the whole document" in lost and "/rpm 1230" in lost and "Nothing" not in lost, lost)
        expect("deletes the document" in visit.page.inner_text(".dock strong.bad"), "the dock does not say it")
        expect({shown for _, shown in shown_rows(visit)} == {"deleted"}, str(shown_rows(visit)))
        expect(visit.page.inner_text(".act") == "Delete the document", visit.page.inner_text(".act"))
        row = visit.page.locator(f"[data-policy='{policy}']").inner_text()
        expect("deletes the document" in row, row)
    visit.page.click(".act")
    visit.page.wait_for_selector("text=Settled.")
    try:
        server.ask("GET", "eight/note")
        raise AssertionError("the document is still there")
    except urllib.error.HTTPError as error:
        expect(error.code == 404, str(error))


def joined_values_are_not_lost(room):
    """What sum and union have joined is in no list of losses; a value that a rule leaves out is."""
    room.server.ask("PUT", "joined")
    room.server.store("joined", *milk("milk"))
    visit = open_conflict(room, "joined", "milk")
    for place, rule in (("/count", "sum"), ("/tags", "union")):
        visit.page.get_by_label("Field of a rule").fill(place)
        visit.page.get_by_label("Rule", exact=True).select_option(rule)
        visit.page.get_by_label("Field of a rule").press("Enter")
        visit.page.wait_for_selector(f"button:has-text('{place} {rule}')")
        visit.settled()
    lost = visit.page.inner_text(LOST)
    expect("/count" not in lost and "/tags" not in lost and '"Soy milk"' in lost, lost)
    policy = {"name": "threeWayMerge", "rules": {"/count": "sum", "/tags": "union"}}
    is_as_told(visit, rehearsed(room, "joined", "milk", policy=policy), "sum and union")
    expect(("/count", "4") in shown_rows(visit), str(shown_rows(visit)))


def removals_and_deletions_are_listed(room):
    """A removal that is overruled and a deletion that is overruled are lost, and are said to be."""
    server = room.server
    server.ask("PUT", "removals")
    server.store("removals", *milk("milk"), revision("tea", "1", {"name": "Tea"}), revision("tea", "c1", {"name": "Green tea"}),
                 revision("tea", "d1", {}, deleted=True))
    visit = open_conflict(room, "removals", "milk")
    choose(visit, "mostRevisions")
    expect("the removal of /note" in visit.page.inner_text(LOST), visit.page.inner_text(LOST))
    visit.go("#/removals/conflict/tea")
    visit.page.wait_for_selector(".dock strong:has-text('keeps A')")
    expect("the deletion of the document" in visit.page.inner_text(LOST), visit.page.inner_text(LOST))
    visit.page.click(".act")
    visit.page.wait_for_selector("text=Settled.")
    expect(server.json("GET", "removals/tea")["name"] == "Green tea", "the edit is not kept")
    expect(server.json("GET", "removals/_conflicts?kind=all&limit=0")["total_rows"] == 1, "the conflict is still there")


def every_member_that_is_decided_has_a_row(room):
    """Of seven edits each member that one of them has changed has a row with all its values, and can be picked."""
    server = room.server
    server.ask("PUT", "rows")
    server.store("rows", *eight("note")[:-1])
    visit = open_conflict(room, "rows", "note")
    paths = [path for path, _ in shown_rows(visit)]
    expect(sorted(paths) == ["/checklist/noise", "/checklist/oil", "/note", "/owner", "/rpm"], str(paths))
    row = visit.page.locator("tr[data-path='/checklist/noise']")
    expect(row.locator("[role=radiogroup] input").count() == 3, row.inner_text())
    expect("clash" in row.get_attribute("class"), row.get_attribute("class"))
    row.locator("[role=radiogroup] label").nth(2).click()
    visit.page.wait_for_selector("tr[data-path='/checklist/noise']:has-text('picked by you')")
    visit.settled()
    expect(dict(shown_rows(visit))["/checklist/noise"] == '"low"', str(shown_rows(visit)))
    expect("high" in visit.page.inner_text(LOST) and "low" not in visit.page.inner_text(LOST), visit.page.inner_text(LOST))
    visit.page.get_by_label("Leaf to keep").select_option(index=6)
    visit.page.click(".dock button:text-is('Keep this leaf')")
    visit.page.wait_for_selector(".dock strong:has-text('keeps G')")
    expect(visit.axe() == [], str(visit.axe()))


def attachments_are_picked_by_name(room):
    """Two photos of one name are one row with pictures; a pick takes the whole file, and settling writes it."""
    pixel = b"GIF89a\x01\x00\x01\x00\x80\x00\x00%s\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
    def photo(color):
        return {"n": 1, "_attachments": {"a photo.gif": {"content_type": "image/gif", "data": base64.b64encode(pixel % color).decode()}}}
    server = room.server
    server.ask("PUT", "photos")
    server.store("photos", revision("wall", "1", photo(b"aaa")), revision("wall", "b1", photo(b"bbb")), revision("wall", "a1", photo(b"ccc")))
    visit = open_conflict(room, "photos", "wall")
    row = visit.page.locator("tr[data-path='/_attachments/a photo.gif']")
    expect(visit.page.locator("tr[data-path]").count() == 1 and row.locator("img").count() == 2, row.inner_text())
    expect("the attachment a photo.gif" in visit.page.inner_text(LOST), visit.page.inner_text(LOST))
    row.locator("td label").nth(2).click()
    visit.page.wait_for_selector("tr:has-text('picked by you')")
    visit.page.wait_for_selector(".act:not([disabled])")
    expect(visit.page.locator(".error").count() == 0, "the pick is refused")
    visit.page.click(".act")
    visit.page.wait_for_selector("text=Settled.")
    digest = "md5-" + base64.b64encode(hashlib.md5(pixel % b"ccc").digest()).decode()
    expect(server.json("GET", "photos/wall")["_attachments"]["a photo.gif"]["digest"] == digest, "another photo is stored")


def origins_are_not_guessed(room):
    """Of a leaf that came by replication nothing says that it was made here."""
    server = room.server
    server.ask("PUT", "came")
    server.store("came", *milk("milk"))
    visit = open_conflict(room, "came", "milk")
    expect("made here" not in visit.page.inner_text("main"), "an origin is guessed")


def policies_that_can_not_run_are_not_offered(room):
    """Policies that do not decide a deletion against an edit are not offered, with the reason; a leaf is kept at first."""
    visit = open_conflict(room, "groceries", "tea")
    offered = [one.get_attribute("value") for one in visit.page.locator(".ways input").all()]
    expect("threeWayMerge" not in offered and "mostRevisions" not in offered and "deletesWin" in offered, str(offered))
    visit.page.get_by_text("policies do not apply").click()
    row = visit.page.locator("[data-policy='threeWayMerge']")
    expect(row.locator("input").count() == 0 and "deletesWin" in row.inner_text(), row.inner_text())
    expect(visit.page.is_disabled(".dock button:text-is('Merge')"), "a merge is offered")
    expect("keeps A" in visit.page.inner_text(".dock strong"), visit.page.inner_text(".dock"))


def the_choices_are_always_in_sight(room):
    """Merge, keep and delete are in sight wherever the page is scrolled, on a screen and on a telephone, there in German, too."""
    room.server.ask("PUT", "sight")
    room.server.store("sight", *milk("milk"))
    english = ("Merge", "Keep A", "Delete")
    for language, labels, width, height in (("en-US", english, 1440, 900), ("en-US", english, 390, 844),
                                            ("de-DE", ("Zusammenführen", "Behalten: A", "Löschen"), 390, 844)):
        visit = open_conflict(room, "sight", "milk", width=width, language=language)
        visit.page.set_viewport_size({"width": width, "height": height})
        for share in (0, .5, 1):
            visit.page.evaluate("share => { const main = document.querySelector('main'); main.scrollTop = share * main.scrollHeight; }", share)
            for label in labels:
                box = visit.page.locator(".dock").get_by_role("button", name=label, exact=True).bounding_box()
                expect(box and 0 <= box["y"] and box["y"] + box["height"] <= height, f"{label} at {width}, {share}: {box}")
        buttons = visit.page.locator(".dock button, .dock a").all()
        expect(len(buttons) == 7, f"{len(buttons)} buttons")
        for one in buttons:
            box = one.bounding_box()
            expect(0 <= box["x"] and box["x"] + box["width"] <= width, f"{one.inner_text()} at {width} in {language}: {box}")


def many_are_deleted_only_after_a_second_question(room):
    """Settle many counts what is merged, kept and deleted; deletions are never ticked by themselves, and are asked about again."""
    server = room.server
    server.ask("PUT", "mixed")
    docs = []
    for number in range(12):
        docs += [revision(f"d{number:02}", "1", {"n": 0}), revision(f"d{number:02}", "b1", {"n": 1}), revision(f"d{number:02}", "a1", {}, deleted=True)]
    docs += [revision("kept", "1", {"n": 0}), revision("kept", "b1", {"n": 1}), revision("kept", "a1", {"n": 2})]
    server.ask("POST", "mixed/_bulk_docs", {"docs": docs, "new_edits": False})
    visit = room.visit()
    visit.log_in()
    visit.go("#/mixed/settle?kind=all")
    page = visit.page
    choose_policy(page, "deletesWin")
    page.get_by_role("button", name="Rehearse").click()
    page.wait_for_selector("text=Done: 13 of 13")
    expect(page.inner_text(".counts") == "0 merged, 1 kept as one leaf, 12 deleted", page.inner_text(".counts"))
    expect(not page.is_checked("[data-group=deleted] input") and page.is_checked("[data-group=kept] input"), "deletions are ticked")
    page.check("[data-group=deleted] input")
    page.get_by_role("button", name="Run…").click()
    page.fill("dialog input", "13")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog:has-text('12 documents are deleted')")
    expect(server.json("GET", "mixed/_conflicts?kind=all&limit=0")["total_rows"] == 13, "something is written before the second question")
    page.fill("dialog input", "12")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Done: 13 of 13")
    page.wait_for_function("() => document.querySelectorAll('[data-group=deleted] input').length === 0 && document.querySelector('[data-group=deleted]')")
    expect(page.inner_text(".counts") == "0 merged, 1 kept as one leaf, 12 deleted", page.inner_text(".counts"))
    expect(server.json("GET", "mixed")["doc_count"] == 1, "another number is deleted")
    expect(visit.axe() == [], str(visit.axe()))


EFFECTS = [
    each_choice_is_told_as_the_server_does, a_deletion_is_called_one, joined_values_are_not_lost, removals_and_deletions_are_listed,
    every_member_that_is_decided_has_a_row, attachments_are_picked_by_name, origins_are_not_guessed, policies_that_can_not_run_are_not_offered,
    the_choices_are_always_in_sight, many_are_deleted_only_after_a_second_question,
]
