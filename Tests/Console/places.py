"""Scenarios of keys and addresses: where they lead, and what is shown meanwhile."""
from room import expect, milk, named, until


def keys_after_a_key(room):
    """Each single key of the inspector works after each other one, with nothing but the keyboard."""
    room.server.store("groceries", *milk("keyed"))
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/conflict/keyed")
    page = visit.page
    page.wait_for_selector("text=What will be written")

    def press(keys, row, told):
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_selector(f"tr.current[data-path='{row}']:has-text('{told}')")

    press("n", "/count", "clash")
    press("2", "/count", "picked by you")
    page.wait_for_selector("tr.current td:has(:checked) [aria-label^='B ']", state="attached")
    press("3", "/count", "picked by you")
    page.wait_for_selector("tr.current td:has(:checked) [aria-label^='C ']", state="attached")
    press("0", "/count", "picked by you")
    page.wait_for_selector("tr.current td:has(:checked) [aria-label^='base']", state="attached")
    press("x", "/count", "picked by you")
    press("uuuu", "/count", "clash")
    press("n", "/tags", "clash")
    press("p", "/count", "clash")
    page.keyboard.press("e")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("?")
    page.wait_for_selector("dialog:has-text('Single keys are on')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    press("2", "/count", "picked by you")
    page.wait_for_selector("button.act:not([disabled])")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=Settled.")
    now = room.server.json("GET", "groceries/keyed?conflicts=true")
    expect(now["count"] in (1, 2, 3) and "_conflicts" not in now, str(now))


def databases_named_as_pages(room):
    """Databases that are called as pages are open under their names; older addresses lead to the same pages."""
    names = ["users", "server", "activity", "login", "replications", "replication", "database", "db", "docs"]
    for name in names:
        room.server.ask("PUT", name)
        room.server.ask("PUT", f"{name}/in-{name}", {"x": 1})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/")
    for name in names:
        page.click(named(name))
        page.wait_for_selector(named(f"in-{name}"))
        for tab in ("Conflicts", "Changes", "Query", "Permissions", "Documents"):
            page.get_by_role("link", name=tab, exact=True).click()
            page.wait_for_selector(f"h1:has-text('{tab}')")
            expect(page.inner_text("nav.path li:nth-child(2)") == name, f"{tab} of {name} is another place")
        # Until the list is read, a row may be drawn anew while it is pressed.
        visit.settled()
        page.click(named(f"in-{name}"))
        page.wait_for_selector(f"h1:has-text('in-{name}')")
        page.get_by_role("link", name="127.0.0.1").click()
        page.wait_for_selector("h1:has-text('Databases')")
    for old, heading in (("#/groceries/docs?q=item*", "Documents"), ("#/users", "Users"), ("#database/groceries/_all_docs", "Documents")):
        visit.go(old)
        expect(page.inner_text("h1") == heading, old)
    visit.go("#/groceries/docs?q=item*")
    expect(page.evaluate("location.hash").startswith("#/db/groceries/docs?q=item"), "the address is still the older one")
    for name in names:
        room.server.ask("DELETE", name)


def a_slow_network(room):
    """While a page is read, the one before it is gone, and the page says that it is being read."""
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/")
    page.wait_for_selector("a:has-text('groceries')")
    waiting = []
    page.route("**/documents.js", lambda route: waiting.append(route))
    page.click(named("groceries"))
    page.wait_for_selector("main:has-text('Loading')")
    expect(page.locator("main table, main button, main h1").count() == 0, "the databases are still there")
    expect(page.locator("footer .status").inner_text() == "", "the foot tells of the page before")
    until(lambda: page.wait_for_timeout(20) or waiting, "nothing is asked for", pause=0)
    waiting[0].continue_()
    page.wait_for_selector("h1:has-text('Documents')")


def a_way_back_that_is_refused(room):
    """Who goes back over unsaved text, and then stays, can go back later, to the same page as before."""
    visit = room.visit()
    visit.log_in()
    page = visit.page
    for where in ("#/db/groceries/query", "#/db/groceries/docs", "#/db/groceries/doc/item-03"):
        visit.go(where)
    area = page.get_by_label("The document", exact=True)
    area.fill(area.input_value().replace("Item 3", "Item three"))
    answers = ["dismiss", "accept"]
    visit.on_dialog = lambda dialog: getattr(dialog, answers.pop(0))()
    page.evaluate("history.back()")
    until(lambda: page.wait_for_timeout(20) or len(answers) < 2, "nothing is asked", pause=0)
    page.wait_for_function("() => location.hash === '#/db/groceries/doc/item-03'")
    expect("Item three" in area.input_value(), "what was typed is lost")
    page.wait_for_timeout(100)
    page.evaluate("history.back()")
    page.wait_for_selector("h1:has-text('Documents')")
    expect(answers == [], "nothing was asked")
    page.evaluate("history.back()")
    page.wait_for_selector("h1:has-text('Query')")


def a_file_beside_its_place(room):
    """A file that is dropped beside the section of attachments is not opened, so that the text stays; in the section it is attached."""
    drop = """one => {
      const files = new DataTransfer();
      files.items.add(new File(['hi'], 'dropped.txt', { type: 'text/plain' }));
      return ['dragover', 'drop'].map(name => one.dispatchEvent(new DragEvent(name, { dataTransfer: files, bubbles: true, cancelable: true })));
    }"""
    visit = room.visit()
    visit.log_in()
    visit.go("#/db/groceries/doc/item-05")
    expect(visit.page.locator("h1").evaluate(drop) == [False, False], "the browser opens the file")
    visit.page.locator("section:has(h2:text-is('Attachments'))").evaluate(drop)
    visit.page.wait_for_selector("li:has-text('dropped.txt')")
    expect("dropped.txt" in room.server.json("GET", "groceries/item-05")["_attachments"])


PLACES = [keys_after_a_key, databases_named_as_pages, a_slow_network, a_file_beside_its_place, a_way_back_that_is_refused]
