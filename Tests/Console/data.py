"""Scenarios of the pages that show data: views, documents, queries, changes."""
import json
from urllib.parse import unquote

from room import expect


def fill_shop(server):
    """450 sales of twelve months, and views of them."""
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
    page.wait_for_function("() => location.hash.includes('from_id')")
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


DATA = [rows_of_a_view]
