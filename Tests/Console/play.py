"""Scenarios of the command palette, the keys, the demonstration, and the second language."""
import json
import os
import re
import subprocess
import sys

from room import Server, Visit, expect, until

TEXTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Scripts/console/texts.py")
FIND = "dialog.commands [role=combobox]"


def options(page):
    """What the palette lists."""
    return [text.strip() for text in page.locator("dialog.commands [role=option] .grow").all_inner_texts()]


def chosen(page):
    """The text of the option that Enter would choose, as a screen reader is told it."""
    return page.evaluate("document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('.grow').textContent")


def open_palette(page, words=""):
    page.keyboard.press("Control+k")
    page.wait_for_selector(FIND)
    page.keyboard.type(words)


def the_palette_reaches_everything(room):
    """With Ctrl K and words alone somebody opens databases, documents and places, and runs commands."""
    server = room.server
    server.ask("PUT", "orchard-2026")
    visit = room.visit()
    visit.log_in()
    page = visit.page
    # From within a field, whose text and focus stay.
    visit.go("#/groceries/docs")
    page.keyboard.press("/")
    page.keyboard.type("half a wo")
    open_palette(page, "nothing like this")
    page.wait_for_selector("dialog.commands :text('Nothing matches')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_function("() => document.activeElement.getAttribute('aria-label') === 'Search'")
    page.keyboard.type("rd")
    expect(page.get_by_label("Search", exact=True).input_value() == "half a word", "the focus is not in the field again")
    # A database by the middle of its name.
    open_palette(page, "hard-20")
    page.wait_for_selector("dialog.commands :text('orchard-2026')")
    page.keyboard.press("Enter")
    page.wait_for_selector("nav:has-text('orchard-2026')")
    page.wait_for_function("() => location.hash === '#/db/orchard-2026/docs' && document.activeElement.id === 'main'")
    # A place of the open database, by arrows; around the end of the list and back.
    open_palette(page, "con")
    page.keyboard.press("ArrowUp")
    last = chosen(page)
    page.keyboard.press("ArrowDown")
    expect(last == options(page)[-1] and chosen(page) == options(page)[0] == "Conflicts", f"{last} {options(page)}")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Conflicts')")
    # A document by its id, and by the beginning of one.
    visit.go("#/groceries/changes")
    open_palette(page, "id: item-1")
    page.wait_for_selector("dialog.commands :text('item-12')")
    expect(options(page)[0] == "Open the document “item-1”" and all("item-1" in text for text in options(page)), str(options(page)))
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('item-12')")
    # Only commands; one of them waits for its page.
    visit.settled()
    open_palette(page, ">")
    commands = options(page)
    for text in ("New document", "Settle many conflicts", "Compact this database", "New database", "New replication", "Theme: dark", "Copy as curl", "Copy as settle", "Keys", "Log out"):
        expect(text.lower() in [command.lower() for command in commands], f"{text} is not in {commands}")
    expect("Databases" not in commands and "Documents" not in commands, str(commands))
    page.keyboard.type("new repl")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('New replication')")
    open_palette(page, "new database")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog:has-text('A new database')")
    page.keyboard.type("orchard-new")
    page.keyboard.press("Enter")
    page.wait_for_selector("nav:has-text('orchard-new')")
    # What says in the palette that it is done.
    open_palette(page, "compact")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog.commands [role=status]:has-text('orchard-new is being compacted')")
    page.keyboard.press("Escape")
    open_palette(page, "theme dark")
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-theme=dark]")
    for name in ("orchard-2026", "orchard-new"):
        server.ask("DELETE", name)


def commands_are_copied(room):
    """The palette copies the command of the page, and shows it where a browser has no clipboard."""
    visit = room.visit()
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.log_in()
    page = visit.page
    visit.go("#/groceries/docs")
    open_palette(page, "as settle")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog.commands :text('Copied.')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("/")
    page.keyboard.press("Control+v")
    search = page.get_by_label("Search", exact=True)
    until(lambda: page.wait_for_timeout(20) or search.input_value(), "nothing is pasted", pause=0)
    text = search.input_value()
    expect(text.startswith("settle docs ") and text.endswith("/groceries"), text)
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.reload()
    page.wait_for_selector("tbody tr")
    open_palette(page, "as curl")
    page.keyboard.press("Enter")
    line = page.get_by_label("Copy it from here:")
    line.wait_for()
    expect(line.input_value().startswith("curl -u anna "), line.input_value())


def the_palette_of_a_member(room):
    """Whoever may not list databases opens one by its whole name, and is offered nothing that only administrators do."""
    room.server.ask("PUT", "_users/org.couchdb.user:carl", {"name": "carl", "type": "user", "roles": [], "password": "pw"})
    room.server.ask("PUT", "groceries/_security", {"members": {"names": ["carl"], "roles": []}})
    visit = room.visit()
    visit.log_in("carl", "pw")
    page = visit.page
    page.click("#palette")
    page.wait_for_selector(FIND)
    expect("New database" not in options(page) and "New replication" not in options(page), str(options(page)))
    page.keyboard.type("db: groceries")
    page.wait_for_selector("dialog.commands :text('Open the database “groceries”')")
    page.keyboard.press("Enter")
    page.wait_for_selector("nav:has-text('groceries')")
    open_palette(page, ">")
    expect("Compact this database" not in options(page), str(options(page)))
    page.keyboard.type("log out")
    page.keyboard.press("Enter")
    page.wait_for_selector("header:has-text('Log in')")
    room.server.ask("PUT", "groceries/_security", {"members": {"names": [], "roles": []}})


def the_palette_for_everybody(room):
    """The palette has no violation of axe, light and dark, and fits a telephone."""
    for width, scheme in ((1440, "light"), (1440, "dark"), (360, "light"), (360, "dark")):
        visit = room.visit(width=width, scheme=scheme)
        visit.log_in()
        visit.go("#/groceries/docs")
        open_palette(visit.page, "m")
        visit.page.wait_for_selector("dialog.commands :text('milk')")
        found = visit.axe()
        expect(not found, f"{width} {scheme}: {found}")
        wide = visit.page.evaluate("document.querySelector('.commands').getBoundingClientRect().right > innerWidth || document.documentElement.scrollWidth > innerWidth + 1")
        expect(not wide, f"wider than {width}")
        visit.page.keyboard.press("Escape")
        visit.page.keyboard.press("?")
        visit.page.wait_for_selector("dialog:has-text('Single keys are on')")
        found = visit.axe()
        expect(not found, f"keys, {width} {scheme}: {found}")


def each_key_is_switched_off(room):
    """The keys are listed by ?; each single one, and all of them, are switched off and on; G and a letter lead to places."""
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/groceries/docs")

    def press(keys, wanted):
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_function("wanted => location.hash === wanted", arg=wanted)
        visit.settled()

    def switch(label, is_on):
        page.keyboard.press("?")
        page.get_by_label(label, exact=True).set_checked(is_on)
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")

    press("gc", "#/db/groceries/conflicts")
    press("gq", "#/db/groceries/query")
    press("gd", "#/db/groceries/docs")
    page.keyboard.press("?")
    shown = page.inner_text("dialog")
    for text in ("On this page", "Everywhere", "Go to", "search or run a command", "Conflicts", "Replications"):
        expect(text in shown, f"{text} is not in {shown}")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    # One key off, the others stay; also after a reload.
    switch("c is on", False)
    page.reload()
    page.wait_for_selector("tbody tr")
    page.keyboard.press("c")
    press("gh", "#/db/groceries/changes")
    press("gd", "#/db/groceries/docs")
    switch("c is on", True)
    press("c", "#/db/groceries/doc")
    # A check box is no typing, and a field is; what is typed there stays.
    visit.go("#/groceries/query?selector={}")
    page.get_by_label("The query").press("g")
    page.get_by_label("The query").press("d")
    expect(page.get_by_label("The query").input_value().endswith("gd"), "a key of the editor is lost")
    visit.go("#/groceries/conflict/milk")
    page.locator("main input[type=radio]").first.focus()
    press("gd", "#/db/groceries/docs")
    # All off; those with Ctrl stay.
    switch("Single keys are on", False)
    for key in "gc?":
        page.keyboard.press(key)
    expect(page.locator("dialog").count() == 0 and page.evaluate("location.hash") == "#/db/groceries/docs", "a key is on")
    open_palette(page, "keys")
    page.keyboard.press("Enter")
    page.get_by_label("Single keys are on", exact=True).check()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    press("gb", "#/")


def of_the_demonstration(server):
    return [name for name in server.json("GET", "_all_dbs") if name.startswith("play-")]


def revisions(server):
    """What the three databases have of the item: its revision and its conflicts."""
    told = [server.json("GET", f"{name}/item?conflicts=true") for name in of_the_demonstration(server)]
    return [(doc["_rev"], doc.get("_conflicts")) for doc in told]


def begin_to_play(visit):
    visit.page.get_by_role("button", name="Make three databases and begin").press("Enter")
    visit.page.wait_for_selector("text=Next: step 1 of 9")


def next_step(visit, step):
    """By keyboard: the button keeps the focus from step to step."""
    expect(visit.page.evaluate("document.activeElement.textContent") == f"Next: step {step} of 9", f"the focus of step {step} is lost")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("step => document.querySelector('main').textContent.includes(`step ${step} of 9`) || step === 10", arg=step + 1, timeout=60_000)
    visit.settled()
    expect(visit.page.locator(".error").count() == 0, f"step {step}: {visit.page.inner_text('main')}")


def a_newcomer_plays(room):
    """On a server without databases somebody sees in nine steps how a conflict comes and settles, and nothing is left."""
    server = Server(room.server.settle, console=room.server.console.get("SETTLE_CONSOLE_FOLDER"))
    visit = Visit(room.chromium, server)
    try:
        visit.log_in()
        page = visit.page
        visit.go("#/")
        page.get_by_role("link", name="Play: two devices").press("Enter")
        page.wait_for_selector("h1:has-text('See how conflicts settle')")
        visit.settled()
        begin_to_play(visit)
        page.get_by_role("button", name="Next").focus()
        expect(page.locator("[aria-current=step]").count() == 1 and page.locator("fieldset:disabled").count() == 2)
        for step in (1, 2, 3, 4):
            next_step(visit, step)
        anna, ben, there = revisions(server)
        expect(len({anna, ben, there}) == 3 and not anna[1] and not there[1], "an offline device synced")
        for step in (5, 6):
            next_step(visit, step)
        everywhere = revisions(server)
        expect(len({json.dumps(one) for one in everywhere}) == 1 and len(everywhere[0][1]) == 1, str(everywhere))
        page.wait_for_selector("text=In conflict: Server")
        expect(page.locator(".play .tree").count() == 3 and page.locator("text=▲ in conflict, 2 leaves").count() == 3)
        page.get_by_text("What the server answers").click()
        shown = json.loads(page.get_by_role("region", name="What the server answers").inner_text())
        expect(shown["conflict"] and len(shown["leaves"]) == 2 and shown["policies"], "not what the server answers")
        page.get_by_role("button", name="Next").focus()
        next_step(visit, 7)
        database = [name for name in of_the_demonstration(server) if name.endswith("server")][0]
        body = {"policy": {"name": "threeWayMerge", "rules": {"/count": "sum"}, "on_clash": "winner"}, "dry_run": True}
        effect = server.json("POST", f"{database}/_settle/item", body)["effect"]
        rows = page.locator("section[aria-label='The conflict'] table:not(.outcomes) tbody tr").all_inner_texts()
        expect(len(rows) == len(effect["rows"]) and all(row["path"] in text and json.dumps(row["result"]) in text for row, text in zip(effect["rows"], rows)), f"{rows} {effect}")
        found = visit.axe()
        expect(not found, str(found))
        next_step(visit, 8)
        next_step(visit, 9)
        page.wait_for_selector("text=and no conflict.")
        everywhere = revisions(server)
        expect(len(set(everywhere)) == 1 and everywhere[0][1] is None, str(everywhere))
        item = server.json("GET", f"{database}/item")
        expect((item["name"], item["count"], item["note"]) == ("Oat milk", 4, "low fat"), str(item))
        page.get_by_role("button", name="Delete 3 databases").press("Enter")
        page.wait_for_selector("text=3 databases deleted.")
        expect(of_the_demonstration(server) == [], "databases are left")
        expect(not visit.complaints, str(visit.complaints))
    finally:
        visit.close()
        server.close()


def somebody_plays_freely(room):
    """Free play: edits of both forms, offline kept, what is typed stays through a sync, and leftovers of a visit are removed."""
    server = room.server
    server.ask("PUT", "play-12345678-server")  # nobody's demonstration
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/play")
    begin_to_play(visit)
    page.get_by_role("button", name="Play freely").press("Enter")
    anna, ben = (page.get_by_role("region", name=name) for name in ("Anna’s telephone", "Ben’s laptop"))

    def do(device, name):
        device.get_by_role("button", name=name).press("Enter")
        visit.settled()

    anna.get_by_label("Name").fill("Bread")
    do(anna, "Save")
    do(anna, "Sync")
    # What Ben types stays when the item comes, and is saved on it.
    ben.get_by_label("Note", exact=True).fill("with seeds")
    do(ben, "Sync")
    expect(ben.get_by_label("Name").input_value() == "Bread" and ben.get_by_label("Note", exact=True).input_value() == "with seeds")
    do(ben, "Save")
    ben.get_by_role("switch").uncheck()
    expect(ben.get_by_role("button", name="Sync").is_disabled(), "an offline device can sync")
    anna.get_by_label("Bought").check()
    do(anna, "Save")
    do(anna, "Sync")
    ben.get_by_role("switch").check()
    do(ben, "Sync")
    page.wait_for_selector("text=In conflict: Server")
    page.get_by_role("button", name="threeWayMerge").press("Enter")
    page.wait_for_selector("text=What will be written")
    page.get_by_role("button", name="Settle", exact=True).press("Enter")
    page.wait_for_selector("text=Settled on the server")
    do(anna, "Sync")
    do(ben, "Sync")
    page.wait_for_selector("text=and no conflict.")
    # Away and back: the visit goes on, or its databases go.
    ben.get_by_role("link").press("Enter")
    page.wait_for_selector("h1:has-text('Documents')")
    visit.go("#/play")
    page.get_by_role("button", name="Play on").press("Enter")
    page.wait_for_selector("section[aria-label=Server]:has-text('Bread × 0, bought, with seeds')")
    page.reload()
    page.get_by_role("button", name="Delete 3 databases").press("Enter")
    page.wait_for_selector("text=3 databases deleted.")
    expect(of_the_demonstration(server) == ["play-12345678-server"], str(of_the_demonstration(server)))
    server.ask("DELETE", "play-12345678-server")


def playing_needs_an_administrator(room):
    """A member is told that an administrator is needed; a telephone in the dark shows the whole page without violations."""
    room.server.ask("PUT", "_users/org.couchdb.user:dora", {"name": "dora", "type": "user", "roles": [], "password": "pw"})
    visit = room.visit()
    visit.log_in("dora", "pw")
    visit.go("#/play")
    expect("administrator" in visit.page.inner_text("main") and visit.page.locator("main button").count() == 0, visit.page.inner_text("main"))
    visit = room.visit(width=360, scheme="dark")
    visit.log_in()
    visit.go("#/play")
    begin_to_play(visit)
    visit.page.get_by_role("button", name="Next").focus()
    for step in range(1, 8):
        next_step(visit, step)
    found = visit.axe()
    expect(not found, str(found))
    expect(not visit.page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"), "wider than a telephone")
    visit.page.get_by_role("button", name="Delete 3 databases").press("Enter")
    visit.page.wait_for_selector("text=3 databases deleted.")


# What is the same in English and German.
SAME = {
    "Name", "Server", "Online", "Offline", "Updates", "Filter", "Views", "Journal", "Revision", "System", "Index", "Code", "Version", "Map", "Design", "Plan",
    "Esc", "ID", "Text", "Status", "JSON", "/status",
    "Settle",  # the name of the product
}
# Reasons and policies that the server tells in words that match.
TOLD = {"memberTable.onlyChanged", "plans.atMost"}
VISIBLE = """() => {
  const found = [];
  const isShown = element => element.checkVisibility({ visibilityProperty: true });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (isShown(walker.currentNode.parentElement) && !walker.currentNode.parentElement.closest('bdi,pre,code')) found.push(walker.currentNode.data);
  for (const element of document.querySelectorAll('[aria-label],[placeholder],[title],[data-label]')) {
    if (!isShown(element)) continue;
    for (const name of ['aria-label', 'placeholder', 'title', 'data-label']) if (element.hasAttribute(name)) found.push(element.getAttribute(name));
  }
  return found.map(text => text.trim()).filter(text => /[a-z]{2}/i.test(text));
}"""


def pattern(text):
    """What finds a text of a catalogue on a page, whatever its values are; nothing for one without words of its own."""
    if text[0] in "'\"":
        words = text[1:-1].strip()
        return None if words in SAME or not re.search(r"[A-Za-z]{2}", words) else re.escape(words)
    counted = re.search(r"=> count\(n, '([^']*)'(?:, '([^']*)')?\)$", text)
    if counted:
        return rf"[\d,.]+ (?:{re.escape(counted[1])}|{re.escape(counted[2] or counted[1] + 's')})"
    template = re.search(r"=> `(.*)`$", text)
    parts = re.split(r"\$\{(?:[^{}`]|`[^`]*`)*\}", template[1].strip()) if template else []
    return ".+".join(re.escape(part) for part in parts) if any(re.search(r"[a-z]{3}", part) for part in parts) else None


def nothing_is_left_in_english(room):
    """Every page, the palette, the keys, a dialog and the demonstration have no English text where a browser prefers German."""
    from scenarios import PAGES
    sys.path.insert(0, os.path.dirname(TEXTS))
    import texts
    told = subprocess.run([sys.executable, TEXTS, "--check"], capture_output=True, text=True)
    expect(told.returncode == 0, told.stdout)
    english, german = texts.texts("en.js"), texts.texts("de.js")
    # A text that is the same in both is one of the few above, or has no words.
    copied = {key: text for key, text in english.items() if german.get(key) == text and pattern(text)
              and not re.search(r"^\w+ => `\$\{\w+\}[^a-z]*`$", text) and not key.startswith("formats.")}
    expect(not copied, f"the same in both languages: {copied}")
    german_patterns = {pattern(text) for text in german.values()}
    wanted = {key: re.compile(pattern(text)) for key, text in english.items() if pattern(text) and pattern(text) not in german_patterns and german[key] != text and key not in TOLD}
    visit = room.visit(language="de-DE")
    visit.go("#/login")
    visit.page.fill("main input[autocomplete=username]", "anna")
    visit.page.fill("main input[type=password]", "correct horse")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("header .user:has-text('anna')")
    page, left = visit.page, {}

    def look(where):
        seen = set(page.evaluate(VISIBLE))
        left.update({f"{where}: {text}": key for text in seen for key, one in wanted.items() if one.fullmatch(text)})

    for where in PAGES + ["#/play"]:
        visit.go(where)
        look(where)
    visit.go("#/groceries/docs")
    open_palette(page, ">")
    look("the palette")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    look("the keys")
    page.keyboard.press("Escape")
    visit.go("#/")
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open]")
    look("a dialog")
    page.keyboard.press("Escape")
    visit.go("#/play")
    page.get_by_role("button", name="Drei Datenbanken anlegen und beginnen").press("Enter")
    for step in range(1, 10):
        page.get_by_role("button", name=f"Weiter: Schritt {step} von 9").press("Enter")
        page.wait_for_function("step => step === 9 || document.querySelector('main').textContent.includes(`Schritt ${step + 1} von 9`)", arg=step, timeout=60_000)
        visit.settled()
        look(f"step {step}")
    page.get_by_role("button", name="3 Datenbanken löschen").press("Enter")
    page.wait_for_selector("text=3 Datenbanken gelöscht.")
    expect(not left, str(left))


PLAY = [the_palette_reaches_everything, commands_are_copied, the_palette_of_a_member, the_palette_for_everybody, each_key_is_switched_off,
        a_newcomer_plays, somebody_plays_freely, playing_needs_an_administrator, nothing_is_left_in_english]
