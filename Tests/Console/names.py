"""Ids and names that a browser or a proxy removes from a path. Only the document or attachment that they name is written."""

from room import expect

HOSTILE = [".", "..", "_design/.", "_design/..", "_local/..", "%2e", "%2E%2E", ".%2e", "...", "./", "/", "//", "../x", "a/..", "a/../..", "..;",
           "?", "#", "x?rev=1", " .", ". ", "\\..", "..%2f", "%2f..", "\t.", "\u2024", "_all_docs/.."]
ATTACHED = [".", "..", "", "%2e", "a/..", "../..", "?", "plain"]

# Each write of the pages, for one name: those by the documents' functions, and the requests of the others.
WRITES = """async ([at, names, attached, rev]) => {
  const { ask, path } = await import(`${at}api.js`);
  const { saveDocument, deleteDocument } = await import(`${at}documents/writing.js`);
  const { readDocument } = await import(`${at}documents/reading.js`);
  const told = {};
  const tried = async (name, act) => {
    try { (told[name] ??= []).push((await act()) ?? 'sent'); } catch (error) { (told[name] ??= []).push(error.error ?? String(error)); }
  };
  for (const name of names) {
    await tried(name, async () => { await saveDocument('planted', name, '{"x":1.50,"n":12345678901234567890}'); return 'saved'; });
    await tried(name, async () => (await readDocument('planted', name)).text.includes('12345678901234567890') ? 'read' : 'wrong');
    await tried(name, () => ask(path`planted/${name}`, { method: 'COPY', headers: { Destination: 'copied' } }));
    await tried(name, () => ask(path`planted/${name}/file`, { method: 'PUT', query: { rev }, body: '{}' }));
    await tried(name, () => ask(path`planted/${name}/file`, { method: 'DELETE', query: { rev } }));
    await tried(name, () => ask(path`planted/_settle/${name}`, { method: 'POST', json: { policy: 'deletesWin' } }));
    await tried(name, () => ask(path`planted/_index/_design/x/json/${name}`, { method: 'DELETE', whole: true }));
    await tried(name, () => ask(path`planted/${name}`, { method: 'DELETE' }));
    await tried(name, async () => { await deleteDocument('planted', name, (await readDocument('planted', name)).rev); return 'deleted'; });
    await tried(name, () => ask(path`${name}`, { method: 'PUT' }));
  }
  for (const name of attached) {
    await tried(`kept ${name}`, () => ask(path`planted/kept/${name}`, { method: 'DELETE', query: { rev: '9-0' } }));
    await tried(`kept ${name}`, () => ask(path`planted/kept/${name}`, { method: 'PUT', query: { rev: '9-0' }, body: '{}' }));
  }
  return told;
}"""


def rest(server):
    """The documents that no hostile name means, with their revisions."""
    return {row["id"]: row["value"]["rev"] for row in server.json("GET", "planted/_all_docs")["rows"] if row["id"] in ("kept", "other")}


def watched(visit):
    """Every request that is not a read."""
    sent = []
    visit.page.on("request", lambda one: sent.append((one.method, one.url[len(visit.server.url) - 1:])) if one.method not in ("GET", "HEAD") else None)
    return sent


def expect_exact(sent):
    for method, address in sent:
        where, _, query = address.partition("?")
        segments = where[1:].split("/")
        expect(all(segments) and not {".", ".."} & set(segments), f"{method} {address}")
        if method == "DELETE":
            expect("rev=" in query or segments[0] == "_session" or "_index" in segments, f"{method} {address} has no revision")


def fill(server):
    server.ask("PUT", "planted")
    server.ask("PUT", "planted/other", {"x": 1})
    stubs = {name: {"content_type": "text/plain", "data": "aGk="} for name in ATTACHED if name}
    server.ask("PUT", "planted/kept", {"_attachments": stubs})


def no_name_leads_elsewhere(room):
    """Every write with every hostile name reaches what it names, or is refused before it is sent."""
    server = room.server
    fill(server)
    before = rest(server)
    visit = room.visit()
    visit.log_in()
    sent = watched(visit)
    told = visit.page.evaluate(WRITES, [visit.sources(), HOSTILE, ATTACHED, "1-" + "0" * 32])
    expect_exact(sent)
    for name in HOSTILE:
        isReserved = name.startswith("_") and not name.startswith("_design/")
        wanted = [] if isReserved else ["saved", "read"]
        expect(told[name][:len(wanted)] == wanted, f"{name!r}: {told[name]}")
        expect(told[name][7] == "no_revision", f"{name!r}: {told[name]}")
        expect(told[name][8] == ("no_revision" if isReserved else "deleted"), f"{name!r}: {told[name]}")
    for name in (".", "..", ""):
        expect(told[f"kept {name}"] == ["unsafe_path"] * 2, f"attachment {name!r}: {told[f'kept {name}']}")
    expect(rest(server) == before, "another document was changed")
    server.ask("DELETE", "planted")


def a_document_named_by_a_dot(room):
    """The documents `.` and `_design/..` are read, saved and deleted; the attachment `.` can't be removed by its address."""
    server = room.server
    fill(server)
    before = rest(server)
    server.ask("POST", "planted", {"_id": ".", "x": 1})
    server.ask("POST", "planted", {"_id": "_design/..", "views": {}})
    visit = room.visit()
    visit.log_in()
    sent = watched(visit)
    page = visit.page
    visit.go("#/planted/docs")
    page.get_by_role("link", name=".", exact=True).click()
    area = page.get_by_label("The document", exact=True)
    page.wait_for_function("() => document.querySelector('textarea')?.value.includes('\"x\": 1')")
    area.fill(area.input_value().replace('"x": 1', '"x": 2.5'))
    page.keyboard.press("Control+s")
    page.wait_for_selector("text=Saved as 2-")
    expect('"x":2.5' in server.ask("POST", "planted/_bulk_get", {"docs": [{"id": "."}]}))
    for where in ("#/planted/doc/.", "#/planted/doc/_design%2F.."):
        visit.go(where)
        page.wait_for_selector("span.rev")
        page.get_by_role("button", name="Delete…").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        page.wait_for_selector("h1:has-text('Documents')")
    # A document that was deleted has no revision to delete.
    visit.go("#/planted/doc/.")
    page.wait_for_selector("text=This document is deleted")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_selector("dialog:has-text('nothing to delete')")
    page.keyboard.press("Escape")
    visit.go("#/planted/doc/kept")
    page.wait_for_selector("li:has-text('no address that browsers keep')")
    expect(page.locator("li:has-text('no address that browsers keep')").count() == 2, "`.` and `..` have no address")
    expect(page.locator("a[download]").count() == len(ATTACHED) - 3, "the others can be downloaded")
    expect_exact(sent)
    rows = server.json("POST", "planted/_all_docs", {"keys": [".", "_design/.."]})["rows"]
    expect([row["value"]["deleted"] for row in rows] == [True, True], str(rows))
    expect(rest(server) == before, "another document was changed")
    server.ask("DELETE", "planted")


NAMES = [no_name_leads_elsewhere, a_document_named_by_a_dot]
