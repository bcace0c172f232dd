"""Scenarios of files: a database becomes a file, and files of many kinds become documents."""
import contextlib
import gzip
import json
import sqlite3
import tempfile

from room import expect, milk, until


def names(server, database):
    return {row["id"] for row in server.json("GET", f"{database}/_all_docs")["rows"]}


def history(*digits):
    return {"start": len(digits), "ids": [digit * 32 for digit in digits]}


def choose(page, name, text):
    """Chooses a file, as its picker would."""
    buffer = text if isinstance(text, bytes) else text.encode()
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "application/json", "buffer": buffer})


def store_file(page, told):
    """Imports the chosen file, and waits for what is told at the end."""
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_selector(f"[role=status]:has-text('The import is complete. {told}')")


def files_are_imported(room):
    """Dumps are recognized, previewed and stored with their revisions; refused ones have reasons; parts of folders lead to `settle import`."""
    server = room.server
    server.ask("PUT", "taken")
    server.ask("PUT", "taken/_design/rule", {"validate_doc_update": "function (doc) { if (doc.bad) throw({forbidden: 'no bad ones'}); }"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/taken/files")

    header = {"name": "@cloudant/couchbackup", "version": "2.10.0", "mode": "full", "attachments": True}
    tree = [{"_id": "milk", "_rev": "2-" + digit * 32, "_revisions": history(digit, "1"), "n": digit} for digit in "ab"]
    gone = {"_id": "gone", "_rev": "2-" + "c" * 32, "_deleted": True, "_revisions": history("c", "1")}
    cut = '[{"_id": "mi' + json.dumps({"marker": "@cloudant/couchbackup:resume"}).replace(" ", "")
    lines = [json.dumps(header), cut, json.dumps([tree[0], gone]), json.dumps([tree[1]])]
    choose(page, "backup.txt", gzip.compress("\n".join(lines).encode()))
    page.wait_for_selector("p:has-text('couchbackup 2.10.0')")
    expect(page.locator("main tbody tr").count() == 3 and names(server, "taken") == {"_design/rule"}, "the preview is not what it is")
    expect(visit.axe() == [], str(visit.axe()))
    store_file(page, "3 documents stored, 0 refused. 1 broken line of an interrupted backup passed over")
    found = server.json("GET", "taken/milk?conflicts=true")
    expect(found["_rev"] == "2-" + "b" * 32 and found["_conflicts"] == ["2-" + "a" * 32], str(found))

    rows = [{"id": name, "key": name, "value": {"rev": "1-" + "d" * 32}, "doc": {"_id": name, "_rev": "1-" + "d" * 32, "rows": [1, "]"], **more}}
            for name, more in (("good", {"exact": 1}), ("worse", {"bad": True}))]
    text = '{"total_rows":2,"offset":0,"rows":[\r\n' + ",\r\n".join(json.dumps(row) for row in rows) + '\r\n]}\n'
    choose(page, "all.json", text.replace('"exact": 1', '"exact": 12345678901234567'))
    page.wait_for_selector("p:has-text('rows of CouchDB')")
    page.wait_for_selector("td:has-text('12345678901234567')")
    store_file(page, "1 document stored, 1 refused.")
    page.wait_for_selector("tr:has-text('worse'):has-text('forbidden: no bad ones')")
    expect("12345678901234567" in server.ask("GET", "taken/good"), "a number has changed")
    expect(visit.axe() == [], str(visit.axe()))

    pretty = json.dumps([{"_id": "edit", "n": 1}, {"n": 2}, {"_id": "milk", "n": 3}, 7], indent=2)
    choose(page, "notes.json", pretty)
    page.wait_for_selector("p:has-text('an array of JSON documents')")
    page.wait_for_selector("tr:has-text('edit'):has-text('an edit')")
    page.wait_for_selector("tr:has-text('a new id'):has-text('2')")
    page.wait_for_selector("h2:has-text('Not taken: 1')")
    store_file(page, "2 documents stored, 2 refused.")
    page.wait_for_selector("tr:has-text('milk'):has-text('conflict')")
    page.click("summary:has-text('Options')")
    page.get_by_label("If a document exists").select_option("overwrite")
    store_file(page, "3 documents stored, 1 refused.")
    expect(server.json("GET", "taken/milk")["n"] == 3, "it was not overwritten")

    choose(page, "words.txt", "no JSON at all\n")
    page.wait_for_selector("main [role=alert]:has-text('so the input is not JSON')")
    choose(page, "old app.cblite2-wal", b"\0" * 100)
    page.wait_for_selector("pre:has-text(\"/taken 'old app.cblite2-wal'\")")
    expect(page.get_by_role("button", name="Import", exact=True).count() == 0)


def tables_and_databases_are_imported(room):
    """A table and a database of Couchbase Lite in SQLite are previewed and stored, the latter with its revisions; a dropped file is taken."""
    server = room.server
    server.ask("PUT", "taken")
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/taken/files")
    choose(page, "people.csv", "mail;count;address.city\nanna@example.com;1;Bonn\nben@example.com;20;Ulm\n")
    page.wait_for_selector("p:has-text('bytes: CSV')")
    expect(page.locator("main tbody tr").count() == 2)
    page.click("summary:has-text('Options')")
    page.get_by_label("Field with the id").fill("mail")
    page.wait_for_selector("main tbody tr th:has-text('ben@example.com')")
    store_file(page, "2 documents stored, 0 refused.")
    anna = server.json("GET", "taken/anna@example.com")
    expect(anna["count"] == 1 and anna["address"] == {"city": "Bonn"}, str(anna))

    choose(page, "notes.cblite", couchbase_lite())
    page.wait_for_selector("p:has-text('Couchbase Lite 1')")
    page.wait_for_selector("tr:has-text('note'):has-text('2-aaaa')")
    expect(names(server, "taken") == {"anna@example.com", "ben@example.com"}, "a preview has stored something")
    expect(visit.axe() == [], str(visit.axe()))
    store_file(page, "The file held 1 document.")
    note = server.json("GET", "taken/note?revs=true")
    expect(note["text"] == "second" and note["_rev"] == "2-" + "a" * 32 and note["_revisions"]["start"] == 2, str(note))
    expect(not page.get_by_label("Encoding").is_visible(), "a database has an encoding")

    server.ask("PUT", "taken/_design/rule", {"validate_doc_update": "function (doc) { if (doc.bad) throw({forbidden: 'no bad ones'}); }"})
    choose(page, "worse.cblite", couchbase_lite(WORSE))
    page.wait_for_selector("tr:has-text('worse')")
    store_file(page, "The file held 2 documents. Refused of these: 1.")
    page.wait_for_selector("tr:has-text('worse'):has-text('no bad ones')")

    page.locator("main input[type=file]").locator("xpath=../..").evaluate("""one => {
      const files = new DataTransfer();
      files.items.add(new File(['{"_id":"dropped"}\\n'], 'dropped.jsonl'));
      for (const name of ['dragover', 'drop']) one.dispatchEvent(new DragEvent(name, { dataTransfer: files, bubbles: true, cancelable: true }));
    }""")
    page.wait_for_selector("p:has-text('dropped.jsonl')")
    store_file(page, "1 document stored, 0 refused.")
    expect("dropped" in names(server, "taken"))

    choose(page, "old.csv", b"_id,name\nold,M\xfcller\n")
    page.wait_for_selector("main [role=alert]:has-text('line 2 is not UTF-8; the encoding windows-1252')")
    page.get_by_label("Encoding").select_option("windows-1252")
    page.wait_for_selector("tr:has-text('Müller')")
    expect(visit.axe() == [], str(visit.axe()))
    store_file(page, "1 document stored, 0 refused.")
    expect(server.json("GET", "taken/old")["name"] == "Müller", "the text is read in another encoding")


COUCHBASE_LITE_1 = f"""
CREATE TABLE docs (doc_id INTEGER PRIMARY KEY, docid TEXT UNIQUE NOT NULL, expiry_timestamp INTEGER);
CREATE TABLE revs (sequence INTEGER PRIMARY KEY AUTOINCREMENT, doc_id INTEGER NOT NULL, revid TEXT NOT NULL,
  parent INTEGER, current BOOLEAN, deleted BOOLEAN DEFAULT 0, json BLOB, no_attachments BOOLEAN, doc_type TEXT);
CREATE TABLE localdocs (docid TEXT UNIQUE NOT NULL, revid TEXT NOT NULL, json BLOB);
CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO info VALUES ('privateUUID', 'private');
INSERT INTO docs VALUES (1, 'note', NULL);
INSERT INTO revs VALUES (1, 1, '1-{"b" * 32}', NULL, 0, 0, '{{"text":"first"}}', 1, NULL);
INSERT INTO revs VALUES (2, 1, '2-{"a" * 32}', 1, 1, 0, '{{"text":"second"}}', 1, NULL);
PRAGMA user_version = 102;
"""


WORSE = f"""
INSERT INTO docs VALUES (2, 'worse', NULL);
INSERT INTO revs VALUES (3, 2, '1-{"c" * 32}', NULL, 1, 0, '{{"bad":true}}', 1, NULL);
"""


def couchbase_lite(more=""):
    """The bytes of a file of Couchbase Lite 1 with one document, and with what further statements add."""
    with tempfile.TemporaryDirectory() as folder:
        old = f"{folder}/notes.cblite"
        with contextlib.closing(sqlite3.connect(old)) as database:
            database.executescript(COUCHBASE_LITE_1 + more)
        with open(old, "rb") as file:
            return file.read()


def an_import_is_stopped(room):
    """An import tells its progress, asks before it is left, and ends between two batches when it is stopped; what was stored stays."""
    server = room.server
    server.ask("PUT", "taken")
    server.ask("PUT", "taken/_design/rule", {"validate_doc_update": "function (doc) { for (var i = 0; i < 200000; i++) doc.n = i % 7; }"})
    visit = room.visit()
    visit.log_in()
    page = visit.page
    visit.go("#/db/taken/files")
    choose(page, "many.jsonl", "".join(json.dumps({"_id": f"many-{number:05}"}) + "\n" for number in range(20_000)))
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_selector("[role=status]:has-text('000 documents stored')")
    asked = []
    visit.on_dialog = lambda dialog: (asked.append(dialog.type), dialog.dismiss())
    page.get_by_role("link", name="Upkeep").click()
    page.wait_for_timeout(200)
    expect(asked == ["confirm"], "an import is left without a question")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("[role=status]:has-text('The import was stopped. At least')")
    count = lambda: server.json("GET", "taken")["doc_count"]
    last = [-1]

    def is_still():
        last.append(count())
        return last[-1] == last[-2]
    until(is_still, "the import goes on", pause=1)
    expect(1000 <= count() < 20_000, f"{count()} documents: it did not stop")


def a_database_becomes_a_file(room):
    """An export has each leaf with its history and attachments, in a file of one's choice or a download; imported again it is the same."""
    server = room.server
    server.ask("PUT", "filed")
    server.store("filed", *milk("milk"))
    server.ask("PUT", "filed/%2E", text='{"exact": 12345678901234567, "_attachments": {"a.txt": {"content_type": "text/plain", "data": "aGk="}}}')
    for number in range(250):
        server.ask("PUT", f"filed/d{number:03}", {"n": number})
    folder = "navigator.storage.getDirectory().then(folder => folder.getFileHandle('export', {create: true}))"
    picker = f"window.showSaveFilePicker = () => {folder};"
    for script, is_download in (("delete window.showSaveFilePicker;", True), (picker, False)):
        visit = room.visit()
        # A browser's own picker can't be answered here; a file of the page's own storage is written in the same way.
        visit.context.add_init_script(script)
        visit.log_in()
        page = visit.page
        visit.go("#/db/filed/files")
        button = page.get_by_role("button", name="Export")
        if is_download:
            with page.expect_download() as download:
                button.click()
            with open(download.value.path()) as file:
                text = file.read()
        else:
            button.click()
        page.wait_for_selector("[role=status]:has-text('The export is complete: 254 revisions.')", timeout=30_000)
        if not is_download:
            text = page.evaluate(f"{folder}.then(handle => handle.getFile()).then(file => file.text())")
        docs = [json.loads(line) for line in text.splitlines()]
        expect(len(docs) == 254 and sum(doc["_id"] == "milk" for doc in docs) == 3, f"{len(docs)} lines")
        expect("12345678901234567" in text and "aGk=" in text)
        copy = "copy-a" if is_download else "copy-b"
        server.ask("PUT", copy)
        visit.go(f"#/db/{copy}/files")
        choose(page, "filed.jsonl", text)
        store_file(page, "254 documents stored, 0 refused.")
        rows = lambda name: server.json("GET", f"{name}/_all_docs?conflicts=true&include_docs=true")["rows"]
        expect(rows(copy) == rows("filed"), "the copy is another one")


FILES = [files_are_imported, tables_and_databases_are_imported, an_import_is_stopped, a_database_becomes_a_file]
