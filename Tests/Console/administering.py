"""Scenarios of whoever runs a server: its administrators, what a user may do, the log, and backups."""
import contextlib
import json
import os
import socket
import subprocess
import tempfile

from room import PASSWORD, Server, Visit, expect, until, with_password


@contextlib.contextmanager
def open_to_settings(room):
    """A server whose configuration lets administrators change it, and where `anna` was set when it was first started."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"live_settings": True}, file)
        file.flush()
        server = Server(room.server.settle, "--config", file.name)
        try:
            yield server
        finally:
            server.close()


def visit_of(room, server):
    visit = Visit(room.chromium, server)
    room.visits.append(visit)
    return visit


def roles_of(server, name, password):
    """The roles of a login; `None` if there is no such login."""
    try:
        return json.loads(server.ask("GET", "_session", user=name, password=password))["userCtx"]["roles"]
    except OSError:
        return None


def administrators_come_and_go(room):
    """With `live_settings` an administrator is added, gets another password, changes the own one and is removed; what the server was started with stays."""
    with open_to_settings(room) as server:
        server.ask("PUT", "groceries")
        visit = visit_of(room, server)
        visit.log_in()
        page = visit.page
        visit.go("#/users")

        def fill(isLeft=True, **fields):
            for label, text in fields.items():
                page.get_by_role("dialog").get_by_label(label, exact=label != "Type").fill(text)
            page.keyboard.press("Enter")
            if isLeft:
                page.wait_for_selector("dialog", state="detached")

        page.get_by_role("button", name="New administrator").click()
        expect(visit.axe() == [], str(visit.axe()))
        fill(isLeft=False, Name="b:n", Password="first")
        page.wait_for_selector("dialog .error:has-text('a name without a colon')")
        fill(Name="ben", Password="first")
        page.wait_for_selector("tr:has-text('ben')")
        expect(roles_of(server, "ben", "first") == ["_admin"], "ben is no administrator")
        expect(visit.axe() == [], str(visit.axe()))
        page.get_by_role("button", name="New administrator").click()
        fill(isLeft=False, Name="ben", Password="stolen")
        page.wait_for_selector("dialog .error:has-text('There is an administrator “ben” already')")
        expect(roles_of(server, "ben", "first") == ["_admin"], "the password of another one was replaced")
        page.keyboard.press("Escape")
        # A user of this name could not log in.
        page.get_by_role("button", name="New user").click()
        fill(isLeft=False, Name="ben", Password="other")
        page.wait_for_selector("dialog .error:has-text('“ben” is an administrator of the server')")
        expect("org.couchdb.user:ben" not in server.ask("GET", "_users/_all_docs"), "the user was made")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Change ben…").click()
        fill(Password="second")
        until(lambda: roles_of(server, "ben", "second") == ["_admin"], "the password is another one")
        expect(roles_of(server, "ben", "first") is None, "the old password counts")

        # The one that the server was started with can't be changed, and the page shows the server's reason.
        page.get_by_role("button", name="Change anna…").click()
        fill(isLeft=False, Password="other")
        page.wait_for_selector("dialog .error:has-text('is set when the server is started')")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        expect(roles_of(server, "anna", PASSWORD) == ["_admin"], "anna was changed")

        # One's own password: the session goes on.
        other = visit_of(room, server)
        other.log_in("ben", "second")
        other.page.get_by_role("button", name="User menu").click()
        other.page.get_by_role("button", name="Password…").click()
        other.page.get_by_label("New password", exact=True).fill("third")
        other.page.get_by_label("New password again").fill("third")
        other.page.keyboard.press("Enter")
        other.page.wait_for_selector("dialog:has-text('You are still logged in here')")
        other.page.keyboard.press("Enter")
        other.page.reload()
        other.page.wait_for_selector("header .user:has-text('ben')")
        expect(roles_of(server, "ben", "third") == ["_admin"], "ben has another password")

        page.get_by_role("button", name="Remove ben…").click()
        page.get_by_role("dialog").get_by_label("Type ben").fill("ben")
        page.keyboard.press("Enter")
        page.wait_for_selector("tr:has-text('ben')", state="detached")
        expect(roles_of(server, "ben", "third") is None, "ben logs in")
        # The session of the removed one has ended.
        other.page.reload()
        other.page.wait_for_selector("header .user:has-text('Log in')")

        # After a start without her name she can be changed; the last one stays.
        server.stop()
        server.start(server.port)
        visit.go("#/")
        visit.go("#/users")
        page.get_by_role("button", name="Remove anna…").click()
        page.get_by_role("dialog").get_by_label("Type anna").fill("anna")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog .error:has-text('is the last administrator of the server')")
    visit = room.visit()
    visit.log_in()
    visit.go("#/users")
    visit.page.wait_for_selector("text=only with live_settings in the configuration")
    expect(visit.page.get_by_role("button", name="New administrator").count() == 0, "a button that can't do anything")


def a_user_is_judged_by_the_server(room):
    """The page of permissions shows what the server says of a user, with its reasons, by what is not saved yet; an unknown name has no roles."""
    server = room.server
    server.ask("PUT", "guarded")
    server.ask("PUT", "guarded/_security", {"admins": {"names": ["olga"], "roles": []}, "members": {"names": ["dan"], "roles": ["inspectors"]}})
    server.ask("PUT", "_users/org.couchdb.user:dan", {"name": "dan", "type": "user", "roles": ["inspectors", "_metrics"], "password": "pw"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/guarded/rights")
    asked = []
    page.on("request", lambda request: asked.append(request.post_data) if request.url.endswith("/_access") else None)
    name = page.locator("aside").get_by_label("Name")
    name.fill("dan")
    page.wait_for_selector("li:has-text('✓ Read and write documents: by name, by the role “inspectors”')")
    page.wait_for_selector("li:has-text('✕ Change design documents')")
    page.wait_for_selector("aside :text('Roles: inspectors, _metrics')")
    expect(visit.axe() == [], str(visit.axe()))
    name.fill("anna")
    page.wait_for_selector("li:has-text('✓ Change design documents and permissions: an administrator of the server')")
    page.wait_for_selector("li:has-text('✓ Read and write documents: an administrator of the database')")
    name.fill("nobody")
    page.wait_for_selector("li:has-text('✕ Read and write documents')")
    page.wait_for_selector("aside :text('no account of this name')")
    for entry in ("inspectors", "dan"):
        page.get_by_role("button", name=f"Remove {entry} from members").click()
    page.wait_for_selector("li:has-text('✓ Read and write documents: the database has no members')")
    expect(server.json("GET", "guarded/_security")["members"]["names"] == ["dan"], "a question has written")
    expect(json.loads(asked[-1])["security"]["members"] == {"names": [], "roles": []}, asked[-1])
    page.get_by_role("button", name="Discard changes").click()
    page.wait_for_selector("li:has-text('✕ Read and write documents')")


def cut(server):
    """Sends a part of a request, and goes."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"PUT /groceries/cut HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")


def the_log_is_read(room):
    """The log shows warnings and requests that were cut off, by level and text, and refreshes in place."""
    server = room.server
    visit = room.visit(clock=True)
    visit.log_in()
    page = visit.page
    visit.go("#/")
    page.get_by_role("link", name="Log", exact=True).click()
    page.wait_for_selector("h1:has-text('Log')")
    page.wait_for_selector("tr:has-text('start'):has-text('Notice')")
    expect(visit.axe() == [], str(visit.axe()))
    cut(server)
    until(lambda: "/groceries/cut" in server.ask("GET", "_node/_local/_log"), "it is not in the log")
    search = page.get_by_label("part of a line")
    search.focus()
    page.keyboard.type("groceries/")
    visit.later(1)
    visit.later(6)
    page.wait_for_selector("tr:has-text('PUT /groceries/cut'):has-text('Warning'):has-text('cut true')")
    expect(page.evaluate("document.activeElement.value") == "groceries/", "the refresh takes the focus or the text")
    search.fill("")
    visit.later(1)
    page.wait_for_selector("tr:has-text('start'):has-text('Notice')")
    page.get_by_label("Level").select_option("Warning")
    visit.later(1)
    page.wait_for_selector("tr:has-text('start'):has-text('Notice')", state="detached")
    page.wait_for_selector("tr:has-text('PUT /groceries/cut')")
    expect("level=warning" in page.url, page.url)
    page.reload()
    visit.settled()
    page.wait_for_selector("tr:has-text('PUT /groceries/cut')")
    expect(page.locator("tbody tr:has-text('Notice')").count() == 0, "the level is forgotten")


def a_backup_is_known(room):
    """Upkeep says that no backup is recorded, with the line that makes one; after that line it says when, and how much was changed since."""
    server = room.server
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/groceries/upkeep")
    page.wait_for_selector("text=No backup is recorded")
    line = page.locator("pre:has-text('settle backup')").text_content()
    expect(line.split() == ["settle", "backup", server.url.replace("//", "//anna@"), "/backup/settle"], line)
    expect(visit.axe() == [], str(visit.axe()))
    with tempfile.TemporaryDirectory(prefix="settle-backup-") as folder:
        words = [server.settle, "backup", with_password(server), os.path.join(folder, "all"), "--json"]
        moment = json.loads(subprocess.run(words, check=True, capture_output=True, timeout=120).stdout)["moment"]
    page.wait_for_selector("text=/Last backup: .*, 0 changes since/")
    page.wait_for_selector(f"text={moment}")
    for number in range(3):
        server.ask("PUT", f"groceries/later-{number}", {"n": number})
    page.wait_for_selector("text=/Last backup: .*, 3 changes since/")
    expect(visit.axe() == [], str(visit.axe()))


def permissions_of_others_stay(room):
    """Who saves permissions that somebody else has changed meanwhile is told so and sees them, and overwrites them only on purpose."""
    server = room.server
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/groceries/rights")
    name = page.get_by_label("Members: Names")
    name.fill("eve")
    page.keyboard.press("Enter")
    server.ask("PUT", "groceries/_security", {"admins": {"names": ["zoe"], "roles": []}, "members": {"names": ["carl"], "roles": []}})
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("dialog:has-text('Somebody else has changed the permissions') pre:has-text('zoe')")
    expect(visit.axe() == [], str(visit.axe()))
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    expect(server.json("GET", "groceries/_security")["admins"]["names"] == ["zoe"], "what somebody else has saved is lost")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Overwrite them").click()
    page.wait_for_selector("text=Permissions saved")
    expect(server.json("GET", "groceries/_security")["members"]["names"] == ["eve"], "it is not overwritten")
    page.get_by_role("button", name="Save").click()
    page.wait_for_timeout(300)
    expect(page.locator("dialog").count() == 0, "an own change is taken for somebody else's")


ADMINISTERING = [administrators_come_and_go, permissions_of_others_stay, a_user_is_judged_by_the_server, the_log_is_read, a_backup_is_known]
