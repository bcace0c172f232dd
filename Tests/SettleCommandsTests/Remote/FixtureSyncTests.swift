import Foundation
import Settle
import Testing

/// The first sync after the import of a file of another product sends only what the server lacks.
///
/// The revisions of a file with version vectors have no generations there, so that a server that had them from Couchbase Lite may
/// call them by others. Here the server has them from the same file.
@Suite(.enabled(if: ImportCommandTests.fixture("cbl1") != nil)) struct FixtureSyncTests {
    static let files = [
        "cbl1/ios140", "cbl1/android104", "cbl1-made/edge.cblite2", "cdt/schema6to7upgrade.touchdb",
        "sync-android/datastores-user_version6/datastores",
        "sync-android/v100WithDuplicates/datastores/v100DBWithDuplicates", "cblite2-made/tree.cblite2",
        "cblite2-made/tree-with-wal.cblite2", "cblite2-made/vv.cblite2", "pouchdb-leveldb-made/log",
        "pouchdb-leveldb/lateStyle", "pouchdb-websql-made/_pouch_fix", "pouchdb-leveldb-made/dump-by-guide.jsonl",
        "pouchdb-dump/bloggr.txt", "couchbackup/animaldb_expected.json.gz", "couchbackup/attachment.backup",
        "couchdb-3.5/filesfix.couch",
    ]

    /// Imports a file, of which some parts are not in it.
    private func load(_ path: String, into database: String, _ room: RemoteRoom) throws {
        let file = try #require(ImportCommandTests.fixture(path))
        let outcome = try room.run("import", database, file, "--json")
        #expect(outcome.status == (path.contains("edge") ? 1 : 0), "\(outcome)")
    }

    /// Syncs a database with that of the server, and returns the report.
    private func sync(_ database: String, _ room: RemoteRoom) throws -> JSONValue {
        let outcome = try room.run("sync", database, room.url("old"), "--json")
        #expect(outcome.status == 0, "\(outcome)")
        return outcome.json
    }

    @Test(arguments: files) func `a server that imported the same file gets and sends nothing`(path: String) throws {
        let room = try RemoteRoom()
        try load(path, into: room.url("old"), room)
        try load(path, into: "app", room)
        let leaves = try room.room.leaves("app")
        let first = try sync("app", room)
        #expect(first["sent"]?["revisions"] == 0 && first["received"]?["revisions"] == 0, "\(first)")
        #expect(try room.room.leaves("app") == leaves)
        // Now both have a log of it, and nothing is compared.
        let second = try sync("app", room)
        #expect(second["sent"]?["documents"] == 0 && second["received"]?["documents"] == 0, "\(second)")
    }

    @Test(arguments: files) func `a server that lacks all but one document gets the others`(path: String) throws {
        let room = try RemoteRoom()
        try load(path, into: "seed", room)
        let leaves = try room.room.leaves("seed")
        let rows = try leaves.map { try JSONValue(parsing: $0) }
        let ids = rows.compactMap { $0["id"]?.string }
        let known = try #require(ids.min())
        let pushed = try room.run("push", "seed", room.url("old"), "--create", "--id", known)
        #expect(pushed.status == 0, "\(pushed)")
        try load(path, into: "app", room)
        let first = try sync("app", room)
        let lacked = rows.filter { $0["id"]?.string != known }.map { $0["changes"]?.array?.count ?? 0 }.reduce(0, +)
        #expect(first["sent"]?["revisions"]?.int == lacked, "\(first)")
        #expect(first["received"]?["revisions"] == 0, "\(first)")
        // A new device gets the same leaves.
        let second = try room.run("sync", "other", room.url("old"), "--create", "--json")
        #expect(second.status == 0, "\(second)")
        #expect(try room.room.leaves("other") == leaves)
    }

    @Test func `what changed on both sides is all that is exchanged`() throws {
        let room = try RemoteRoom()
        let path = "cblite2-made/tree.cblite2"
        try load(path, into: room.url("old"), room)
        try load(path, into: "app", room)
        let edited = try room.run("put", room.url("old"), "there", #"{"v":1}"#)
        let here = try room.run("put", "app", "here", #"{"v":2}"#)
        #expect(edited.status == 0 && here.status == 0)
        let first = try sync("app", room)
        #expect(first["sent"]?["revisions"] == 1 && first["received"]?["revisions"] == 1, "\(first)")
    }
}
