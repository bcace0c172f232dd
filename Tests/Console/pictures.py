"""The pages look as they did: pictures of them are compared with those that are kept in `pictures`."""
import os
import subprocess

from PIL import Image, ImageChops

from room import expect, revision

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")
DIFFERENT = ".build/console-pictures"
# Colors of the kept pictures are rounded to multiples of this, so that the files are small.
STEP = 24
# A pixel differs when one of its three colors does by more than this of 255.
THRESHOLD = 40
# The share of pixels that may differ. One browser draws one page with the same pixels each time; the rest is for its next version.
SHARE = 0.0002

# Each page once: its name, its address, the width in pixels, the scheme, and what must be there.
PAGES = [
    ("databases", "#/", 1280, "light", "main tr:has-text('groceries') td"),
    ("databases-telephone", "#/", 390, "dark", "main tr:has-text('groceries') td"),
    ("documents", "#/db/groceries/docs?fields=name,count", 1280, "dark", "td bdi:text-is('39')"),
    ("documents-found", "#/db/groceries/docs?q=count+%3E+30&fields=name,count", 1280, "light", "td bdi:text-is('39')"),
    ("documents-telephone", "#/db/groceries/docs", 390, "light", ".key-list tbody th"),
    ("document", "#/db/groceries/doc/milk", 1280, "light", ".code .paint:has-text('low fat')"),
    ("document-telephone", "#/db/groceries/doc/item-01", 390, "dark", ".code .paint:has-text('Item 1')"),
    ("conflicts", "#/db/groceries/conflicts", 1280, "dark", "main >> text=milk"),
    ("conflict", "#/db/groceries/conflict/milk", 1280, "light", "button.act:not([disabled])"),
    ("conflict-dark", "#/db/groceries/conflict/milk", 1280, "dark", "button.act:not([disabled])"),
    ("conflict-telephone", "#/db/groceries/conflict/milk", 390, "light", "button.act:not([disabled])"),
    ("deletion-telephone", "#/db/groceries/conflict/tea", 390, "dark", "button.act:not([disabled])"),
    ("settle-telephone", "#/db/groceries/settle", 390, "light", "main button"),
    ("changes", "#/db/groceries/changes", 1280, "dark", "main:has-text('live') li:has-text('item-28')"),
    ("query", "#/db/groceries/query?selector={%22count%22:{%22$gt%22:37}}", 1280, "light", "main >> text=item-39"),
    ("design-telephone", "#/db/groceries/design", 390, "dark", "main >> text=by-count"),
    ("view", "#/db/groceries/design/shop", 1280, "light", "td >> text=item-00"),
    ("rights-telephone", "#/db/groceries/rights", 390, "light", "main h2"),
    ("users", "#/users", 1280, "dark", "main >> text=ben"),
    ("replications", "#/replications", 1280, "light", "main h1"),
    ("activity-telephone", "#/activity", 390, "dark", "h1"),
    ("login-telephone", "#/login", 390, "light", "main input[type=password]"),
]

# Writes the same in place of what is another each time: addresses, times, sizes, and what says that it changes.
STILL = r"""() => {
  const changing = [[/127\.0\.0\.1:\d+/g, '127.0.0.1:5984'], [/\d[\d,.]*([\u00a0 ](?:ms|µs|s|min|h|B|bytes|kB|MB|GB)\b)/g, '1$1'],
                    [/[A-Z][a-z]{2} \d+, \d{4}, [\d:]+[\u202f ][AP]M/g, 'Jan 1, 2027, 12:00:00 PM']];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const before = texts.currentNode.data;
    const after = changing.reduce((text, [sought, still]) => text.replace(sought, still), before);
    if (after !== before) texts.currentNode.data = after;
  }
  for (const one of document.querySelectorAll('[data-volatile], footer .status')) one.textContent = '…';
  document.activeElement?.blur();
}"""


def fonts():
    """Why pictures can't be compared here, or nothing: they are kept with Debian's fonts."""
    try:
        shown = {kind: subprocess.run(["fc-match", kind], capture_output=True, text=True, check=True).stdout for kind in ("sans-serif", "system-ui", "monospace")}
    except (OSError, subprocess.CalledProcessError):
        return "fc-match is not there"
    other = [name.strip() for name in shown.values() if "DejaVu" not in name]
    return f"the fonts are others: {other[0]}" if other else None


def fill(server):
    server.ask("PUT", "_users/org.couchdb.user:ben", {"name": "ben", "type": "user", "roles": ["staff"], "password": "pw"})
    server.ask("PUT", "cellar")
    server.store("cellar", revision("wine", "1", {"year": 2020}))


def version(browser):
    return f"Chromium {browser.version}"


def keep(name, path):
    os.makedirs(KEPT, exist_ok=True)
    with Image.open(path) as picture:
        few = picture.convert("RGB").point(lambda value: min(255, round(value / STEP) * STEP))
    number = len(few.getcolors(few.width * few.height))
    if number <= 256:
        few = few.quantize(number, dither=Image.Dither.NONE)
    few.save(os.path.join(KEPT, f"{name}.png"), optimize=True)


def compared(name, path):
    """What differs from the picture that is kept, or nothing."""
    kept = os.path.join(KEPT, f"{name}.png")
    if not os.path.exists(kept):
        return f"{name}: no picture is kept"
    with Image.open(kept) as one, Image.open(path) as other:
        before, now = one.convert("RGB"), other.convert("RGB")
    if before.size != now.size:
        return f"{name}: {now.size} and not {before.size}"
    channels = ImageChops.difference(before, now).split()
    most = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    marked = most.point(lambda value: 255 if value > THRESHOLD else 0)
    share = marked.histogram()[255] / (marked.width * marked.height)
    if share <= SHARE:
        return None
    shown = Image.new("RGB", (before.width * 3 + 20, before.height), "gray")
    for place, picture in enumerate((before, now, Image.composite(Image.new("RGB", now.size, "red"), now.convert("L").convert("RGB"), marked))):
        shown.paste(picture, (place * (before.width + 10), 0))
    os.makedirs(DIFFERENT, exist_ok=True)
    told = os.path.join(DIFFERENT, f"{name}.png")
    shown.save(told)
    return f"{name}: {share:.2%} of the pixels differ, as {told} shows: before, now, where"


def take(room, width, scheme, each):
    """Calls a function for each picture of a width and a scheme."""
    fill(room.server)
    visit = room.visit(width=width, scheme=scheme)
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.page.clock.set_fixed_time("2027-01-01T12:00:00Z")
    visit.log_in()
    os.makedirs(DIFFERENT, exist_ok=True)
    for name, where, _, _, there in [page for page in PAGES if page[2:4] == (width, scheme)]:
        visit.go(where)
        visit.page.wait_for_selector(there)
        visit.settled()
        visit.page.evaluate("document.fonts.ready")
        visit.page.evaluate(STILL)
        path = os.path.join(DIFFERENT, f"{name}-now.png")
        visit.page.screenshot(path=path, animations="disabled", caret="hide")
        each(name, path)


def pictures(width, scheme, isKept=False):
    def scenario(room):
        if isKept:
            take(room, width, scheme, keep)
            return
        found = []
        take(room, width, scheme, lambda name, path: found.append(compared(name, path)))
        found = [one for one in found if one]
        hint = f"{version(room.browser)} here. Is it meant? Then run Scripts/console-test.sh --keep, and look at what it writes."
        expect(not found, "\n".join([*found, hint]))
    scenario.__name__ = f"pictures_in_{scheme}_{width}"
    scenario.__doc__ = f"The pages look as they did, {scheme}, at {width:,} pixels."
    return scenario


def all_pictures(isKept=False):
    return [pictures(width, scheme, isKept) for width in (1280, 390) for scheme in ("light", "dark")]
