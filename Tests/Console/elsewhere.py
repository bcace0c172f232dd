"""A scenario of the commands below each page, which are run as somebody who pastes them."""
import json
import os
import pty
import re
import select
import tempfile
import time

from room import PASSWORD, expect, milk, revision


def paste(line, folder, tool):
    """Runs a line in bash at a terminal, as somebody who pastes it and then types the password; its status and output."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        place = f"{os.path.dirname(tool)}:{os.environ['PATH']}"
        # What is not there: a password in the environment, and files of the person's own.
        os.execve("/bin/bash", ["bash", "--norc", "-c", line], {"PATH": place, "HOME": folder, "LANG": "C.UTF-8", "TERM": "dumb"})
    told, isTyped, deadline = "", False, time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        told += piece.decode(errors="replace")
        if not isTyped and "assword" in told:
            isTyped = True
            os.write(terminal, f"{PASSWORD}\n".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    return status, told, isTyped


def lines_of(visit):
    """The lines below a page, each from its tab."""
    visit.page.wait_for_selector("footer summary")
    if visit.page.get_attribute("footer details", "open") is None:
        visit.page.click("footer summary")
    tabs = visit.page.locator("footer .seg button")
    tabs.first.wait_for()
    lines = []
    for index in range(tabs.count()):
        tabs.nth(index).click()
        lines.append(visit.page.inner_text("footer pre"))
    return lines


def lines_can_be_pasted(room):
    """Each command below a page runs as it is, asks for the password, and tells what the page shows."""
    server = room.server
    database = "a%2Bb%24(c)"
    server.ask("PUT", database)
    for identifier in ("it's", "-q", "a b/c", "\u202ex", "100%", "."):
        server.ask("POST", database, {"_id": identifier, "word": "'quoted' \\ $HOME"})
    server.store(database, revision("it's", "b", {"word": "'quoted' other"}))
    server.ask("PUT", database + "/_design/words", {"views": {"all": {"map": "function (doc) { emit(doc._id, 1); }", "reduce": "_count"}}})
    server.ask("PUT", database + "/_journal", True)
    tool = server.settle
    pages = {
        "#/": '"a+b$(c)"', "#/users": "total_rows", "#/server": "couchdb", "#/activity": "[", "#/log": "log", "#/replications": "total_rows",
        f"#/db/{database}/docs": "it's", f"#/db/{database}/docs?q=it*": "it's", f"#/db/{database}/docs?q=it*&from=it's": "it's",
        f"#/db/{database}/docs?q=" + "word contains \"'quoted'\"".replace(" ", "+").replace('"', "%22"): "it's",
        f"#/db/{database}/changes": "it's", f"#/db/{database}/conflicts": "total_rows", f"#/db/{database}/design": "words", f"#/db/{database}/design/words": "views",
        f"#/db/{database}/conflict/it's": "leaves", f"#/db/{database}/settle": "rows",
        f"#/db/{database}/rights": "admins", f"#/db/{database}/journal": "count",
        f"#/db/{database}/query?selector=" + json.dumps({"word": {"$gt": None}}).replace('"', "%22") + "&fields=[%22_id%22]&limit=2": "docs",
        f"#/db/{database}/view/words?view=all&startkey=%22-q%22&descending=true&inclusive_end=true": "rows",
        f"#/db/{database}/view/words?view=all&keys=[%22-q%22]&reduce=true&group=true&update=lazy": "rows",
        f"#/db/{database}/changes?since=0": "it's",
        f"#/db/{database}/doc/it's": "quoted", f"#/db/{database}/doc/-q": "quoted", f"#/db/{database}/doc/a%20b%2Fc": "quoted",
        f"#/db/{database}/doc/%E2%80%AEx": "quoted", f"#/db/{database}/doc/100%25": "quoted", f"#/db/{database}/doc/.": "quoted",
    }
    visit = room.visit()
    visit.log_in()
    with tempfile.TemporaryDirectory(prefix="settle-console-") as folder:
        os.symlink(os.path.abspath(tool), os.path.join(folder, "settle"))
        for where, wanted in pages.items():
            visit.go(where)
            lines = lines_of(visit)
            commands = [line for line in lines if line.startswith(("curl ", "settle "))]
            expect(commands and len(lines) - len(commands) <= 1, f"{where}: {lines}")
            for line in commands:
                status, told, isTyped = paste(line, folder, os.path.join(folder, "settle"))
                expect(status == 0 and isTyped, f"{where}: {line} ends with {status}: {told}")
                expect('"error"' not in told and (line.startswith("settle") or wanted in told), f"{where}: {line} tells {told}")
                if line.startswith("settle") and "/doc/" in where:
                    expect("quoted" in told, f"{where}: {line} tells {told}")
    server.ask("DELETE", database)


def the_lines_settle_as_the_inspector_shows(room):
    """The lines of the inspector have the policy with its rules, a leaf or a deletion; picks only the request has. They tell what the page tells."""
    server = room.server
    server.ask("PUT", "lines")
    server.store("lines", *milk("milk"))
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/lines/conflict/milk")
    page.wait_for_selector(".act:not([disabled])")
    for place, rule in (("/count", "sum"), ("/tags", "union")):
        page.get_by_label("Field of a rule").fill(place)
        page.get_by_label("Rule", exact=True).select_option(rule)
        page.get_by_label("Field of a rule").press("Enter")
        page.wait_for_selector(f"button:has-text('{place} {rule}')")
    page.get_by_label("Other clashes").select_option("winner")
    visit.settled()

    def told(kind):
        line = next((one for one in lines_of(visit) if one.startswith(kind)), None)
        page.click("footer summary")
        if line is None:
            return None, None
        with tempfile.TemporaryDirectory(prefix="settle-console-") as folder:
            os.symlink(os.path.abspath(server.settle), os.path.join(folder, "settle"))
            status, output, isTyped = paste(line, folder, os.path.join(folder, "settle"))
        expect(status == 0 and isTyped, f"{line} ends with {status}: {output}")
        return line, output

    def written():
        return [one.get_attribute("title") for one in page.locator("section.card:has(h2:text-is('What will be written')) .rev").all()]

    line, output = told("settle")
    for option in ("--policy threeWayMerge", "--merge-rule /count=sum", "--merge-rule /tags=union", "--on-clash winner", "--dry-run"):
        expect(option in line, f"{line} has no {option}")
    expect(re.search(r"count\D+4", output) and "fresh" in output and "vegan" in output, output)
    line, output = told("curl")
    expect("_settle/milk" in line and written() and all(rev in output for rev in written()), f"{line} tells {output}")

    page.locator("tr[data-path='/name'] td label").nth(2).click()
    page.wait_for_selector("tr[data-path='/name']:has-text('picked by you')")
    visit.settled()
    expect(told("settle") == (None, None), "a line without the picks is shown")
    line, output = told("curl")
    expect("picks" in line and written() and all(rev in output for rev in written()), f"{line} tells {output}")

    page.get_by_role("button", name="Keep B", exact=True).click()
    page.wait_for_selector(".dock strong:has-text('keeps B')")
    visit.settled()
    expect("--keep 2-aaaa" in told("settle")[0], "another leaf is kept")
    page.locator(".dock").get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_selector(".dock strong.bad")
    visit.settled()
    expect("--delete --dry-run" in told("settle")[0], "it is not deleted")
    expect(server.json("GET", "lines/_conflicts?limit=0")["total_rows"] == 1, "a line has written something")
    server.ask("DELETE", "lines")


ELSEWHERE = [lines_can_be_pasted, the_lines_settle_as_the_inspector_shows]
