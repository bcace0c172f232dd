"""Scenarios of documents: long lists and long texts."""
import json
import time

from room import expect, revision, until

ROWS = "document.querySelectorAll('.key-list tbody tr').length"
# The page of the address is there, with its query.
SHOWN = "document.querySelector('main')?.dataset.shown === location.hash"


def first_row(visit):
    return visit.page.inner_text(".key-list tbody tr:first-child th").strip()


def scroll(visit, end, wanted, most):
    """Scrolls to an end again and again, as a hand at the wheel does, until a row is there; at most 60 rows are drawn."""
    for _ in range(most):
        visit.page.evaluate(f"document.querySelector('.key-list').scrollTop = {end}")
        visit.page.wait_for_timeout(30)
        visit.settled()
        expect(visit.page.evaluate(ROWS) <= 60, "too many rows are drawn")
        if visit.page.query_selector(f".key-list th:has(bdi:text-is('{wanted}'))"):
            return
    raise AssertionError(f"{wanted} is not reached: {first_row(visit)} comes first")


def fill(server):
    server.ask("PUT", "long")
    for start in range(0, 5000, 1000):
        docs = [{"_id": f"doc-{number:04}", "n": number} for number in range(start, start + 1000)]
        server.ask("POST", "long/_bulk_docs", {"docs": docs})


def five_thousand_documents(room):
    """5,000 documents: scrolled to the end and back, with at most 60 rows drawn; a conflict has its mark, columns their values."""
    fill(room.server)
    room.server.store("long", revision("doc-4990", "ab", {"n": -1}))
    visit = room.visit()
    visit.log_in()
    visit.go("#/long/docs?fields=n")
    visit.page.wait_for_selector("td bdi:text-is('3')")
    expect(first_row(visit) == "doc-0000")
    scroll(visit, 1e6, "doc-4999", 60)
    visit.page.wait_for_selector("tr:has(bdi:text-is('doc-4990')) a.pill")
    visit.page.wait_for_selector("td bdi:text-is('4995')")
    expect(visit.page.query_selector("tr:has(bdi:text-is('doc-4991')) a.pill") is None)
    expect(visit.page.get_attribute(".key-list table", "aria-rowcount") == "5001")
    expect(visit.page.inner_text(".toolbar [role=status]") == "Rows 4,001–5,000", "more than 1,000 rows are kept")
    found = visit.axe()
    expect(not found, str(found))
    scroll(visit, 0, "doc-0000", 60)
    expect(visit.page.inner_text(".toolbar [role=status]") == "Rows 1–1,000")
    visit.page.focus(".key-list tbody tr:first-child a")
    for _ in range(70):
        visit.page.keyboard.press("ArrowDown")
    expect(visit.page.evaluate("document.activeElement.textContent") == "doc-0070", "the keyboard does not follow the rows")


def an_exact_id(room):
    """A word that is an id shows that document first; one that is none lists what follows, and says so."""
    fill(room.server)
    visit = room.visit()
    visit.log_in()
    visit.go("#/long/docs")
    search = visit.page.get_by_label("Search")
    search.fill("doc-2500")
    search.press("Enter")
    visit.page.wait_for_selector(".key-list tbody tr:first-child:has-text('doc-2500')")
    expect(visit.page.query_selector("text=No document has the id") is None)
    visit.page.get_by_role("button", name="Earlier").click()
    visit.page.wait_for_selector("text=400 rows")
    search.fill("doc-25")
    search.press("Enter")
    visit.page.wait_for_selector("text=No document has the id “doc-25”")
    visit.page.wait_for_selector(".key-list tbody tr:first-child:has-text('doc-2500')")
    room.server.remove("long/doc-0042")
    search.fill("doc-0042")
    search.press("Enter")
    visit.page.wait_for_selector(".key-list tbody tr:first-child:has-text('doc-0042') >> [aria-label=deleted]")
    search.fill("made-in-x")
    search.press("Enter")
    visit.page.wait_for_selector("text=No document has the id “made-in-x”")
    search.fill("n > 4000")
    search.press("Enter")
    visit.page.wait_for_selector("text=No index fits")
    visit.page.wait_for_selector("a:has-text('make an index')")


def eight_megabytes(room):
    """A document of 8 MB opens; one number in it is edited, with an error told on the way, and all else is the same by bytes."""
    rows = [{"id": number, "name": f"Oat milk {number}", "count": number, "tags": ["a", "b"], "nested": {"a": None, "b": True}} for number in range(82_000)]
    text = json.dumps({"rows": rows}, separators=(",", ":"))[:-1] + ',"exact":9223372036854775807,"last":17}'
    expect(7_500_000 < len(text) < 8_000_000, str(len(text)))
    room.server.ask("PUT", "groceries/eight", text=text)
    before = room.server.ask("GET", "groceries/eight")
    visit = room.visit()
    visit.log_in()
    began = time.monotonic()
    visit.go("#/groceries/doc/eight")
    visit.page.wait_for_selector(".code .paint:has-text('Oat milk 0')")
    took = time.monotonic() - began
    area = visit.page.get_by_label("The document", exact=True)
    found = visit.axe()
    expect(not found, str(found))
    visit.page.get_by_label("Find").fill("Oat milk 41000")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".code .paint .spot:has-text('Oat milk 41000')")
    visit.page.get_by_label("Find").fill('"exact"')
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".code .paint:has-text('← 19 digits')")
    visit.page.get_by_role("button", name="Edit the lines in sight").click()
    expect('"exact": 9223372036854775807' in area.input_value() and len(area.input_value()) < 250_000)
    for typed, told in (("17x", "text=/Line [0-9,]+, column 1[0-9]:/"), ("18", "text=Saved as")):
        now = area.input_value()
        area.evaluate("(area, [from, to]) => { area.focus(); area.setSelectionRange(from, to); }", [now.index('"last": ') + 8, now.rindex("\n")])
        visit.page.keyboard.insert_text(typed)
        visit.page.keyboard.press("Control+s")
        visit.page.wait_for_selector(told)
    visit.settled()
    after = room.server.ask("GET", "groceries/eight")
    rest = lambda told: told[told.index('"rows":'):]
    expect(rest(after) == rest(before).replace('"last":17', '"last":18'), "something else was changed")
    expect('"exact": 9223372036854775807' in area.input_value() and "2-" in visit.page.inner_text("main .rev >> nth=0"))
    print(f"        the document of 8 MB was shown after {took:.1f} s")


def an_older_revision(room):
    """An older revision is saved on the newest one that was read with it, and one that came meanwhile is not lost."""
    first = room.server.json("PUT", "groceries/old", {"n": 1, "a": 1})["rev"]
    second = room.server.json("PUT", "groceries/old", {"_rev": first, "n": 2, "a": 1})["rev"]
    visit = room.visit()
    visit.log_in()
    visit.go(f"#/groceries/doc/old?rev={first}")
    area = visit.page.get_by_label("The document", exact=True)
    expect('"n": 1' in area.input_value())
    third = room.server.json("PUT", "groceries/old", {"_rev": second, "n": 2, "a": 3})["rev"]
    visit.page.keyboard.press("Control+s")
    visit.page.wait_for_selector("text=Somebody else has saved meanwhile")
    expect(room.server.json("GET", "groceries/old")["_rev"] == third, "an edit was overwritten")
    visit.page.get_by_role("button", name="Take into the text").click()
    visit.page.keyboard.press("Control+s")
    visit.page.wait_for_function("() => !location.hash.includes('rev=')")
    now = room.server.json("GET", "groceries/old")
    expect(now["_rev"].startswith("4-") and now["a"] == 3, str(now))


# A value that is not there is removed without a trace.
REMOVED = """async app => {
  const { put } = await import(app + 'value/compare.js');
  const doc = new Map([['a', 5]]);
  put(doc, '/a/x', undefined);
  put(doc, '/b/x', undefined);
  return doc.size === 1 && doc.get('a') === 5;
}"""


def a_clash_of_an_object(room):
    """Where one side has changed an object's members and the other one the object itself, one of both is taken, and nothing that neither has."""
    server = room.server
    visit = room.visit()
    visit.log_in()
    page = visit.page
    for name, theirs, before, mine in (("number", 5, '"x": 1', '"x": 2'), ("gone", None, '"x": 1', '"x": 2'), ("members", {"x": 2, "y": 1}, '"at": {', '"at": 7, "was": {')):
        first = server.json("PUT", f"groceries/{name}", {"at": {"x": 1, "y": 1}})["rev"]
        visit.go(f"#/groceries/doc/{name}")
        area = page.get_by_label("The document", exact=True)
        expect(before in area.input_value(), area.input_value())
        server.ask("PUT", f"groceries/{name}", {"_rev": first, **({} if theirs is None else {"at": theirs})})
        area.fill(area.input_value().replace(before, mine))
        page.keyboard.press("Control+s")
        page.wait_for_selector("text=Somebody else has saved meanwhile")
        rows = [row.get_attribute("data-path") for row in page.locator("tr[data-path^='/at']").all()]
        expect(rows == ["/at"], f"{name}: {rows}")
        page.get_by_role("button", name="Take into the text").click()
        page.keyboard.press("Control+s")
        until(lambda: server.json("GET", f"groceries/{name}")["_rev"].startswith("3-"), f"{name} is not saved")
        now = server.json("GET", f"groceries/{name}")
        expect(now.get("at") == theirs, f"{name}: {now}")
        visit.settled()
    expect(page.evaluate(REMOVED, visit.sources()), "removing makes objects")


def a_losing_leaf_is_saved(room):
    """A leaf that does not win is saved on itself, and shown then; the winner stays, and an edit of the leaf that came meanwhile is not lost."""
    server = room.server
    server.store("groceries", revision("fork", "1", {"n": 1}), revision("fork", "dcb1", {"n": "winner"}), revision("fork", "a1", {"n": "loser"}))
    winner = server.json("GET", "groceries/fork")["_rev"]
    expect(winner.startswith("4-"), winner)
    leaves = lambda: server.json("GET", "groceries/fork?conflicts=true")["_conflicts"]
    leaf, = leaves()
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go(f"#/groceries/doc/fork?rev={leaf}")
    area = page.get_by_label("The document", exact=True)
    page.wait_for_selector("text=Saving here changes this leaf only.")
    expect(page.get_by_text("an older revision").count() == 0, "a leaf is called an older revision")
    area.fill(area.input_value().replace('"loser"', '"mended"'))
    page.keyboard.press("Control+s")
    page.wait_for_selector("text=Saved as 3-")
    page.wait_for_function(f"() => location.hash.includes('rev=3-') && {SHOWN}")
    visit.settled()
    now = server.json("GET", "groceries/fork")
    expect(now["_rev"] == winner and now["n"] == "winner", f"the winner was overwritten: {now}")
    saved, = leaves()
    expect(server.json("GET", f"groceries/fork?rev={saved}")["n"] == "mended", "the leaf was not saved")
    expect(saved in page.evaluate("location.hash") and '"mended"' in area.input_value(), "another leaf is shown")

    # Somebody else saves the leaf meanwhile: theirs is the leaf, not the winner.
    theirs = server.json("PUT", "groceries/fork", {"_rev": saved, "n": "mended", "more": 1})["rev"]
    area.fill(area.input_value().replace('"mended"', '"mended again"'))
    page.keyboard.press("Control+s")
    page.wait_for_selector("text=Somebody else has saved meanwhile")
    page.wait_for_selector("tr[data-path='/more']")
    page.get_by_role("button", name="Take into the text").click()
    page.keyboard.press("Control+s")
    # A longer leaf than the winner wins itself, and needs no revision in the address.
    page.wait_for_function(f"() => !location.hash.includes('rev=') && {SHOWN}")
    visit.settled()
    leaf = [one for one in [server.json("GET", "groceries/fork")["_rev"], *leaves()] if one != winner]
    expect(len(leaf) == 1 and leaf[0] != theirs, f"another leaf was made: {leaf}")
    now = server.json("GET", f"groceries/fork?rev={leaf[0]}")
    expect(now["n"] == "mended again" and now["more"] == 1 and '"mended again"' in area.input_value(), str(now))


def typing_goes_on(room):
    """After saving, the cursor and the place in the text are where they were, and what is typed while it is saved is kept."""
    room.server.ask("PUT", "groceries/typed", {"lines": list(range(200)), "text": "x"})
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/doc/typed")
    area = visit.page.get_by_label("The document", exact=True)
    area.evaluate("area => { area.focus(); const at = area.value.indexOf('x\"'); area.setSelectionRange(at, at); area.scrollTop = 1e6; }")
    visit.page.keyboard.type("0")
    visit.page.keyboard.press("Control+s")
    visit.page.wait_for_selector("text=Saved as")
    visit.settled()
    for letter in "ab":
        visit.page.keyboard.type(letter)
        visit.page.keyboard.press("Control+s")
        visit.page.keyboard.type(letter.upper())
        visit.page.wait_for_selector("text=Saved as")
        visit.settled()
    expect('"0aAbBx"' in area.input_value(), area.input_value()[-40:])
    expect(area.evaluate("area => area.scrollTop") > 1000, "the place in the text is lost")
    visit.page.keyboard.press("Control+s")
    until(lambda: room.server.json("GET", "groceries/typed")["text"] == "0aAbBx", "the last letter is not saved")


def a_query_tells_its_plan(room):
    """A query without an index says so and proposes one; with it the page shows the range and why others are passed over."""
    fill(room.server)
    room.server.ask("POST", "long/_index", {"index": {"fields": ["other"]}, "name": "by-other"})
    visit = room.visit()
    visit.log_in()
    visit.go("#/long/docs?q=n+%3E+4990")
    visit.page.click("text=make an index")
    visit.page.wait_for_selector("text=every document is looked at")
    visit.page.wait_for_selector("td a:has-text('doc-4991')")
    visit.page.get_by_role("button", name="Make an index for this…").focus()
    visit.page.keyboard.press("Enter")
    expect(visit.page.input_value("dialog input") == "n")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("text=from 4990 on")
    visit.page.wait_for_selector("h3:has-text('indexes passed over') + ul li:has-text('by-other: the query does not ask for all of its fields')")
    visit.page.get_by_role("button", name="JSON").click()
    visit.page.click("li summary:has-text('doc-4991')")
    visit.page.wait_for_selector("pre:has-text('4991')")
    found = visit.axe()
    expect(not found, str(found))


VALUES = r"""async at => {
  const [json, text, compare] = await Promise.all(['json', 'json-text', 'compare'].map(name => import(`${at}value/${name}.js`)));
  const deep = end => '{"a":['.repeat(10000) + end + ']}'.repeat(10000);
  const [one, other] = [json.parse(deep(1)), json.parse(deep(2))];
  const wrong = ['\u00a01', '\u000b1', '[1,]', '01', '"\t"', '{"a":1}x'].filter(word => { try { json.parse(word); return true; } catch { return false; } });
  const mistake = (() => { try { json.parse('{\n  "a": x}'); } catch (error) { return [error.line, error.column]; } })();
  return {
    equal: [json.equal(one, one), json.equal(one, json.parse(deep(1))), json.equal(one, other)],
    written: json.stringify(one) === deep(1), differ: compare.differences(one, other).length, laid: text.format(deep(1)).length > 0,
    last: json.stringify(json.parse(' \t\r\n{"b":1.50,"a":2,"b":1E3}')), twice: (await json.parseNoting('{"b":1,\n "b":2}')).duplicates,
    wrong, mistake, rev: text.withRev('{"x":{"_rev":"1-a"},"_rev" : "1-a","n":1.0}', '2-b'),
  };
}"""


def values(room):
    """Values that are nested 10,000 levels are read, compared and written; the last of two names counts; blanks are four."""
    visit = room.visit()
    visit.log_in()
    found = visit.page.evaluate(VALUES, visit.sources())
    expect(found["equal"] == [True, True, False] and found["written"] and found["differ"] == 1 and found["laid"], str(found))
    expect(found["last"] == '{"a":2,"b":1E3}' and found["twice"] == [{"name": "b", "line": 2, "column": 2}], str(found))
    expect(found["wrong"] == [] and found["mistake"] == [2, 8], str(found))
    expect(found["rev"] == '{"x":{"_rev":"1-a"},"_rev" : "2-b","n":1.0}', str(found))
    visit.go("#/groceries/doc")
    visit.page.get_by_label("The document", exact=True).fill('{"_id":"deepest","d":' + '{"a":[' * 5000 + "1" + "]}" * 5000 + ',"d":1,"d":2}')
    visit.page.wait_for_selector("text=The name “d” appears twice")


LONG_LINES = """async place => {
  const { codeArea } = await import(place + 'parts/code-area.js');
  const view = codeArea({ text: 'x\\n'.repeat(7) + 'x'.repeat(300000), label: 'long', readOnly: true });
  document.querySelector('main').replaceChildren(view.element);
  const paint = view.element.querySelector('.paint');
  const area = view.element.querySelector('.text');
  const height = parseFloat(getComputedStyle(paint).lineHeight) * 8;
  Object.assign(area.style, { boxSizing: 'content-box', padding: 0, minBlockSize: 0, maxBlockSize: 'none', blockSize: height + 'px' });
  await new Promise(done => setTimeout(done, 500));
  return { inside: area.clientHeight - height, painted: paint.textContent.length };
}"""


def long_lines_that_fit(room):
    """A long text whose lines are exactly as high as the area that shows them is painted."""
    visit = room.visit()
    visit.log_in()
    found = visit.page.evaluate(LONG_LINES, visit.sources())
    expect(found["inside"] == 0 and found["painted"] > 20_000, str(found))


DOCUMENTS = [long_lines_that_fit, five_thousand_documents, an_exact_id, typing_goes_on, a_query_tells_its_plan, an_older_revision,
             a_clash_of_an_object, a_losing_leaf_is_saved, values, eight_megabytes]
