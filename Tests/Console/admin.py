"""Scenarios of an administrator: replications, users, permissions, and upkeep."""
import json
import tempfile
import time

from room import PASSWORD, Server, Visit, expect, milk


def until(check, message, seconds=30):
    """Waits for something that the server does by itself."""
    deadline = time.monotonic() + seconds
    while not check():
        expect(time.monotonic() < deadline, message)
        time.sleep(0.05)


def names(server, database):
    return {row["id"] for row in server.json("GET", f"{database}/_all_docs")["rows"]}


def a_replication_is_kept_in_order(room):
    """A replication in both ways is made by ids, stopped, started, edited without its password, restarted and removed; a transient one is cancelled."""
    server = room.server
    for name in ("left", "right", "other"):
        server.ask("PUT", name)
    server.ask("PUT", "left/one", {"x": 1})
    server.ask("PUT", "left/50%25", {"x": 1})
    server.ask("PUT", "left/two", {"x": 1})
    server.ask("PUT", "right/three", {"x": 1})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/replications")
    page.get_by_role("link", name="New replication").click()
    page.get_by_label("Name", exact=True).fill("pair")
    source, target = page.get_by_role("group", name="From"), page.get_by_role("group", name="To")
    source.get_by_label("Database", exact=True).fill("left")
    source.get_by_label("Password").fill(PASSWORD)
    target.get_by_label("Where").select_option("an address")
    # What is typed into the address is not kept there.
    target.get_by_label("Address", exact=True).fill(server.url.replace("//", "//anna@") + "right")
    target.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Direction").select_option("Both ways")
    page.get_by_role("combobox", name="What is replicated").select_option("Filter by document ids")
    page.get_by_role("textbox", name="Filter by document ids").fill("one\n50%\nthree")
    page.wait_for_selector("text=pair-back, is stored for the other way")
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_role("button", name="Create").click()
    page.wait_for_selector("tr:has-text('pair-back')")
    until(lambda: {"one", "50%", "three"} <= names(server, "left") & names(server, "right"), "both ways do not work")
    expect("two" not in names(server, "right"), "the filter lets everything pass")
    document = server.json("GET", "_replicator/pair")
    expect("anna" not in document["target"]["url"] and document["target"]["auth"]["basic"] == {"username": "anna", "password": PASSWORD}, str(document))

    page.locator("tr:has-text('pair-back')").get_by_role("button", name="Remove pair-back…").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.wait_for_selector("tr:has-text('pair-back')", state="detached")
    page.get_by_role("link", name="pair", exact=True).click()
    page.wait_for_selector("dd:has-text('Running')")
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_role("button", name="Stop").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dd:has-text('Stopped')")
    expect("pair" not in names(server, "_replicator"), "it still runs")
    expect("pair" in server.json("GET", "_replicator/_local/settle-replications")["replications"], "it is lost")

    page.get_by_role("link", name="Edit").click()
    page.wait_for_selector("h1:has-text('Edit pair')")
    expect(page.get_by_role("group", name="To").get_by_label("Database", exact=True).input_value() == "right", "the database is not recognized")
    expect(page.get_by_role("textbox", name="Filter by document ids").input_value() == "one\n50%\nthree", "the ids are others")
    expect(PASSWORD not in page.content() and all(one.input_value() == "" for one in page.locator("[type=password]").all()), "a password is shown")
    page.get_by_role("group", name="To").get_by_label("Database", exact=True).fill("other")
    asked = []
    visit.on_dialog = lambda dialog: (asked.append(dialog.type), dialog.dismiss())
    page.get_by_role("link", name="Databases").first.click()
    page.wait_for_timeout(300)
    expect(asked == ["confirm"] and "replicate" in page.url, f"what is typed is lost: {asked}")
    visit.on_dialog = lambda dialog: dialog.accept()
    page.get_by_role("combobox", name="What is replicated").select_option("All documents")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("dd:has-text('Stopped')")
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("dd:has-text('Running')")
    until(lambda: {"one", "two", "three", "50%"} <= names(server, "other"), "the password is lost")
    before = server.json("GET", "_scheduler/docs/_replicator/pair")["start_time"]
    time.sleep(1)
    page.get_by_role("button", name="Restart").click()
    begun = lambda: [job["start_time"] for job in server.json("GET", "_scheduler/docs")["docs"] if job["doc_id"] == "pair"]
    until(lambda: max(begun(), default=before) > before, "it is not restarted")
    page.wait_for_selector("dd:has-text('Running')")
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.wait_for_selector("h1:has-text('Replications')")

    server.ask("POST", "_replicate", {"source": "left", "target": "right", "continuous": True})
    page.wait_for_selector("tr:has-text('transient'):has-text('Running')", timeout=20_000)
    expect(visit.axe() == [], str(visit.axe()))
    page.locator("tr:has-text('transient') a").click()
    page.wait_for_selector("dd:has-text('It ends with the server')")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the replication").click()
    page.wait_for_selector("text=No replications yet")
    expect(server.json("GET", "_scheduler/jobs")["total_rows"] == 0, "it still runs")


def a_list_without_ids_stays(room):
    """A replication of a list without ids, which brings nothing, is still one after an edit, and does not bring all documents."""
    server = room.server
    for name in ("full", "empty"):
        server.ask("PUT", name)
    server.ask("PUT", "full/one", {"x": 1})
    sides = {side: {"url": server.url + name, "auth": {"basic": {"username": "anna", "password": PASSWORD}}} for side, name in (("source", "full"), ("target", "empty"))}
    server.ask("PUT", "_replicator/nothing", {**sides, "doc_ids": [], "continuous": True})
    before = server.json("GET", "_replicator/nothing")["_rev"]
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/replicate/_replicator%2Fnothing")
    kind = page.get_by_role("combobox", name="What is replicated")
    expect(kind.input_value() == "doc_ids", kind.input_value())
    page.get_by_role("button", name="Save").click()
    until(lambda: server.json("GET", "_replicator/nothing")["_rev"] != before, "it is not saved")
    document = server.json("GET", "_replicator/nothing")
    expect(document.get("doc_ids") == [], str(document))
    expect(names(server, "empty") == set(), str(names(server, "empty")))
    server.remove("_replicator/nothing")


def people_come_and_go(room):
    """A user is made, changed and deleted; where `_users` lets users in, one changes the own password and stays logged in."""
    server = room.server
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/users")
    page.wait_for_selector("h2:has-text('Administrators of the server')")
    page.wait_for_selector("text=settle serve --admin")

    def fill(**fields):
        for label, text in fields.items():
            page.get_by_role("dialog").get_by_label(label).fill(text)
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog", state="detached")

    page.get_by_role("button", name="New user").click()
    fill(Name="clara", Roles="staff, night", Password="first")
    page.wait_for_selector("tr:has-text('clara'):has-text('staff, night')")
    page.get_by_role("button", name="Change clara…").click()
    fill(Roles="staff", Password="second")
    page.wait_for_selector("tr:has-text('clara'):not(:has-text('night'))")
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_role("button", name="User menu").click()
    page.get_by_role("button", name="Password…").click()
    page.wait_for_selector("dialog:has-text('administrator of the server')")
    page.keyboard.press("Escape")

    other = room.visit()
    other.log_in("clara", "second")
    other.page.get_by_role("button", name="User menu").click()
    other.page.get_by_role("button", name="Password…").click()
    other.page.wait_for_selector("dialog:has-text('only an administrator can set your password')")
    other.page.keyboard.press("Escape")
    closed = server.json("GET", "_users/_security")
    server.ask("PUT", "_node/_local/_config/couchdb/users_db_security_editable", "true")
    server.ask("PUT", "_users/_security", {"admins": {"roles": ["_admin"]}})
    other.page.get_by_role("button", name="User menu").focus()
    other.page.keyboard.press("Enter")
    other.page.get_by_role("button", name="Password…").focus()
    other.page.keyboard.press("Enter")
    other.page.get_by_label("New password", exact=True).fill("third")
    other.page.get_by_label("New password again").fill("thirst")
    other.page.keyboard.press("Enter")
    other.page.wait_for_selector("text=The two passwords differ")
    expect(other.axe() == [], str(other.axe()))
    other.page.get_by_label("New password again").fill("third")
    other.page.keyboard.press("Enter")
    other.page.wait_for_selector("dialog:has-text('You are still logged in here')")
    other.page.keyboard.press("Enter")
    other.page.wait_for_selector("dialog", state="detached")
    other.page.reload()
    other.page.wait_for_selector("header .user:has-text('clara')")
    until(lambda: "clara" in server.ask("GET", "_session", user="clara", password="third"), "the password is another one")

    server.ask("PUT", "_users/_security", closed)
    server.ask("PUT", "_node/_local/_config/couchdb/users_db_security_editable", "false")

    visit.go("#/login")
    visit.go("#/users")
    page.get_by_role("button", name="Remove clara…").click()
    fill(**{"Type clara": "clara"})
    page.wait_for_selector("tr:has-text('clara')", state="detached")



def a_user_keeps_what_is_not_changed(room):
    """A new password of a user leaves everything else as it was: exact numbers, and a role that has a comma."""
    server = room.server
    members = '"name":"greta","type":"user","roles":["day, night","staff"],"badge":9223372036854775807,"share":1.0,"9":1,"1":2'
    server.ask("PUT", "_users/org.couchdb.user:greta", text='{%s,"password":"first"}' % members)
    stored = lambda: server.ask("GET", "_users/org.couchdb.user:greta")
    before = stored()
    expect('"badge":9223372036854775807' in before, before)
    kept = [part for part in ('"share":1.0', '"9":1,"1":2', '"roles":["day, night","staff"]') if part in before]
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/users")

    def fill(label, text):
        page.get_by_role("button", name="Change greta…").click()
        page.get_by_role("dialog").get_by_label(label).fill(text)
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog", state="detached")
        visit.settled()

    fill("Password", "second")
    until(lambda: "greta" in server.ask("GET", "_session", user="greta", password="second"), "the password is another one")
    after = stored()
    expect(all(part in after for part in ('"badge":9223372036854775807', *kept)), f"{before} became {after}")
    expect(json.loads(after)["roles"] == ["day, night", "staff"], after)
    page.wait_for_selector("tr:has-text('greta'):has-text('day, night, staff')")
    fill("Roles", "staff, office")
    page.wait_for_selector("tr:has-text('greta'):has-text('staff, office')")
    expect(json.loads(stored())["roles"] == ["staff", "office"] and '"badge":9223372036854775807' in stored(), stored())
    server.remove("_users/org.couchdb.user:greta")


def permissions_are_a_form(room):
    """Members and administrators are named in a form that tells what is not saved yet and checks a user; the JSON keeps all else."""
    server = room.server
    server.ask("PUT", "guarded")
    security = {"admins": {"names": ["olga"], "roles": []}, "members": {"names": [], "roles": ["_admin"]}, "note": 1e30, "kept": {"b": 1, "a": 2}}
    server.ask("PUT", "guarded/_security", security)
    for name, roles in (("dan", ["inspectors"]), ("eve", ["office"])):
        server.ask("PUT", f"_users/org.couchdb.user:{name}", {"name": name, "type": "user", "roles": roles, "password": "pw"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/guarded/rights")
    page.wait_for_selector("text=changed by: olga and the server’s administrators")
    page.wait_for_selector("#known-roles option[value=inspectors]", state="attached")
    page.locator("aside").get_by_label("Name").fill("dan")
    page.wait_for_selector("li:has-text('✕ Read and write documents')")
    page.get_by_label("Members: Roles").fill("inspectors")
    page.keyboard.press("Enter")
    page.wait_for_selector("li:has-text('✓ Read and write documents: by the role “inspectors”')")
    page.wait_for_selector("li:has-text('✕ Change design documents')")
    page.get_by_role("button", name="Remove olga from administrators").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("li:has-text('+ Roles: inspectors (Members)')")
    page.wait_for_selector("li:has-text('− Names: olga (Administrators)')")
    expect(visit.axe() == [], str(visit.axe()))
    expect(server.json("GET", "guarded/_security")["admins"]["names"] == ["olga"], "it is saved already")
    page.get_by_role("button", name="JSON").click()
    area = page.get_by_label("The security object")
    expect("inspectors" in area.input_value() and "olga" not in area.input_value(), area.input_value())
    area.fill(area.input_value().replace('"inspectors"', '"inspectors", "office"'))
    page.get_by_role("button", name="Form").click()
    page.wait_for_selector("li:has-text('+ Roles: office (Members)')")
    # A name that was typed, and not added, is not lost.
    page.get_by_label("Administrators: Names").fill("dan")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("text=Permissions saved")
    page.wait_for_selector("aside li:has-text('Nothing')")
    found = server.json("GET", "guarded/_security")
    expect(found["admins"]["names"] == ["dan"] and found["members"]["roles"] == ["_admin", "inspectors", "office"] and found["note"] == 1e30, str(found))
    expect(list(found["kept"]) == ["b", "a"])
    for role in ("_admin", "inspectors", "office"):
        page.get_by_role("button", name=f"Remove {role} from members").click()
    page.wait_for_selector(".warn:has-text('by: everyone whom the server lets in')")
    page.get_by_role("button", name="Discard changes").click()
    page.wait_for_selector("aside li:has-text('Nothing')")



def a_database_is_kept_up(room):
    """A database is compacted, its indexes are measured and cleaned up, its revision limit is set, and a document in conflict is purged."""
    server = room.server
    server.ask("PUT", "kept")
    server.store("kept", *milk("milk"))
    server.ask("PUT", "kept/a%2Fb", {"n": 1})
    server.ask("PUT", "kept/stays", {"n": 1})
    server.ask("PUT", "kept/_design/shop", {"views": {"all": {"map": "function (doc) { emit(doc.n, null); }"}}})
    server.ask("POST", "kept/_index", {"index": {"fields": ["n"]}, "name": "by-n"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/kept/upkeep")
    page.wait_for_selector("tr:has-text('shop'):has-text('views') td:last-child:has-text('5')")
    page.wait_for_selector("tr:has-text('by-n'):has-text('queries')")
    server.ask("GET", "kept/_design/shop/_view/all")
    page.wait_for_selector("tr:has-text('shop') td:last-child:has-text('0')")
    page.get_by_role("button", name="Compact").click()
    page.wait_for_selector("text=The compaction has begun")
    page.wait_for_selector("dd:has-text('removed ')")
    page.get_by_role("button", name="Clean up").click()
    page.wait_for_selector("[role=status]:has-text('that no design document has any more are removed')")
    limit = page.get_by_label("Revision limit")
    expect(limit.input_value() == "1000")
    limit.fill("500")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Saved.")
    expect(server.json("GET", "kept/_revs_limit") == 500)
    ids = page.get_by_label("Ids of the documents to purge")
    ids.fill("milk\nnone")
    page.get_by_role("button", name="Purge…").click()
    page.wait_for_selector(".error:has-text('no such document: “none”')")
    ids.fill("milk\na/b")
    page.get_by_role("button", name="Purge…").click()
    page.wait_for_selector("dialog:has-text('A purge does not replicate'):has-text('4 leaves')")
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_label("Type 2").fill("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=4 leaves purged.")
    found = {one for one in names(server, "kept") if not one.startswith("_design")}
    expect(found == {"stays"}, str(found))


def spaces_belong_to_an_id(room):
    """A purge takes ids with the spaces around them, and lists them before; another document whose id has none stays."""
    server = room.server
    server.ask("PUT", "spaces")
    others = [f"d{one:02}" for one in range(12)]
    server.ask("POST", "spaces/_bulk_docs", {"docs": [{"_id": one} for one in ("milk", "milk ", " tea", *others)]})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/spaces/upkeep")
    ids = page.get_by_label("Ids of the documents to purge")
    ids.fill("tea")
    page.get_by_role("button", name="Purge…").click()
    page.wait_for_selector(".error:has-text('no such document: “tea”')")
    ids.fill("milk \n\n tea\n" + "\n".join(others))
    page.get_by_role("button", name="Purge…").click()
    page.wait_for_selector("dialog:has-text('A purge does not replicate')")
    listed = page.locator("dialog li").all_text_contents()
    expect(listed == ["“milk ”", "“ tea”", *[f"“{one}”" for one in others[:8]], "and 4 more documents"], str(listed))
    expect(page.locator("dialog li").first.inner_text() == "“milk ”", "the space is not shown")
    expect(visit.axe() == [], str(visit.axe()))
    page.get_by_label("Type 14").fill("14")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=14 leaves purged.")
    expect(names(server, "spaces") == {"milk"}, str(names(server, "spaces")))
    expect(ids.input_value() == "", ids.input_value())


def settings_are_changed_where_the_server_lets(room):
    """With `live_settings` CORS is set and put back; without, only the one switch can be changed, and the page says where settings are set."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"live_settings": True}, file)
        file.flush()
        server = Server(room.server.settle, "--config", file.name)
        try:
            visit = Visit(room.chromium, server)
            room.visits.append(visit)
            visit.log_in()
            visit.go("#/server")
            page = visit.page
            page.click("summary:has-text('cors')")
            page.get_by_role("button", name="Change cors/origins…").click()
            page.get_by_label("Value").fill("no origin")
            page.keyboard.press("Enter")
            page.wait_for_selector("dialog .error:has-text('an origin must be')")
            page.get_by_label("Value").fill("capacitor://localhost")
            page.keyboard.press("Enter")
            page.wait_for_selector("dd:has-text('capacitor://localhost')", state="attached")
            expect(visit.axe() == [], str(visit.axe()))
            # The section stays open.
            page.get_by_role("button", name="Change cors/origins…").click()
            page.get_by_role("button", name="As at the start").click()
            page.wait_for_selector("dd:has-text('capacitor://localhost')", state="detached")
        finally:
            server.close()
    visit = room.visit()
    visit.log_in()
    visit.go("#/server")
    visit.page.wait_for_selector("text=settle serve --show-settings")
    expect(visit.page.get_by_role("button", name="Change", include_hidden=True).count() == 1)


ADMIN = [a_replication_is_kept_in_order, a_list_without_ids_stays, people_come_and_go, a_user_keeps_what_is_not_changed, permissions_are_a_form,
         a_database_is_kept_up, spaces_belong_to_an_id, settings_are_changed_where_the_server_lets]
