"""Scenarios of the look: the frame around the pages, their states, and what style sheets must keep to."""
import glob
import os
import re

from room import WEB, Server, Visit, expect, milk, named

PAGES = ["#/", "#/db/groceries/docs?fields=name,count", "#/db/groceries/doc/milk", "#/db/groceries/conflicts", "#/db/groceries/conflict/milk",
         "#/db/groceries/settle", "#/db/groceries/query", "#/db/groceries/design/shop", "#/db/groceries/rights", "#/users", "#/server", "#/activity", "#/replications"]
SIDEWAYS = """() => ['main', '.top', '.foot', 'body'].filter(name => {
  const one = document.querySelector(name);
  return one.getClientRects().length && one.scrollWidth > one.clientWidth;
}).concat(document.scrollingElement.scrollWidth > innerWidth ? ['page'] : [])"""


def sheet(name):
    with open(os.path.join(WEB, name)) as file:
        return file.read()


# Colors

def roles():
    """The colors of the roles in tokens.css, light and dark, as red, green and blue."""
    def parts(text):
        digits = "".join(2 * one for one in text[:3]) if len(text) < 6 else text[:6]
        return [int(digits[place:place + 2], 16) for place in (0, 2, 4)]
    found = re.findall(r"--([\w-]+):light-dark\(#([0-9a-f]+),#([0-9a-f]+)\)", sheet("tokens.css"))
    return [{name: parts((light, dark)[index]) for name, light, dark in found} for index in (0, 1)]


def contrast(one, other):
    def luminance(color):
        linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colors_have_contrast(room):
    """Every text color of the tokens has 4.5 : 1 on every surface where it stands, and edges and the focus have 3 : 1."""
    surfaces = ["sunken", "bg", "surface", "raised", "hover"]
    states = ["good", "warn", "bad", "a", "b", "c", "d"]
    texts = ["text", "muted", "faint", "accent", "accent-hi", *states, "t-name", "t-string", "t-number", "t-word"]
    for theme in roles():
        expect(len(theme) > 30, f"{len(theme)} roles are found")
        pairs = [(text, surface, 4.5) for text in texts for surface in surfaces]
        pairs += [(state, f"{state}-bg", 4.5) for state in states] + [("text", f"{state}-bg", 4.5) for state in states]
        pairs += [("accent-hi", "accent-bg", 4.5), ("text", "accent-bg", 4.5), ("accent", "accent-bg", 4.5)]
        pairs += [(edge, surface, 3) for edge in ("edge", "accent") for surface in ("surface", "bg", "raised")]
        low = [(one, other, round(contrast(theme[one], theme[other]), 2)) for one, other, least in pairs if contrast(theme[one], theme[other]) < least]
        low += [("white", solid) for solid in ("solid", "bad-solid") if contrast([255] * 3, theme[solid]) < 4.5]
        expect(not low, f"too little contrast: {low}")


def sheets_are_small(room):
    """Both sheets have at most 25,000 bytes, colors stand in the tokens alone, and each drawing is used."""
    tokens, components, icons = sheet("tokens.css"), sheet("components.css"), sheet("icons.svg")
    expect(len(tokens.encode()) + len(components.encode()) <= 25_000, f"the sheets have {len(tokens.encode()) + len(components.encode())} bytes")
    raw = [one for one in re.findall(r"#[0-9a-f]{3,8}\b|\brgba?\([^)]*\)|\bhsla?\([^)]*\)", components) if one not in ("#fff", "rgb(6 14 18 / .5)")]
    expect(not raw, f"raw colors: {raw}")
    names = re.findall(r'<symbol id="([\w-]+)"', icons)
    expect(len(names) <= 40 and len(icons.encode()) <= 5000, f"{len(names)} drawings of {len(icons.encode())} bytes")
    modules = ""
    for name in glob.glob(os.path.join(WEB, "app/**/*.js"), recursive=True):
        with open(name) as file:
            modules += file.read()
    unused = [name for name in names if f"'{name}'" not in modules]
    expect(not unused, f"nothing uses {unused}")
    expect("setAttribute('style'" not in modules, "a module sets a style attribute")


# The frame

def the_frame_leads_everywhere(room):
    """The places beside the page have counts; another database is found by any part of its name; theme and density are kept."""
    server = room.server
    for name in ("warehouse-north", "warehouse-south"):
        server.ask("PUT", name)
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/groceries/docs")
    places = page.get_by_role("navigation", name="Database", exact=True)
    places.locator("li:has-text('Conflicts') .n.warn").wait_for()
    wanted = server.json("GET", "groceries/_conflicts?kind=all&limit=0")["total_rows"]
    expect(places.locator("li:has-text('Conflicts') .n").inner_text() == str(wanted), "another number of conflicts is told")
    expect(places.locator("[aria-current=page]").inner_text() == "Documents", "another place is marked")
    page.get_by_role("button", name="groceries").click()
    page.wait_for_selector("dialog [role=combobox]")
    page.keyboard.type("SOUTH")
    page.wait_for_selector("dialog [role=option]:has-text('warehouse-south')")
    # The rest of the names may arrive after the first ones.
    page.wait_for_function("() => document.querySelectorAll('dialog [role=option]').length === 1")
    expect(visit.axe() == [], str(visit.axe()))
    page.keyboard.press("Enter")
    page.wait_for_selector(".path:has-text('warehouse-south')")
    page.wait_for_selector("main h2:has-text('No documents yet')")
    page.get_by_role("button", name="warehouse-south").click()
    page.wait_for_selector("dialog [role=option]:has-text('warehouse-north')")
    first = page.locator("dialog [role=option]").all_inner_texts()[:2]
    expect("warehouse-south" in first[0] and "groceries" in first[1], f"the latest are not first: {first}")
    page.keyboard.press("Escape")
    expect(page.evaluate("document.activeElement.className") == "pick-db", "the focus does not go back")
    page.get_by_role("button", name="User menu: anna").click()
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_role("button", name="Dark", exact=True).click()
    page.get_by_role("button", name="Compact", exact=True).click()
    page.keyboard.press("Escape")
    page.reload()
    page.wait_for_selector(".pick-db")
    kept = page.evaluate("[document.documentElement.dataset.theme, document.documentElement.dataset.density, getComputedStyle(document.body).backgroundColor]")
    expect(kept[:2] == ["dark", "compact"] and kept[2] == "rgb(15, 21, 24)", str(kept))
    page.click("footer summary")
    page.wait_for_selector("footer pre")
    expect(visit.axe() == [], str(visit.axe()))
    expect(re.search(r"GET /warehouse-south/_all_docs 200 · [\d]+ ms", page.inner_text("footer .status")), page.inner_text("footer .status"))
    for name in ("warehouse-north", "warehouse-south"):
        server.ask("DELETE", name)


def places_that_are_forbidden(room):
    """Who is no administrator sees no places for administrators; what may not be read says so, and has no table."""
    server = room.server
    server.ask("PUT", "_users/org.couchdb.user:carla", {"name": "carla", "type": "user", "roles": [], "password": "pw"})
    server.ask("PUT", "hers")
    server.ask("PUT", "hers/_security", {"members": {"names": ["carla"], "roles": []}})
    visit = room.visit()
    visit.log_in("carla", "pw")
    page = visit.page
    visit.go("#/db/hers/docs")
    page.wait_for_selector("main h2:has-text('No documents yet')")
    shown = page.get_by_role("navigation", name="Server", exact=True).locator("li").all_inner_texts()
    expect(shown == ["Databases"], str(shown))
    visit.go("#/users")
    page.wait_for_selector("main .state.error [href$='#locked']", state="attached")
    expect(page.locator("main table, main .load").count() == 0, "something is there")
    expect(visit.axe() == [], str(visit.axe()))
    server.ask("DELETE", "hers")


def states_do_not_look_alike(room):
    """Loading, empty, nothing found, nothing to do and failed each have a picture of their own; a foot tells what is stale."""
    server = Server(room.server.settle)
    visit = Visit(room.chromium, server)
    room.visits.append(visit)
    page = visit.page
    server.ask("PUT", "empty")
    visit.log_in()
    visit.go("#/db/empty/docs")
    page.wait_for_selector("main .state:has-text('No documents yet') [href$='#alone']", state="attached")
    visit.go("#/db/empty/conflicts")
    page.wait_for_selector("main .state:has-text('No conflicts') [href$='#together']", state="attached")
    visit.go("#/")
    page.wait_for_selector(named("empty"))
    page.get_by_role("searchbox").first.fill("zzz")
    page.wait_for_selector("main .state:has-text('No database matches “zzz”')")
    waiting = []
    page.route("**/_journal", lambda route: waiting.append(route))
    page.evaluate("location.hash = '#/db/empty/journal'")
    page.wait_for_selector("main .load .bone >> nth=4")
    expect(visit.axe() == [], str(visit.axe()))
    waiting[0].continue_()
    page.unroute_all(behavior="ignoreErrors")
    page.wait_for_selector("main .load", state="detached")
    page.wait_for_selector("footer:has-text('Live')")
    visit.go("#/users")
    visit.go("#/activity")
    port = server.port
    opened = room.visit(server)
    opened.log_in()
    opened.page.keyboard.press("Control+k")
    opened.page.wait_for_selector("dialog.commands")
    opened.page.keyboard.press("Escape")
    server.kill()
    opened.page.keyboard.press("Control+k")
    fault = opened.page.locator("dialog.commands [role=alert]:has-text('does not answer')")
    fault.wait_for(timeout=30_000)
    opened.page.keyboard.type("databases")
    fault.wait_for(timeout=30_000)
    page.wait_for_selector("footer .warn:has-text('Stale, ')", timeout=30_000)
    expect(page.locator("main .state, main .card").count() > 0, "what was there is gone")
    page.evaluate("location.hash = '#/users'")
    page.wait_for_selector("main .state.error [href$='#unplugged']", state="attached", timeout=30_000)
    # A page that has not loaded the palette yet.
    page.keyboard.press("Control+k")
    page.wait_for_selector("dialog:not(.commands):has-text('does not answer')", timeout=30_000)
    page.keyboard.press("Escape")
    server.start(port)
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("footer:has-text('Live')")
    server.close()


# What a page takes from whoever uses it

def long_names_stay_in_the_frame(room):
    """With names of 200 and ids of 500 characters nothing scrolls sideways, neither the page nor what is opened over it."""
    server = room.server
    database, identifier = "n" * 200, "x" * 500
    server.ask("PUT", database)
    server.store(database, *milk(identifier))
    for width in (360, 700, 1024, 1440):
        visit = room.visit(width=width)
        visit.log_in()
        page = visit.page
        for where in (f"#/db/{database}/docs?fields=name", f"#/db/{database}/doc/{identifier}", f"#/db/{database}/conflicts", f"#/db/{database}/settle", f"#/db/{database}/conflict/{identifier}"):
            visit.go(where)
            page.wait_for_timeout(200)
            expect(page.evaluate(SIDEWAYS) == [], f"{where[-30:]} at {width}: {page.evaluate(SIDEWAYS)}")
        if width < 720:
            visit.go(f"#/db/{database}/docs")
            page.get_by_role("button", name="More", exact=True).click()
            page.wait_for_selector("dialog.sheet a:has-text('Permissions')")
            expect(visit.axe() == [], str(visit.axe()))
            page.get_by_role("button", name="Another database").click()
        else:
            page.click(".pick-db")
            page.wait_for_selector("dialog [role=option]")
            page.keyboard.press("Escape")
            page.wait_for_selector("dialog", state="detached")
            page.click("footer summary")
            page.wait_for_selector("footer pre")
            page.click(".pick-db")
        page.wait_for_selector("dialog [role=option]")
        expect(page.evaluate(SIDEWAYS) == [], f"what lies over the page at {width}: {page.evaluate(SIDEWAYS)}")
        expect(page.evaluate("[...document.querySelectorAll('dialog')].every(one => one.scrollWidth <= one.clientWidth)"), f"the list scrolls sideways at {width}")
    server.ask("DELETE", database)


SHIFTS = "window.shifted = 0; new PerformanceObserver(list => list.getEntries().forEach(one => { if (!one.hadRecentInput) shifted += one.value; })).observe({ type: 'layout-shift', buffered: true });"


# Where the rows and what follows the list stand, from the top of the list on.
PLACES = """() => {
  const top = document.querySelector('.key-list').getBoundingClientRect().top;
  return [...document.querySelectorAll('main tbody tr, main form.toolbar:last-child')].map(one => one.getBoundingClientRect().top - top);
}"""


def nothing_moves(room):
    """While a page is loaded its parts move by at most 0.02, and while it is read again by 0.005."""
    visit = room.visit()
    visit.log_in()
    page = visit.page
    page.add_init_script(SHIFTS)
    moved = []
    for where in PAGES:
        visit.go(where)
        page.reload()
        page.wait_for_selector("main h1")
        visit.settled()
        page.wait_for_timeout(400)
        moved.append((round(page.evaluate("shifted"), 4), where))
    expect(max(moved)[0] <= 0.02, str([one for one in moved if one[0] > 0.02]))
    # The selection bar stands where the pager was.
    visit.go("#/db/groceries/docs")
    page.wait_for_selector("main tbody tr >> nth=5")
    page.wait_for_timeout(400)
    before, place = page.evaluate("shifted"), page.evaluate(PLACES)
    for number in (2, 4):
        # By the keyboard, since what follows a click within half a second does not count as a shift.
        page.locator("main tbody tr").nth(number).locator("a").first.focus()
        page.keyboard.press("Space")
        page.wait_for_selector(f"main .bulk:has-text('{number // 2} selected')")
        page.wait_for_timeout(100)
    expect(page.evaluate("shifted") == before and page.evaluate(PLACES) == place, "the selection bar moves something")
    for where, seconds in (("#/activity", 5), ("#/replications", 11), ("#/", 11)):
        visit.go(where)
        page.reload()
        page.wait_for_selector("main h1")
        page.wait_for_timeout(800)
        before = page.evaluate("shifted")
        room.server.ask("PUT", f"groceries/moved-{seconds}-{len(where)}", {"n": 1})
        page.wait_for_timeout(seconds * 1000)
        expect(page.evaluate("shifted") - before <= 0.005, f"{where} moves while it is read again")


# Links within a sentence have the height of its line; a check box has that of its label.
TARGETS = """least => {
  const isText = one => one.matches('a:not(.button)') && getComputedStyle(one).display === 'inline';
  const found = [...document.querySelectorAll('a[href], button, select, summary, input:not([type=hidden])')].filter(one => one.getClientRects().length && !isText(one) && !one.closest('.sr, .skip'));
  return found.map(one => [one, (one.closest('label') ?? one).getBoundingClientRect()]).filter(([, box]) => box.height < least - .5 || box.width < least - .5)
    .map(([one, box]) => `${one.outerHTML.slice(0, 80)} ${Math.round(box.width)}x${Math.round(box.height)}`);
}"""
TOUCHED = """() => [...document.querySelectorAll('.bar > *, .bar a, .dock button, .dock a, .seg.phone button, .key-list tbody tr')].filter(one => one.getClientRects().length)
  .map(one => [one.className, one.getBoundingClientRect().height]).filter(([, height]) => height < 43.5)"""


def targets_are_large_enough(room):
    """What can be pressed is 24 pixels wide and high, and under a finger the rows, the dock and the bar are 44 high."""
    visit = room.visit()
    visit.log_in()
    for where in PAGES:
        visit.go(where)
        visit.page.wait_for_timeout(200)
        small = visit.page.evaluate(TARGETS, 24)
        expect(not small, f"{where}: {small[:4]}")
    visit = room.visit(width=390, has_touch=True, is_mobile=True)
    visit.log_in()
    for where in ("#/db/groceries/docs", "#/db/groceries/conflict/milk", "#/db/groceries/doc/milk", "#/db/groceries/conflicts", "#/"):
        visit.go(where)
        visit.page.wait_for_timeout(300)
        small = visit.page.evaluate(TARGETS, 24)
        expect(not small, f"{where} on a telephone: {small[:4]}")
        expect(visit.page.evaluate(TOUCHED) == [], f"{where}: {visit.page.evaluate(TOUCHED)[:4]}")


def everybody_can_see_it(room):
    """With reduced motion nothing moves; at 200 % and with forced colors axe finds nothing and nothing scrolls sideways."""
    visit = room.visit(reduced_motion="reduce")
    visit.log_in()
    waiting = []
    visit.page.route("**/_all_dbs?**", lambda route: waiting.append(route))
    visit.page.evaluate("location.hash = '#/db/groceries/docs'")
    visit.page.wait_for_selector(named("item-00"))
    visit.page.evaluate("location.hash = '#/'")
    visit.page.wait_for_selector("main .bone >> nth=0")
    still = "document.getAnimations().length === 0 && [...document.querySelectorAll('*')].every(one => getComputedStyle(one).transitionDuration === '0s')"
    expect(visit.page.evaluate(still), "something moves")
    visit.page.unroute_all(behavior="ignoreErrors")
    for options in ({"width": 720, "device_scale_factor": 2}, {"forced_colors": "active"}, {"forced_colors": "active", "scheme": "dark", "width": 360}):
        visit = room.visit(**options)
        visit.log_in()
        for where in ("#/", "#/db/groceries/docs?fields=name", "#/db/groceries/conflict/milk", "#/db/groceries/doc/milk", "#/server"):
            visit.go(where)
            visit.page.wait_for_timeout(200)
            # Forced colors are the system's, not those of the page.
            found = [one for one in visit.axe() if "forced_colors" not in options or not one.startswith("color-contrast")]
            expect(not found, f"{where} with {options}: {found}")
            expect(visit.page.evaluate(SIDEWAYS) == [], f"{where} with {options}: {visit.page.evaluate(SIDEWAYS)}")
            small = visit.page.evaluate(TARGETS, 24)
            expect(not small, f"{where} with {options}: {small[:4]}")


LOOK = [colors_have_contrast, sheets_are_small, the_frame_leads_everywhere, places_that_are_forbidden, states_do_not_look_alike, long_names_stay_in_the_frame, nothing_moves,
        targets_are_large_enough, everybody_can_see_it]
