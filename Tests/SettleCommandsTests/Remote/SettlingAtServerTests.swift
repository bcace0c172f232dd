import Foundation
import Settle
import SettleCore
import SettleTesting
import Testing

/// `settle resolve` on a URL: by the calls of a Settle server, or revision by revision.
@Suite(.timeLimit(.minutes(5))) struct SettlingAtServerTests {
    /// Documents `a` and `b` with two edits of one revision.
    private func fill(_ database: Database) throws {
        for id in ["a", "b"] as [DocumentID] {
            for name in ["b", "c"] {
                let history = try RevisionHistory(
                    start: 2, signatures: [name, "a"].compactMap { RevisionSignature($0) })
                try database.insertReplicated([
                    ReplicatedRevision(id: id, history: history, body: ["v": .string(name)])
                ])
            }
        }
    }

    @Test func `a member settles all conflicts, one after another, where the server has it for administrators`() throws
    {
        let remote = try RemoteRoom(preparing: { store in
            for name in ["db", "own"] { try fill(store.create(name)) }
        })
        try remote.send(
            "PUT", "_users/org.couchdb.user:ben",
            ["_id": "org.couchdb.user:ben", "name": "ben", "password": "pw", "roles": [], "type": "user"])
        let members: JSONValue = ["admins": ["names": ["anna"]], "members": ["names": ["ben"]]]
        #expect(try remote.send("PUT", "db/_security", members)["ok"] == true)
        #expect(try remote.send("POST", "db/_settle", ["policy": "mostRevisions", "dry_run": true])["settled"] == 2)
        let arguments = ["--all", "--policy", "mostRevisions", "--json"]
        let byMember = try remote.run(all: ["resolve", remote.url("db", "ben:pw@")] + arguments)
        let byAdmin = try remote.run(all: ["resolve", remote.url("own")] + arguments)
        #expect(byMember.status == 0 && byAdmin.status == 0, "\(byMember.errors) \(byAdmin.errors)")
        for outcome in [byMember, byAdmin] {
            #expect(outcome.json["settled"] == 2 && outcome.json["written"] == 2 && outcome.json["failed"] == 0)
        }
        #expect(try remote.room.leaves(remote.url()) == remote.room.leaves(remote.url("own")))
    }

    @Test func `a conflict that fails is listed, and the others are settled`() throws {
        let remote = try RemoteRoom(preparing: { store in
            for name in ["db", "other"] {
                let database = try store.create(name)
                try fill(database)
                for signature in ["a", "b"] {
                    // A revision of the highest generation can't have a child.
                    let revision = try #require(RevisionID("9223372036854775807-\(signature)"))
                    try database.insertReplicated([
                        ReplicatedRevision(
                            id: "high", history: RevisionHistory(revision), body: ["v": .string(signature)])
                    ])
                }
            }
        })
        let proxy = try remote.disguise()
        for database in [remote.url(), remote.url("other", behind: proxy)] {
            let outcome = try remote.run("resolve", database, "--all", "--policy", "mostRevisions")
            #expect(outcome.status == 1 && outcome.errors.hasPrefix("high: "), "\(outcome.errors)")
            #expect(outcome.errors.contains("highest generation"), "\(outcome.errors)")
            #expect(outcome.output.hasPrefix("Settled 2 conflicts by mostRevisions"), "\(outcome.output)")
            #expect(outcome.line.hasSuffix("; 1 failed"), "\(outcome.output)")
            let again = try remote.run("resolve", database, "--all", "--policy", "mostRevisions", "--json")
            #expect(again.status == 1 && again.json["failed"] == 1 && again.error["id"] == "high")
            #expect(again.error["error"] == "invalid", "\(again.errors)")
        }
        proxy.stop()
    }

    /// A document that was deleted here while another device edited its first revision.
    ///
    ///     1-… ─┬─ 2-… ── 3-… ✕
    ///          └─ 2-b
    private func delete(in database: Database) throws {
        var document = try database.save(Document(id: "a", body: ["v": 1]), onConflict: .fail)
        let first = try #require(document.revision)
        document["v"] = 2
        document = try database.save(document, onConflict: .fail)
        try database.delete(document)
        let signatures = [RevisionSignature("b"), first.signature].compactMap(\.self)
        try database.insertReplicated([
            ReplicatedRevision(
                id: "a", history: RevisionHistory(start: 2, signatures: signatures), body: ["v": 3])
        ])
    }

    @Test func `an old tombstone is a deletion at Settle as in a folder, and a rehearsal shows what is written`() throws
    {
        let remote = try RemoteRoom(preparing: { try delete(in: $0.create("db")) })
        let folder = try Database.create(remote.room.path("local"))
        try delete(in: folder)
        folder.close()
        var survivors: [JSONValue?] = []
        for database in ["local", remote.url()] {
            let words = ["resolve", database, "a", "--policy", "deletesWin", "--json"]
            let shown = try remote.run(all: words + ["--dry-run"]).json
            let done = try remote.run(all: words).json
            #expect(done["outcome"] == "settled" && done["rev"] == shown["survivor"], "\(shown) \(done)")
            survivors.append(done["rev"])
        }
        #expect(survivors[0] == survivors[1])
    }

    @Test func `an edit of a design document is written by its revisions`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        let base = try remote.run("put", remote.url(), "_design/d", #"{"v":1}"#).line
        try remote.run("put", remote.url(), "_design/d", #"{"v":2}"#, "--rev", base)
        try remote.run("put", remote.url(), "_design/d", #"{"v":3}"#, "--rev", base, "--allow-conflict")
        try remote.room.write(#"printf '{"v": 9}\n' >"$1""#, to: "editor.sh")
        let edited = try remote.run(
            "resolve", remote.url(), "_design/d", "--edit",
            environment: ["VISUAL": "", "EDITOR": "sh editor.sh", "TMPDIR": remote.room.folder.path])
        #expect(edited.status == 0 && edited.line.hasSuffix(", as edited"), "\(edited.errors)")
        #expect(try remote.run("get", remote.url(), "_design/d").json["v"] == 9)
        #expect(try remote.run("resolve", remote.url(), "_design/d", "--delete").line == "_design/d: not in conflict")
    }
}
