"""Scenarios of the inspector's details, and of functions that are tried."""
import json

from room import expect, revision


def long_texts_by_lines(room):
    """A long text stands beside the base by lines: what went, what came, and equal lines folded."""
    lines = [f"line {number}" for number in range(60)]
    changed = lines[:30] + ["another line"] + lines[31:] + ["one more"]
    room.server.ask("PUT", "texts")
    room.server.store("texts", revision("letter", "1", {"text": "\n".join(lines)}),
                      revision("letter", "b1", {"text": "\n".join(changed)}), revision("letter", "a1", {"text": "\n".join(lines), "n": 1}))
    visit = room.visit()
    visit.log_in()
    visit.go("#/texts/conflict/letter")
    row = visit.page.locator("tr[data-path='/text']")
    row.locator("summary").nth(1).focus()
    visit.page.keyboard.press("Enter")
    block = row.locator(".by-lines")
    block.wait_for()
    expect([one.inner_text() for one in block.locator("del").all()] == ["− line 30"], block.inner_text())
    expect([one.inner_text() for one in block.locator("ins").all()] == ["+ another line", "+ one more"], block.inner_text())
    expect("28 lines the same" in block.inner_text(), block.inner_text())
    expect(visit.axe() == [], str(visit.axe()))


def who_when_and_where(room):
    """Stamped values have their device, which gets a name; without stamps a member of the app's own says who, else nothing does."""
    server = room.server
    server.ask("PUT", "stamped")
    server.ask("PUT", "stamped/_attribute_clocks", True)
    first = server.json("PUT", "stamped/milk", {"name": "Milk"})["rev"]
    server.json("PUT", f"stamped/milk?rev={first}", {"name": "Oat milk"})
    server.store("stamped", {"_id": "milk", "_revisions": {"start": 2, "ids": ["c" * 32, first[2:]]}, "name": "Soy milk"})
    visit = room.visit()
    visit.log_in()
    visit.go("#/stamped/conflict/milk")
    visit.page.get_by_text("Who, when and where").click()
    label = visit.page.locator("label:has-text('Device ')").first
    device = label.locator("bdi").inner_text()
    expect(visit.page.locator(f"td .blame:has-text('{device}')").count() >= 1, "the value has no device")
    label.locator("input").fill("Anna's telephone")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("td .blame:has-text(\"Anna's telephone\")")
    expect(visit.page.locator("th .blame:has-text('not recorded')").count() == 1, "the other leaf is not stamped")
    kept = server.json("GET", "stamped/_local/settle-console")
    expect(kept["devices"] == {device: "Anna's telephone"}, str(kept))

    visit.go("#/groceries/conflict/milk")
    expect(visit.page.locator("th .blame:has-text('not recorded')").count() == 3, "three leaves are not stamped")
    visit.page.get_by_text("Who, when and where").click()
    visit.page.get_by_label("Field that says who").fill("/note")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("th .blame:has-text('low fat')")
    expect(visit.page.locator("th .blame:has-text('not recorded')").count() == 1, "one leaf has no note")


def save_design(page, words):
    """Saves a design document after a question that has some words."""
    page.keyboard.press("Control+s")
    page.wait_for_selector(f"dialog:has-text('{words}')")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")


def functions_are_tried(room):
    """A filter is tried with a query; what a map throws and logs has its document and line; a rule is tried as anybody."""
    server = room.server
    design = {"filters": {"big": "function (doc, req) {\n  return doc.count > req.query.least;\n}"}, "x": 1,
              "views": {"lib": {"half": "exports.of = function (n) { return n / 2; };"}, "v": {"map": "function (doc) { emit(1); }"}}}
    server.ask("PUT", "shop")
    server.ask("POST", "shop/_bulk_docs", {"docs": [{"_id": f"item-{number:02}", "count": number} for number in range(40)]})
    server.ask("PUT", "shop/_design/tried", design)
    visit = room.visit()
    visit.log_in()
    visit.go("#/shop/design/tried")
    page = visit.page
    page.get_by_role("button", name="filter big").click()
    page.get_by_label("req.query").fill("least=1")
    page.get_by_label("Which documents").fill("item*")
    page.wait_for_selector("tr:has-text('item-02') >> text=passes")
    page.wait_for_selector("tr:has-text('item-01') >> text=is left out")
    page.get_by_role("button", name="view v").click()
    page.get_by_label("Which documents").fill("count > 36")
    area = page.get_by_label("The map function")
    area.fill("function (doc) {\n  log('saw ' + doc._id);\n  if (doc.count == 38) doc.none.x;\n  emit(require('views/lib/half').of(doc.count));\n}")
    page.wait_for_selector("p.bad:has-text('item-38'):has-text('line 3')")
    page.wait_for_selector("td:has-text('18.5')")
    page.wait_for_selector("pre:has-text('saw item-39')")
    page.get_by_role("button", name="Go there").click()
    expect(page.evaluate("document.activeElement.tagName") == "TEXTAREA", "the cursor is not in the function")
    page.get_by_label("Reduce").fill("_count")
    page.wait_for_selector("p:has-text('reduced: 2')")
    page.get_by_role("button", name="+ Validation function").click()
    page.get_by_label("The validation function").fill("function (doc, old, user) {\n  if (!user.name) throw({unauthorized: 'who?'});\n  if (old && doc.count < old.count) throw({forbidden: 'less than ' + old.count});\n}")
    page.get_by_label("With this new document").fill(json.dumps({"_id": "item-05", "count": 4}))
    page.wait_for_selector("td.bad:has-text('who?')")
    page.get_by_label("Run as").fill("ben")
    page.wait_for_selector("td.bad:has-text('less than 5')")
    save_design(page, "builds 1 view")
    page.wait_for_selector("text=Saved.")
    # It is not read again, so that what is typed from now on stays.
    area = page.get_by_label("The validation function")
    expect(area.is_visible(), "another function is shown")
    stored = server.json("GET", "shop/_design/tried")
    expect(stored["filters"] == design["filters"] and stored["x"] == 1 and stored["views"]["lib"] == design["views"]["lib"], str(stored))
    expect(stored["validate_doc_update"].startswith("function (doc, old, user)") and stored["views"]["v"]["reduce"] == "_count", str(stored))
    page.get_by_role("button", name="validation function", exact=True).click()
    page.get_by_role("button", name="Remove this validation function").click()
    save_design(page, "No view is rebuilt")
    expect("validate_doc_update" not in server.json("GET", "shop/_design/tried"), "the rule is still there")
    page.get_by_role("button", name="filter big").click()
    page.get_by_label("The filter function").fill("function () { return true; }")
    page.keyboard.press("Control+s")
    page.wait_for_selector("dialog:has-text('No view is rebuilt')")
    expect(visit.axe() == [], str(visit.axe()))


def a_function_keeps_its_lines(room):
    """A reduce function has its lines when it is shown and edited; functions that nobody has touched are stored as they were spelt."""
    server = room.server
    lines = "function (keys, values) {\n  // all of them\n  return sum(values);\n}"
    spelt = "function (keys, values) {\r\n  // all of them\r\n  return values.length;\r\n}"
    views = {"a": {"map": "function (doc) {\r\n  emit(doc.n, 1);\r\n}", "reduce": spelt},
             "b": {"map": "function (doc) {\n  emit(doc.n, 1);\n}", "reduce": lines}, "c": {"map": "function (doc) { emit(doc.n, 1); }", "reduce": lines}}
    server.ask("PUT", "lines")
    server.ask("PUT", "lines/_design/kept", {"views": views})
    visit = room.visit()
    visit.log_in()
    visit.go("#/db/lines/design/kept")
    page = visit.page
    for name in "bac":
        page.get_by_role("button", name=f"view {name}").click()
        page.wait_for_selector(f"[aria-pressed=true]:has-text('view {name}')")
    reduce = page.get_by_label("Reduce")
    expect(reduce.input_value() == lines, reduce.input_value())
    expect(visit.axe() == [], str(visit.axe()))
    save_design(page, "No view is rebuilt")
    expect(server.json("GET", "lines/_design/kept")["views"] == views, str(server.json("GET", "lines/_design/kept")))
    changed = lines.replace("sum(values)", "values.length")
    reduce.fill(changed)
    save_design(page, "builds 3 views")
    views["c"]["reduce"] = changed
    expect(server.json("GET", "lines/_design/kept")["views"] == views, str(server.json("GET", "lines/_design/kept")))
    reduce.fill("")
    save_design(page, "builds 3 views")
    del views["c"]["reduce"]
    expect(server.json("GET", "lines/_design/kept")["views"] == views, str(server.json("GET", "lines/_design/kept")))


def all_design_documents_are_listed(room):
    """The list of design documents has all of them, also more than 200."""
    room.server.ask("PUT", "designs")
    docs = [{"_id": f"_design/d{number:03}", "views": {}} for number in range(230)]
    room.server.ask("POST", "designs/_bulk_docs", {"docs": docs})
    visit = room.visit()
    visit.log_in()
    visit.go("#/db/designs/design")
    visit.page.wait_for_selector("main tbody tr")
    listed = visit.page.locator("main tbody th").all_inner_texts()
    expect(listed == [f"d{number:03}" for number in range(230)], f"{len(listed)} are listed")


INSPECTING = [long_texts_by_lines, who_when_and_where, functions_are_tried, a_function_keeps_its_lines, all_design_documents_are_listed]
