"""Scenarios of the pages that show data: views, documents, queries, changes."""
import contextlib
import csv
import json
import urllib.error
from urllib.parse import unquote

from room import expect, revision


def fill_shop(server):
    """450 sales of twelve months, and views of them."""
    with contextlib.suppress(urllib.error.HTTPError):
        server.ask("DELETE", "shop")
    server.ask("PUT", "shop")
    sales = [{"_id": f"sale-{one:03}", "day": ["2026", f"{one % 12 + 1:02}", one], "amount": one, "kind": "ab"[one % 2]} for one in range(450)]
    server.ask("POST", "shop/_bulk_docs", {"docs": sales})
    views = {
        "by-day": {"map": "function (doc) { if (doc.day) emit(doc.day, doc.amount); }", "reduce": "_sum"},
        "by-kind": {"map": "function (doc) { if (doc.kind) emit(doc.kind, doc.amount); }", "reduce": "_stats"},
        "by-amount": {"map": "function (doc) { if (doc.amount >= 0) emit(doc.amount, doc.amount); }", "reduce": "_sum"},
        "broken": {"map": "function (doc) { if (doc.kind) emit(doc.kind, 'x'); }", "reduce": "_sum"},
        "twice": {"map": "function (doc) { if (doc.kind === 'a') { emit(1, 'one'); emit(1, 'two'); } }"},
    }
    server.ask("PUT", "shop/_design/sales", {"views": views})


def to_the_end(visit):
    """Scrolls a list to its end, as a hand at the wheel does."""
    for _ in range(8):
        visit.page.evaluate("document.querySelector('.key-list').scrollTop = 1e6")
        visit.page.wait_for_timeout(40)
        visit.settled()


def rows_of_a_view(room):
    """A view's stored rows by range, key, keys, group and page; a chart of groups, a group's rows, stale rows, and errors with their reasons."""
    server = room.server
    fill_shop(server)
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/shop/design/sales")
    page.get_by_role("button", name="view by-day").click()
    page.get_by_role("link", name="Rows of this view").click()
    page.wait_for_selector("h1:has-text('sales/by-day')")
    page.wait_for_selector("text=450 rows in the whole view")
    page.get_by_label("From key").fill('["2026", 02')
    page.keyboard.press("Enter")
    page.wait_for_selector("text=This is not JSON")
    expect(page.get_by_label("From key").get_attribute("aria-invalid") == "true" and "startkey" not in page.url, "a broken key is sent")
    page.get_by_label("From key").fill('["2026","02"]')
    page.get_by_label("To key").fill('["2026","02",{}]')
    page.keyboard.press("Enter")
    page.wait_for_selector(".key-list tbody tr:first-child:has-text('sale-001')")
    expect(page.locator(".key-list tbody tr").count() == 38, "the range has other rows")
    expect('startkey=["2026","02"]' in unquote(page.url), page.url)
    page.get_by_label("Descending").check()
    page.get_by_label("From key").fill('["2026","02",13]')
    page.get_by_label("To key").fill('["2026","02",1]')
    page.get_by_label("Include the end key").uncheck()
    page.get_by_label("Include documents").check()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".key-list td:has-text('\"amount\":13')")
    expect(page.locator(".key-list tbody tr").count() == 1, "the end key is not excluded")
    # All of it is in the address.
    visit.go("#/db/shop/view/sales?view=by-day&group_level=2&reduce=true")
    expect(page.locator(".chart rect").count() == 12 and page.locator(".key-list tbody tr").count() == 12)
    told = json.loads(server.ask("GET", "shop/_design/sales/_view/by-day?group_level=2"))["rows"]
    expect(page.inner_text(".key-list tbody tr:nth-child(3) td >> nth=0") == str(told[2]["value"]))
    found = visit.axe()
    expect(not found, str(found))
    page.get_by_label('Rows of ["2026","03"]').focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".key-list tbody tr:first-child:has-text('sale-002')")
    expect(page.locator(".key-list tbody tr").count() == 38 and page.get_by_label("Reduce").is_checked() is False)
    page.go_back()
    page.wait_for_selector(".chart rect")
    page.locator(".chart rect").nth(11).click()
    page.wait_for_selector(".key-list tbody tr:first-child:has-text('sale-011')")
    visit.go("#/db/shop/view/sales?view=by-kind&group=true&reduce=true")
    page.get_by_label("Number in the chart").select_option("count")
    page.wait_for_selector("[role=img][aria-label='by-kind count: from 225 to 225']")
    visit.go("#/db/shop/view/sales?view=by-amount&group=true&reduce=true")
    expect(page.locator(".chart polyline").count() == 1 and page.locator(".chart rect").count() == 0)
    # Pages: forwards, from a link in the middle, and backwards; equal rows of one document are not lost.
    visit.go("#/db/shop/view/sales?view=twice")
    to_the_end(visit)
    expect(page.inner_text(".key-list tbody tr:last-child td >> nth=1") == "sale-448")
    expect(page.inner_text(".toolbar [role=status]") == "Rows 1–450", page.inner_text(".toolbar [role=status]"))
    # The place in the address is that of the rows in sight, a moment after they were reached.
    page.wait_for_function("() => /from_id=sale-4[34]/.test(location.hash)")
    page.reload()
    page.wait_for_selector(".key-list tbody tr:has-text('sale-448')")
    while page.get_by_role("button", name="Earlier").is_visible():
        page.get_by_role("button", name="Earlier").click()
        page.wait_for_timeout(40)
        visit.settled()
    to_the_end(visit)
    expect(page.inner_text(".toolbar [role=status]") == "Rows 1–450", page.inner_text(".toolbar [role=status]"))
    # Several keys, in their order.
    visit.go("#/db/shop/view/sales?view=by-amount")
    page.get_by_label("Several keys").fill("[7, 3]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".key-list tbody tr:first-child:has-text('sale-007')")
    expect(page.locator(".key-list tbody tr").count() == 2)
    # Stale rows, and what is missing in them.
    server.ask("PUT", "shop/sale-late", {"amount": 1000})
    visit.go("#/db/shop/view/sales?view=by-amount&update=false")
    page.wait_for_selector("text=The rows may be stale: 1 change not indexed yet.")
    expect(page.locator("text=450 rows").count() == 1)
    visit.go("#/db/shop/view/sales?view=broken&reduce=true")
    page.wait_for_selector(".error:has-text('builtin_reduce_error'):has-text('_sum function requires')")
    visit.go("#/database/shop/_design/sales/_view/none")
    page.wait_for_selector(".error:has-text('not_found'):has-text('missing_named_view')")


def many_documents(room):
    """Documents are selected by Shift and over pages, exported, given a field, and deleted; refused ones are listed; the bar moves nothing."""
    server = room.server
    server.ask("PUT", "many-docs")
    docs = [{"_id": f"doc-{one:03}", "n": one, "name": f'A "{one}", b' if one == 3 else f"Name {one}", "at": {"city": "Kiel"}} for one in range(450)]
    server.ask("POST", "many-docs/_bulk_docs", {"docs": docs})
    server.ask("PUT", "many-docs/exact", text='{"big":9223372036854775807,"x":1.50,"at":7}')
    server.store("many-docs", revision("doc-005", "ab", {"n": -1}))
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/many-docs/docs?fields=n,at/city")
    place = page.get_by_label("Jump to an id").bounding_box()
    page.get_by_label("Select doc-002", exact=True).click()
    page.wait_for_selector("text=1 selected")
    now = page.get_by_label("Jump to an id").bounding_box()
    expect(now == place, f"the bar moves what is below it: {place} {now}")
    page.get_by_label("Select doc-006", exact=True).click(modifiers=["Shift"])
    page.wait_for_selector("text=5 selected")
    # By keyboard: arrows with Shift go on, a space takes one out.
    page.locator(".key-list a:has(bdi:text-is('doc-006'))").focus()
    page.keyboard.press("Shift+ArrowDown")
    page.wait_for_selector("text=6 selected")
    expect(page.evaluate("document.activeElement.textContent") == "doc-007", "the focus is lost")
    page.keyboard.press(" ")
    page.wait_for_selector("text=5 selected")
    # Over pages and refreshes.
    to_the_end(visit)
    page.get_by_label("Select exact", exact=True).click()
    page.keyboard.press("r")
    visit.settled()
    page.wait_for_selector("text=6 selected")
    found = visit.axe()
    expect(not found, str(found))
    with page.expect_download() as lines:
        page.get_by_role("button", name="Export JSON lines").click()
    expect(lines.value.suggested_filename == "many-docs.jsonl", lines.value.suggested_filename)
    with open(lines.value.path()) as file:
        told = file.read()
    expect([json.loads(line)["_id"] for line in told.splitlines()] == [f"doc-{one:03}" for one in (2, 3, 4, 5, 6)] + ["exact"], told)
    expect('"big":9223372036854775807' in told and '"x":1.5' in told, told)
    with page.expect_download() as table:
        page.get_by_role("button", name="Export CSV").click()
    with open(table.value.path(), newline="") as file:
        rows = list(csv.reader(file))
    expect(rows[0] == ["_id", "n", "at/city"] and rows[2] == ["doc-003", "3", "Kiel"] and rows[6] == ["exact", "", ""], str(rows))
    # A field in all of them; one has a number where the object would be.
    page.get_by_role("button", name="Set a field").click()
    page.get_by_role("textbox", name="Field").fill("/at/city")
    page.get_by_role("textbox", name="Value").fill("Bremen")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog >> text=This is not JSON")
    page.get_by_role("textbox", name="Value").fill('"Bremen"')
    page.keyboard.press("Enter")
    page.wait_for_selector("text=5 documents written.")
    page.wait_for_selector(".refused:has-text('exact: what contains /at/city is not an object')")
    now = server.json("GET", "many-docs/doc-003")
    expect(now["at"] == {"city": "Bremen"} and now["name"] == 'A "3", b', str(now))
    expect('"at":7' in server.ask("GET", "many-docs/exact"), "a number was overwritten")
    # Deleted; one that somebody has edited since it was read is refused, and listed.
    server.ask("PUT", "many-docs/doc-002", {**server.json("GET", "many-docs/doc-002"), "n": 200})
    page.get_by_role("button", name="Delete…").click()
    page.wait_for_selector("dialog h2:has-text('Delete 6 documents?')")
    page.wait_for_selector("dialog >> text=1 of them is in conflict; 1 of these stay")
    found = visit.axe()
    expect(not found, str(found))
    page.get_by_role("button", name="Delete 6 documents").click()
    page.wait_for_selector("text=4 documents deleted. 1 document in conflict stays")
    page.wait_for_selector(".refused:has-text('doc-002: conflict')")
    page.wait_for_selector("text=1 selected")
    left = {row["id"] for row in server.json("GET", "many-docs/_all_docs")["rows"]}
    expect("doc-002" in left and "doc-005" in left and not {"doc-003", "doc-004", "doc-006", "exact"} & left, "others are deleted")
    # A search ends the selection.
    page.get_by_label("Search").fill("doc-1*")
    page.keyboard.press("Enter")
    page.wait_for_selector(".key-list th:has-text('doc-100')")
    expect(page.get_by_text("1 selected").is_hidden(), "the selection outlives its search")


def a_new_document_and_a_copy(room):
    """A new document has an id that the server made, or one of the user's; Duplicate makes an id for the copy."""
    server = room.server
    visit = room.visit()
    visit.log_in()
    page = visit.page
    made = []
    page.on("response", lambda answer: made.extend(answer.json()["uuids"]) if "_uuids" in answer.url else None)
    visit.go("#/db/groceries/docs")
    page.keyboard.press("c")
    page.wait_for_selector("h1:has-text('A new document')")
    visit.settled()
    area = page.get_by_label("The document", exact=True)
    expect(json.loads(area.input_value()) == {"_id": made[-1]}, area.input_value())
    identifier = page.get_by_label("Id", exact=False).first
    expect(identifier.input_value() == made[-1], "the field has another id")
    identifier.fill("of my own")
    expect(json.loads(area.input_value()) == {"_id": "of my own"}, area.input_value())
    page.keyboard.press("Control+s")
    page.wait_for_selector("h1:has-text('of my own')")
    expect(server.json("GET", "groceries/of%20my%20own")["_rev"].startswith("1-"))
    visit.settled()
    page.get_by_role("button", name="Duplicate").click()
    page.get_by_label("ID of the copy").wait_for()
    page.wait_for_function("() => document.querySelector('dialog input').value")
    expect(page.get_by_label("ID of the copy").input_value() == made[-1], "the copy has no id")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"h1:has-text('{made[-1]}')")
    expect(server.json("GET", "groceries/" + made[-1])["_rev"].startswith("1-"))


def a_query_as_a_table(room):
    """Results stand in a table of chosen columns; the server sorts, or the page says why not; the plan has steps; queries are kept and saved."""
    server = room.server
    fill_shop(server)
    server.ask("POST", "shop/_index", {"index": {"fields": ["amount"]}, "name": "amounts"})
    server.ask("POST", "shop/_index", {"index": {"fields": ["kind"]}, "name": "kinds"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/shop/query")
    area = page.get_by_label("The query", exact=True)
    area.fill('{"selector": {"amount": {"$gt": 439}, "kind": "a"}, "limit": 10}')
    page.keyboard.press("Control+Enter")
    heads = page.get_by_role("region", name="Results").locator("th")
    page.wait_for_selector("td a:has-text('sale-440')")
    expect(heads.all_inner_texts() == ["_id", "day", "amount", "kind"], str(heads.all_inner_texts()))
    # Steps and counts as the server tells them.
    body = {"selector": {"amount": {"$gt": 439}, "kind": "a"}, "limit": 10, "execution_stats": True}
    cost = server.json("POST", "shop/_find", body)["execution_stats"]
    page.wait_for_selector(".steps")
    steps = page.locator(".steps > li").all_inner_texts()
    name = server.json("POST", "shop/_explain", {"selector": body["selector"]})["index"]["name"]
    expect(f"Range of the index {name}" in steps[0] and f"{cost['total_keys_examined']} keys" in steps[0], str(steps))
    expect(any("Documents are read" in step and f"{cost['total_docs_examined']} documents" in step for step in steps), str(steps))
    expect(page.locator("h3:has-text('passed over') + ul li").count() == 2)
    # Sorted by the server where it can, both ways; where it can't, the rows stay and the page says so.
    page.get_by_role("button", name="amount", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=ascending]:has-text('amount')")
    expect(page.evaluate("document.activeElement.textContent").startswith("amount"), "the focus is lost")
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=descending]")
    expect(page.inner_text("tbody tr:first-child td >> nth=0") == "sale-448" and "sort=" in page.url)
    page.get_by_role("button", name="day", exact=True).click()
    page.wait_for_selector("text=The server can’t sort by day, so the rows keep their order. No index exists for this sort")
    expect(page.inner_text("tbody tr:first-child td >> nth=0") == "sale-448" and '"amount": "desc"' in area.input_value())
    # Columns, which are in the address.
    page.click("summary:has-text('Columns')")
    page.get_by_label("kind", exact=True).uncheck()
    page.get_by_label("Another field").fill("day/1")
    page.keyboard.press("Enter")
    found = visit.axe()
    expect(not found, str(found))
    page.reload()
    page.wait_for_selector("td a:has-text('sale-448')")
    expect(heads.all_inner_texts() == ["_id", "day", "amount ▼", "day/1"], str(heads.all_inner_texts()))
    expect(page.inner_text("tbody tr:first-child td >> nth=3") == "05")
    # History and saved queries, of this user in this database.
    area.fill('{"selector": {"kind": "b"}, "limit": 2}')
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=2 documents found")
    page.get_by_role("button", name="Save…").click()
    page.get_by_role("textbox", name="Name").fill("kind of b")
    page.keyboard.press("Enter")
    page.wait_for_selector("li:has-text('kind of b')")
    found = visit.axe()
    expect(not found, str(found))
    visit.go("#/db/shop/query")
    page.click("summary:has-text('History')")
    page.locator("li", has_text="kind of b").get_by_role("button").first.click()
    page.wait_for_selector("text=2 documents found")
    expect(json.loads(area.input_value()) == {"selector": {"kind": "b"}, "limit": 2}, area.input_value())
    page.get_by_role("button", name="Remove kind of b").click()
    expect(page.locator("li", has_text="kind of b").count() == 0)
    page.locator(".history li", has_text="439").first.get_by_role("button").click()
    page.wait_for_selector("text=5 documents found")
    visit.go("#/db/groceries/query")
    page.click("summary:has-text('History')")
    expect(page.locator(".history li", has_text="439").count() == 0, "another database has these queries")


def a_query_skips_once(room):
    """A query with `skip` leaves rows out before its first page only, not before each page."""
    server = room.server
    server.ask("PUT", "skipped")
    server.ask("POST", "skipped/_bulk_docs", {"docs": [{"_id": f"row-{one:02}", "n": one} for one in range(20)]})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/skipped/query")
    page.get_by_label("The query").fill('{"selector": {"n": {"$gte": 0}}, "skip": 3, "limit": 5}')
    page.keyboard.press("Control+Enter")
    for count in (5, 10, 15, 17):
        page.wait_for_selector(f"text={count} documents found")
        if count < 17:
            page.get_by_role("button", name="More", exact=True).click()
    ids = page.get_by_role("region", name="Results").locator("tbody tr td:first-child").all_inner_texts()
    expect(ids == [f"row-{one:02}" for one in range(3, 20)], str(ids))


def databases_by_any_part(room):
    """A database is found by any part of its name, and the address keeps the text; of more than 10,000 names by their beginnings."""
    server = room.server
    for number in range(60):
        server.ask("PUT", f"part-{number:02}-of-many")
    server.ask("PUT", "zz-needle-here")
    visit = room.visit()
    visit.log_in()
    page = visit.page
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "_all_dbs" in request.url else None)
    visit.go("#/")
    page.keyboard.press("/")
    page.keyboard.type("Needle")
    page.wait_for_selector("text=/^1 of [0-9]+ match$/")
    # The page shows the number before it has read the rows.
    page.wait_for_selector("tbody tr:only-child:has-text('zz-needle-here')")
    page.reload()
    page.wait_for_selector("text=/^1 of [0-9]+ match$/")
    page.wait_for_selector("tbody tr:only-child:has-text('zz-needle-here')")
    expect(page.get_by_label("Any part of a name").input_value() == "Needle")
    page.get_by_label("Any part of a name").fill("-of-")
    page.wait_for_selector("text=/^60 of/")
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 50")
    page.get_by_role("button", name="More").click()
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 60")
    page.get_by_label("Any part of a name").fill("no such")
    page.wait_for_selector("text=No database matches “no such”")
    found = visit.axe()
    expect(not found, str(found))
    # The answer of a server with more names.
    names = [f"n{number:05}" for number in range(10_001)]
    page.route("**/_all_dbs?limit=10001", lambda route: route.fulfill(status=200, content_type="application/json", body=json.dumps(names)))
    page.keyboard.press("Escape")
    page.reload()
    page.wait_for_selector("text=There are more than 10,000 databases")
    page.get_by_label("Any part of a name").fill("zz-nee")
    page.wait_for_selector("tbody tr:has-text('zz-needle-here')")
    page.get_by_label("Any part of a name").fill("needle")
    page.wait_for_selector("text=No database matches “needle”")
    page.unroute("**/_all_dbs?limit=10001")
    for number in range(60):
        server.ask("DELETE", f"part-{number:02}-of-many")
    server.ask("DELETE", "zz-needle-here")


def two_revisions(room):
    """Any two kept revisions stand side by side: fields that differ, a long text by lines, and the whole text; both are in the address."""
    server = room.server
    text = "\n".join(f"line {number}" for number in range(30))
    first = server.json("PUT", "groceries/three", {"n": 1, "gone": True, "text": text, "same": {"a": 1}})["rev"]
    second = server.json("PUT", "groceries/three", {"_rev": first, "n": 2, "text": text.replace("line 17", "row 17"), "same": {"a": 1}})["rev"]
    third = server.json("PUT", "groceries/three", {"_rev": second, "n": 3, "text": text, "same": {"a": 1}, "big": "TEXT"})["rev"]
    big = server.ask("PUT", "groceries/three", text='{"_rev":"%s","n":9223372036854775807,"text":"short","same":{"a":1},"big":"TEXT"}' % third)
    fourth = json.loads(big)["rev"]
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/groceries/doc/three")
    page.get_by_role("link", name="Compare 1-").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Revisions of three')")
    page.wait_for_selector("text=4 fields differ.")
    row = lambda name: page.locator(f"tr:has(th:has(bdi:text-is('{name}')))")
    expect(row("/n").locator("td").all_inner_texts() == ["1", "9223372036854775807"], str(row("/n").locator("td").all_inner_texts()))
    expect(row("/gone").locator("td").all_inner_texts() == ["true", "not there"])
    expect(row("/same").count() == 0 and row("/_rev").count() == 0, "what is the same is listed")
    # Two others, by the keyboard.
    page.get_by_label("Before").focus()
    page.get_by_label("Before").select_option(second)
    page.get_by_label("After").select_option(third)
    # Between the two choices, the second and the fourth revision differ in three fields, too.
    page.wait_for_selector("ins:has-text('line 17')")
    page.wait_for_selector("text=3 fields differ.")
    expect(f"a={second}" in page.url and f"b={third}" in page.url, page.url)
    lines = row("/text").locator("del, ins").all_inner_texts()
    expect([line.strip() for line in lines] == ["− row 17", "+ line 17"], str(lines))
    found = visit.axe()
    expect(not found, str(found))
    page.reload()
    page.wait_for_selector("text=3 fields differ.")
    expect(row("/big").locator("td").all_inner_texts() == ["not there", "TEXT"], str(row("/big").locator("td").all_inner_texts()))
    server.ask("POST", "groceries/_compact")
    visit.go(f"#/db/groceries/compare/three?a={first}&b={fourth}")
    for _ in range(50):
        page.wait_for_timeout(200)
        page.keyboard.press("r")
        visit.settled()
        if page.locator("text=is not kept anymore").count():
            break
    expect(page.locator("text=is not kept anymore").count() == 1, "nothing is said of a body that is gone")


def a_pressed_row_stays(room):
    """A row that is pressed while its list is read again is opened, and the list is then up to date."""
    server = room.server
    server.ask("PUT", "pressed")
    server.ask("POST", "pressed/_bulk_docs", {"docs": [{"_id": f"row-{number}"} for number in range(1, 4)]})
    visit = room.visit()
    visit.log_in()
    page = visit.page

    def press(new):
        """Presses a row, and lets the list be read again after another document was written."""
        visit.go("#/db/pressed/docs")
        visit.settled()
        page.locator("a:has-text('row-2')").hover()
        page.mouse.down()
        server.ask("PUT", f"pressed/{new}", {})
        with page.expect_response(lambda answer: "_all_docs" in answer.url):
            page.keyboard.press("r")
        visit.settled()

    press("row-0")
    page.mouse.up()
    page.wait_for_selector("h1:has-text('row-2')")
    # Let go beside a row, the list is drawn.
    press("row-4")
    page.mouse.move(5, 5)
    page.mouse.up()
    page.wait_for_selector("tr:has-text('row-4')")
    server.ask("DELETE", "pressed")


def changes_are_looked_for(room):
    """Changes by a part of the id, by kind and since a sequence; new ones wait while somebody reads further down, and pause and go on."""
    server = room.server
    server.ask("PUT", "moves")
    for start in range(0, 700, 350):
        server.ask("POST", "moves/_bulk_docs", {"docs": [{"_id": f"move-{one:03}"} for one in range(start, start + 350)]})
    middle = server.json("GET", "moves/_changes?limit=650")["last_seq"]
    server.remove("moves/move-007")
    rev = server.json("GET", "moves/move-008")["_rev"]
    server.ask("PUT", "moves/move-008", {"_rev": rev, "n": 1})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/moves/changes")
    page.wait_for_selector("text=● live")
    shown = page.locator("main li:not([hidden])")
    expect(shown.count() == 50, str(shown.count()))
    # By kind and by id, among all that are kept; both are in the address.
    page.get_by_label("Kind").select_option("deleted")
    page.wait_for_selector("text=1 of the 500 changes read match")
    expect("move-007" in shown.first.inner_text() and shown.count() == 1)
    page.get_by_label("Kind").select_option("")
    page.get_by_label("ID", exact=True).fill("-69")
    page.wait_for_selector("text=10 of the 500 changes read match")
    page.reload()
    page.wait_for_selector("text=10 of the 500 changes read match")
    server.ask("PUT", "moves/other", {})
    server.ask("PUT", "moves/late-69", {})
    page.wait_for_selector("main li:not([hidden]):has-text('late-69')")
    expect(page.locator("main li:not([hidden]):has-text('other')").count() == 0, "another id is shown")
    found = visit.axe()
    expect(not found, str(found))
    # Since a sequence, up to now, and on.
    page.get_by_label("ID", exact=True).fill("")
    page.get_by_label("Since").fill(middle)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('main li:not([hidden])').length === 54")
    page.wait_for_selector("text=● live")
    page.get_by_label("Since").fill("0")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=/[0-9]+ more changes follow/")
    page.get_by_role("button", name="More").click()
    page.wait_for_selector("text=● live")
    expect(page.locator("main li:has-text('late-69')").count() == 1)
    # What comes waits while somebody reads further down.
    page.mouse.move(600, 500)
    page.mouse.wheel(0, 3000)
    page.wait_for_function("() => document.querySelector('main ul').getBoundingClientRect().top < -500")
    page.wait_for_timeout(200)
    at = "[...document.querySelectorAll('main li')].find(one => one.getBoundingClientRect().top > 100)"
    before = page.evaluate(f"[{at}.textContent, {at}.getBoundingClientRect().top]")
    for number in range(12):
        server.ask("PUT", f"moves/waiting-{number}", {})
    page.get_by_role("button", name="12 new").wait_for()
    expect(page.evaluate(f"[{at}.textContent, {at}.getBoundingClientRect().top]") == before, f"the rows have moved: {before}")
    expect(page.locator("main li:has-text('waiting-')").count() == 0)
    page.get_by_role("button", name="12 new").click()
    page.wait_for_function("() => document.querySelectorAll('main li').length >= 500 && document.activeElement.textContent.includes('waiting-11')")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector("[role=status]:has-text('paused')")
    server.ask("PUT", "moves/while-paused", {})
    page.wait_for_timeout(500)
    expect(page.locator("main li:has-text('while-paused')").count() == 0, "it is not paused")
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector("main li:has-text('while-paused')")


DATA = [rows_of_a_view, many_documents, a_new_document_and_a_copy, a_query_as_a_table, a_query_skips_once, databases_by_any_part, two_revisions,
        a_pressed_row_stays, changes_are_looked_for]
