"""Scenarios of what is typed: it is not lost, and goes where it is said."""
import json
import re

from room import PASSWORD, Server, expect, named, until


def a_replication_of_this_server(room):
    """A replication between two databases of this server runs with the user and the password of each side."""
    server = room.server
    server.ask("PUT", "copied-from")
    server.ask("PUT", "copied-from/one", {"x": 1})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/replications")
    page.get_by_role("link", name="New replication").click()
    page.get_by_label("Name", exact=True).fill("here")
    for legend, name in (("From", "copied-from"), ("To", "copied-to")):
        side = page.get_by_role("group", name=legend)
        side.get_by_label("Database", exact=True).fill(name)
        expect(side.get_by_label("User").input_value() == "anna", "the user who is logged in is not proposed")
        side.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Create the target database").check()
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_role("button", name="Create").click()
    page.wait_for_selector("h1:has-text('here')")
    page.wait_for_selector("dd:has-text('Running')", timeout=30_000)
    until(lambda: "one" in [row["id"] for row in server.json("GET", "copied-to/_all_docs")["rows"]], "nothing is replicated")
    expect(PASSWORD not in page.content(), "the password is shown")
    document = server.json("GET", "_replicator/here")
    expect("@" not in document["source"]["url"], str(document))
    server.remove("_replicator/here")


def results_in_lines(room):
    """Results and plans of a query are laid out in lines, and can be scrolled by keyboard; a mistake is told once."""
    room.server.ask("PUT", "groceries/two-lines", {"note": "one\ntwo\u202e"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/groceries/query?selector=" + json.dumps({"_id": "two-lines"}).replace('"', "%22"))
    page.get_by_role("button", name="JSON").click()
    page.click("li summary:has-text('two-lines')")
    result = page.locator("li pre")
    result.wait_for()
    lines = result.inner_text().split("\n")
    expect('  "note": "one\\ntwo⟨U+202E⟩"' in lines and len(lines) > 3 and "U+000A" not in result.inner_text(), str(lines))
    page.click("summary:has-text('The plan as JSON')")
    expect("U+000A" not in page.inner_text("details:has(> summary:has-text('The plan as JSON')) pre"))
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_label("The query").fill('{"selector": {"a": {"$wrong": 1}}}')
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("main .error")
    visit.settled()
    expect(page.locator("main .error").count() == 1, "the same mistake is told twice")


def a_query_is_in_its_address(room):
    """Sort, fields and limit of a query are in its address; a query that was typed and not run is asked about."""
    room.server.ask("POST", "groceries/_index", {"index": {"fields": ["count"]}, "name": "counted"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/groceries/query")
    area = page.get_by_label("The query")
    area.fill('{"selector": {"count": {"$gt": 30}}, "sort": [{"count": "desc"}], "fields": ["name"], "limit": 3}')
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=3 documents found")
    page.reload()
    page.wait_for_selector("text=3 documents found")
    told = json.loads(area.input_value())
    expect(told == {"selector": {"count": {"$gt": 30}}, "sort": [{"count": "desc"}], "fields": ["name"], "limit": 3}, str(told))
    asked = []
    visit.on_dialog = lambda dialog: (asked.append(dialog.type), dialog.accept())
    page.click("h1")
    page.reload()
    expect(asked == [], "nothing was typed")
    area.fill('{"selector": {}}')
    page.reload()
    expect(asked == ["beforeunload"], f"asked: {asked}")


def typed_code_is_kept(room):
    """Closing or reloading a page with code, rights or a document that is typed and not saved asks first; the chosen function is marked."""
    room.server.ask("PUT", "groceries/_design/two", {"views": {"a": {"map": "function () {}"}, "b": {"map": "function () {}"}}})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    asked = []
    visit.on_dialog = lambda dialog: (asked.append(dialog.type), dialog.accept())
    for where, label in (("#/db/groceries/design/two", "The map function"), ("#/db/groceries/rights?as=json", "The security object"),
                         ("#/db/groceries/doc/item-01", "The document")):
        visit.go(where)
        area = page.get_by_label(label, exact=True)
        area.focus()
        page.keyboard.type(" ")
        page.reload()
        expect(asked == ["beforeunload"], f"{where}: {asked}")
        asked.clear()
        area.wait_for()
        page.reload()
        expect(asked == [], f"{where} asks though nothing is typed")
        area.wait_for()
    visit.go("#/db/groceries/design/two")
    page.get_by_role("button", name="view b").click()
    look = "one => { const style = getComputedStyle(one); return [style.backgroundColor, style.fontWeight]; }"
    marked = page.get_by_role("button", name="view b").evaluate(look)
    expect(marked != page.get_by_role("button", name="view a").evaluate(look), "the chosen function looks as the others")


def an_index_has_a_name(room):
    """An index gets a name, words of texts and a part of the documents; the warning of the query before is gone."""
    server = Server(room.server.settle, "--text-indexes", "on")
    try:
        index_by_form(room, server)
    finally:
        server.close()


def index_by_form(room, server):
    server.ask("PUT", "indexed")
    server.ask("POST", "indexed/_bulk_docs", {"docs": [{"_id": f"d{place}", "n": place, "title": "An oak tree" if place == 3 else "grass", "done": place > 5} for place in range(9)]})
    visit = room.visit(server)
    visit.log_in()
    page = visit.page
    visit.go("#/db/indexed/query?selector=" + json.dumps({"n": {"$gt": 6}}).replace('"', "%22"))
    page.wait_for_selector("text=No matching index found")
    page.get_by_role("button", name="Make an index for this…").click()
    page.get_by_label(re.compile("^Name")).fill("by-n")
    expect(visit.axe() == [], str(visit.axe()))
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Range of the index by-n")
    page.wait_for_selector("text=2 documents found")
    expect(page.locator("text=No matching index found").count() == 0, "the warning stays")

    def create(kind, members, name, filter=""):
        page.get_by_role("button", name="New index").click()
        page.get_by_label(re.compile("^Kind")).select_option(kind)
        page.get_by_label(re.compile("^Fields")).fill(members)
        page.get_by_label(re.compile("^Name")).fill(name)
        page.get_by_label("Only documents where").fill(filter)
        page.get_by_role("button", name="Create").click()
        page.wait_for_selector("dialog", state="detached")
        page.wait_for_selector(f"tr:has(th:has-text('{name}'))")

    create("json", "n", "open-ones", "done = false")
    expect('"done"' in page.inner_text("tr:has(th:has-text('open-ones'))"), "the part is not shown")
    create("text", "title", "titles")
    expect(page.inner_text("tr:has(th:has-text('titles')) td >> nth=0").strip() == "title", page.inner_text("tr:has(th:has-text('titles'))"))
    create("text", "", "everything")
    expect("all texts" in page.inner_text("tr:has(th:has-text('everything'))"))
    kept = {index["name"]: index for index in server.json("GET", "indexed/_index")["indexes"]}
    expect(kept["by-n"]["def"]["fields"] == [{"n": "asc"}], str(kept["by-n"]))
    expect(kept["open-ones"]["def"]["partial_filter_selector"] == {"done": {"$eq": False}} or kept["open-ones"]["def"]["partial_filter_selector"] == {"done": False}, str(kept["open-ones"]))
    expect(kept["titles"]["type"] == kept["everything"]["type"] == "text", str(kept))
    # What is lost with an index depends on its type.
    for name, words in (("by-n", "those that sort fail if no other index has their order"), ("titles", "Searches for words fail if no other text index answers them")):
        page.get_by_role("button", name=f"Delete the index {name}…").click()
        page.wait_for_selector(f"dialog:has-text('{words}')")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")

    visit.go("#/db/indexed/docs")
    search = page.get_by_label("Search")
    search.fill("oak")
    search.press("Enter")
    page.wait_for_selector("text=No document has the id “oak”. These documents have the words.")
    page.wait_for_function("() => document.querySelectorAll('.key-list tbody tr').length === 1")
    page.wait_for_selector(named("d3"))
    search.fill("d3")
    search.press("Enter")
    page.wait_for_selector(".key-list tbody tr:first-child:has-text('d3')")
    expect(page.locator("text=No document has the id").count() == 0)


def an_id_is_changed(room):
    """A changed `_id` is asked about: it becomes another document, with its attachments, or is put back. A new one has an id."""
    server = room.server
    server.ask("PUT", "groceries/kept", {"n": 1, "exact": 1, "_attachments": {"a.txt": {"content_type": "text/plain", "data": "aGk="}}})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/groceries/doc/kept")
    area = page.get_by_label("The document", exact=True)

    def change(before, after):
        text = area.input_value()
        expect(before in text, f"{before} is not in {text}")
        area.fill(text.replace(before, after))
        page.keyboard.press("Control+s")
        page.wait_for_selector("dialog:has-text('The _id was changed')")

    change('"_id": "kept"', '"_id": "other one"')
    page.get_by_role("button", name="Put the id back").click()
    page.wait_for_selector("dialog", state="detached")
    expect('"_id": "kept"' in area.input_value())
    expect(server.json("GET", "groceries/kept")["_rev"].startswith("1-"), "something was written")
    change('"_id": "kept"', '"_id": "other one"')
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    change('"n": 1', '"n": 2')
    page.get_by_role("button", name="Save as “other one”").click()
    page.wait_for_selector("h1:has-text('other one')")
    other, kept = server.json("GET", "groceries/other%20one"), server.json("GET", "groceries/kept")
    expect(other["n"] == 2 and "a.txt" in other["_attachments"], str(other))
    expect(kept["n"] == 1 and kept["_rev"].startswith("1-"), str(kept))

    visit.go("#/db/groceries/doc")
    made = json.loads(area.input_value())["_id"]
    expect(re.fullmatch("[0-9a-f]{32}", made), f"a new document has the id {made!r}")
    area.fill('{"_id": "kept", "n": 3}')
    page.keyboard.press("Control+s")
    page.wait_for_selector("text=There is a document kept already")
    area.fill(json.dumps({"_id": made, "n": 3}))
    page.keyboard.press("Control+s")
    page.wait_for_selector(f"h1:has-text('{made}')")
    expect(server.json("GET", f"groceries/{made}")["n"] == 3)


def six_hundred_users(room):
    """620 users: the page says how many are shown, finds one by its beginning, and goes on to the last."""
    docs = [{"_id": f"org.couchdb.user:u{place:03}", "name": f"u{place:03}", "type": "user", "roles": []} for place in range(620)]
    room.server.ask("POST", "_users/_bulk_docs", {"docs": docs})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/users")
    page.wait_for_selector("text=the first 100 users")
    search = page.get_by_label("Names that begin with")
    search.fill("u61")
    page.wait_for_selector("text=/^10 users$/")
    page.wait_for_selector("th:has-text('u619')")
    page.reload()
    page.wait_for_selector("text=/^10 users$/")
    search.fill("")
    for _ in range(6):
        page.get_by_role("button", name="More").click()
        visit.settled()
    page.wait_for_selector("th:has-text('u619')")
    expect(page.get_by_role("button", name="More").count() == 0)
    rows = room.server.json("GET", "_users/_all_docs?startkey=%22org.couchdb.user:u0%22")["rows"]
    gone = [{"_id": row["id"], "_rev": row["value"]["rev"], "_deleted": True} for row in rows]
    room.server.ask("POST", "_users/_bulk_docs", {"docs": gone})


FORMS = [a_replication_of_this_server, results_in_lines, a_query_is_in_its_address, typed_code_is_kept, an_index_has_a_name,
         an_id_is_changed, six_hundred_users]
