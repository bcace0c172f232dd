"""A scenario of names and values that are long."""
from room import PASSWORD, expect

LONG = "x" * 500


def long_names_scroll_inside(room):
    """With long ids, names, reasons and results no page scrolls sideways, on a telephone, a tablet and a screen."""
    server = room.server
    server.ask("PUT", "wide")
    stats = {"_id": LONG, "name": LONG, "n": 1.2345678901234567e300, "sub": {LONG: LONG}, "_attachments": {f"{'a' * 64}.bin": {"content_type": "application/" + "b" * 60, "data": "aGk="}}}
    server.ask("POST", "wide", stats)
    views = {"a" * 60: {"map": "function (doc) { emit([doc.name, doc.name], doc.n || 1); }", "reduce": "_stats"}}
    server.ask("PUT", "wide/_design/" + "d" * 80, {"views": views, "filters": {"f" * 80: "function () { return true; }"}, "updates": {"u" * 80: "function () {}"}})
    server.ask("PUT", "wide/_design/rules", {"validate_doc_update": f"function (doc) {{ if (doc.bad) throw({{forbidden: '{LONG}'}}); }}"})
    server.ask("POST", "wide/_index", {"index": {"fields": ["m" * 90, "k" * 90]}, "name": "i" * 90})
    server.ask("PUT", "wide-from")
    server.ask("POST", "wide-from", {"_id": "y" * 500, "bad": True})
    server.ask("PUT", "_users/org.couchdb.user:" + "u" * 200, {"name": "u" * 200, "type": "user", "roles": ["r" * 100, "s" * 100], "password": "pw"})
    server.store("wide", {"_id": LONG, "_revisions": {"start": 1, "ids": ["b" * 32]}, "name": "y" * 400})
    server.ask("PUT", "wide/_journal", True)
    server.ask("PUT", "wide/" + "j" * 300, {"j" * 200: "j" * 300})
    sides = [{"url": server.url + name, "auth": {"basic": {"username": "anna", "password": PASSWORD}}} for name in ("wide-from", "wide")]
    server.ask("PUT", "_replicator/" + "z" * 200, {"source": sides[0], "target": sides[1], "continuous": True})
    server.ask("PUT", "_replicator/" + "w" * 200, {"source": "http://127.0.0.1:9/" + "w" * 200, "target": "http://127.0.0.1:9/" + "v" * 200, "continuous": True})
    where = ["#/", "#/db/wide/docs?fields=name", "#/db/wide/doc/" + LONG, "#/db/wide/conflicts", "#/db/wide/changes", "#/db/wide/design", "#/db/wide/rights", "#/db/wide/rights?as=json", "#/db/wide/upkeep", "#/db/wide/files",
             "#/db/wide/journal",
             "#/db/wide/design/" + "d" * 80, "#/db/wide/query?selector={%22name%22:{%22$gt%22:0}}", "#/users", "#/activity", "#/replications",
             "#/replicate/_replicator%2F" + "z" * 200, "#/replication/_replicator%2F" + "z" * 200, "#/replication/_replicator%2F" + "w" * 200, "#/server", "#/db/wide/doc/_design%2F" + "d" * 80]
    wide = """() => {
      const main = document.querySelector('main'), page = document.scrollingElement;
      const over = page.scrollWidth > innerWidth ? innerWidth : main.scrollWidth > main.clientWidth ? main.getBoundingClientRect().right : 0;
      return over && [...main.querySelectorAll('*')].filter(one => one.getBoundingClientRect().right > over + 1).slice(0, 3).map(one => one.outerHTML.slice(0, 120)).concat('is too wide');
    }"""
    found = []
    for width in (360, 700, 1024, 1440):
        visit = room.visit(width=width)
        visit.log_in()
        for one in where:
            visit.go(one)
            if "replication/" in one:
                visit.page.wait_for_selector("td:has-text('xxx')" if "zzz" in one else "dd:has-text('nobody')")
            if "design/ddd" in one:
                visit.page.wait_for_selector("text=reduced:")
            closed = visit.page.locator("main details:not([open]) > summary")
            for _ in range(6):
                if closed.count():
                    closed.first.click()
            visit.page.wait_for_timeout(50)
            visit.settled()
            if elements := visit.page.evaluate(wide):
                found.append((width, one[:40], elements))
    expect(not found, str(found))


WIDE = [long_names_scroll_inside]
