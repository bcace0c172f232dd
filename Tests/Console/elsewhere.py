"""A scenario of the commands below each page, which are run as somebody who pastes them."""
import json
import os
import pty
import select
import tempfile
import time

from room import PASSWORD, expect, revision


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
            visit.page.wait_for_selector("footer summary")
            if visit.page.get_attribute("footer details", "open") is None:
                visit.page.click("footer summary")
            tabs = visit.page.locator("footer .seg button")
            tabs.first.wait_for()
            lines = []
            for index in range(tabs.count()):
                tabs.nth(index).click()
                lines.append(visit.page.inner_text("footer pre"))
            commands = [line for line in lines if line.startswith(("curl ", "settle "))]
            expect(commands and len(lines) - len(commands) <= 1, f"{where}: {lines}")
            for line in commands:
                status, told, isTyped = paste(line, folder, os.path.join(folder, "settle"))
                expect(status == 0 and isTyped, f"{where}: {line} ends with {status}: {told}")
                expect('"error"' not in told and (line.startswith("settle") or wanted in told), f"{where}: {line} tells {told}")
                if line.startswith("settle") and "/doc/" in where:
                    expect("quoted" in told, f"{where}: {line} tells {told}")
    server.ask("DELETE", database)


ELSEWHERE = [lines_can_be_pasted]
