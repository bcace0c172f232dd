"""Scenarios of keys and addresses: where they lead, and what is shown meanwhile."""
from room import milk


def expect(condition, message="not as expected"):
    if not condition:
        raise AssertionError(message)


def keys_after_a_key(room):
    """Each single key of the inspector works after each other one, with nothing but the keyboard."""
    room.server.store("groceries", *milk("keyed"))
    visit = room.visit()
    visit.log_in()
    visit.go("#/groceries/conflict/keyed")
    page = visit.page
    page.wait_for_selector("text=Would write")

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
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=Settled:")
    now = room.server.json("GET", "groceries/keyed?conflicts=true")
    expect(now["count"] in (1, 2, 3) and "_conflicts" not in now, str(now))


PLACES = [keys_after_a_key]
