import Foundation
import Settle
import SettleCore
import SettleTesting
import Testing

@testable import SettleImport

/// An import of what the old product had not pushed to its server yet.
struct PushRecordTests {
    private let made: MadeDatabase
    private let database: Database

    init() throws {
        made = try MadeDatabase()
        database = try Database.inMemory()
    }

    private static let server = URL(string: "http://couch.example/notes")
    private static let unpushed = ImportOptions(onlyUnpushed: true)

    // MARK: Couchbase Lite 1.x

    /// A database with three documents, of which the sequences are 2, 3 and 4, and with positions.
    private func old(_ positions: [String]) throws -> ForeignDatabase {
        var rows = [
            "CREATE TABLE replicators (remote TEXT NOT NULL, push BOOLEAN, last_sequence TEXT, UNIQUE (remote, push))",
            MadeDatabase.row(1, "1-a", "{}"), MadeDatabase.row(1, "2-a", parent: 1, #"{"v":1}"#),
            MadeDatabase.row(2, "1-b", #"{"v":2}"#), MadeDatabase.row(3, "1-c", #"{"v":3}"#),
        ]
        for number in 1...3 { rows.append(MadeDatabase.document(number, "d\(number)")) }
        return try ForeignDatabase(
            at: made.sqlite("\(UUID().uuidString).cblite", version: 101, MadeDatabase.schemaOf1 + rows + positions))
    }

    private static func replicator(_ remote: String, _ push: Int, _ position: String) -> String {
        "INSERT INTO replicators VALUES('\(remote)', \(push), '\(position)')"
    }

    private static func checkpoint(_ id: String, _ position: String) -> String {
        "INSERT INTO info VALUES('checkpoint/\(id)', '\(position)')"
    }

    @Test(
        arguments: [
            // Nothing was ever replicated, or only pulled: all is imported.
            ([], ["d1", "d2", "d3"]), ([replicator("http://couch.example/notes", 0, "3")], ["d1", "d2", "d3"]),
            ([checkpoint("0123456789012345678901234567890123456789", "12-g1AAAA")], ["d1", "d2", "d3"]),
            ([replicator("http://couch.example/notes", 1, "2")], ["d2", "d3"]),
            ([replicator("http://couch.example/notes", 1, #"{"seq":3}"#)], ["d3"]),
            ([replicator("http://couch.example/notes", 1, "4"), replicator("http://couch.example/notes", 0, "9")], []),
            // A document that one of two servers lacks is imported, and a position that can't be read does not count.
            ([replicator("http://a.example/x", 1, "4"), replicator("http://b.example/x", 1, "2")], ["d2", "d3"]),
            ([replicator("http://couch.example/notes", 1, "nonsense")], ["d1", "d2", "d3"]),
        ] as [([String], [String])])
    func `documents after the last pushed sequence are imported`(positions: [String], ids: [String]) throws {
        let source = try old(positions)
        let report = try database.importAll(from: source, options: Self.unpushed)
        #expect(try database.documents().map(\.id.string) == ids)
        #expect(report.documents == 3 && report.pushed == 3 - ids.count && report.isWhole, "\(report)")
        #expect(report.json["pushed"]?.int == 3 - ids.count && report.explains(ids.count))
        let scratch = try Database.inMemory()
        let inspected = try old(positions).inspect(Self.unpushed, verifies: false, scratch: scratch) { _ in }
        #expect(inspected.leaves == ids.count && inspected.pushed == report.pushed, "\(inspected)")
    }

    @Test(arguments: [
        // The digests of {"continuous":false,"localUUID":"private","push":true,"remoteURL":…}, and of the same without "continuous",
        // with another spelling of slashes and a slash at the end.
        "21eb005057bbea406f3d10da4443a79c39828a84", "f56579524512aa83a7bcec49a2995755d08ea3ce",
    ])
    func `a position whose direction is in its name is known by the URL alone`(id: String) throws {
        for position in [Self.checkpoint(id, "3"), Self.replicator(id, 1, "3")] { try expectProof(position) }
    }

    private func expectProof(_ position: String) throws {
        let database = try Database.inMemory()
        let positions = [position, Self.replicator("34fd4530ec7a084c4ac2e499c32dd6b41c65ac2d", 0, "2")]
        let refused = try #require(throws: ForeignFileError.self) {
            try database.importAll(from: old(positions), options: Self.unpushed)
        }
        #expect(refused.code == .unsupported && refused.message.contains("name the URL"), "\(refused)")
        #expect(try database.info().lastSequence == 0)
        var options = Self.unpushed
        options.syncedWith = URL(string: "http://anna:secret@other.example/notes")
        let other = try #require(throws: ForeignFileError.self) {
            try database.importAll(from: old(positions), options: options)
        }
        #expect(other.message.contains("http://*@other.example/notes") && !other.message.contains("secret"), "\(other)")
        options.syncedWith = Self.server
        try database.importAll(from: old(positions), options: options)
        #expect(try database.documents().map(\.id.string) == ["d3"])
    }

    @Test func `a file that does not say what was pushed is refused, and nothing is created`() throws {
        let folder = try TemporaryFolder()
        let dump = URL(filePath: folder.path + "/dump.jsonl")
        try Data("{\"_id\":\"a\",\"_rev\":\"1-a\"}\n".utf8).write(to: dump)
        let path = folder.path + "/notes.settle"
        let error = try #require(throws: ForeignFileError.self) {
            try Database.openOrCreate(path, migratingFrom: dump, importing: Self.unpushed)
        }
        #expect(error.code == .unsupported && error.message.contains("import all of it"), "\(error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["dump.jsonl"])
        let silent = try #require(throws: ForeignFileError.self) {
            try database.importAll(from: ListReader().database, options: Self.unpushed)
        }
        #expect(silent.message.hasPrefix("List 1.0 does not say"), "\(silent)")
    }

    // MARK: Version vectors

    /// A version of a device, as text: its time and the device.
    private static func version(_ time: Int, _ device: Int) -> String {
        let digits = String(time, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + String(repeating: "\(device)", count: 32)
    }

    private func document(
        _ versions: [(Int, Int)], server: (Int, Int)?, hasCurrent: Bool = false
    ) throws -> ForeignDocument {
        let signatures = versions.compactMap { RevisionSignature(Self.version($0.0, $0.1)) }
        let history = try RevisionHistory(start: UInt64(signatures.count), signatures: signatures)
        var document = ForeignDocument(
            id: "d", sequence: 7, leaves: [Revision(id: "d", history: history, body: ["v": "mine"])])
        document.hasVersions = true
        document.server = ForeignServerState(
            hasCurrent: hasCurrent, signature: server.flatMap { RevisionSignature(Self.version($0.0, $0.1)) })
        return document
    }

    /// Pulls what a server has: three generations, the last of them with a version of a device.
    private func pull(_ time: Int, _ device: Int) throws -> RevisionID {
        let signatures = [Self.version(time, device), "b", "a"].compactMap { RevisionSignature($0) }
        let history = try RevisionHistory(start: 3, signatures: signatures)
        _ = try database.insertReplicated([ReplicatedRevision(id: "d", history: history, body: ["v": "theirs"])])
        return history.revision
    }

    private func take(_ document: ForeignDocument) throws -> ImportReport {
        let reader = ListReader()
        reader.pushes = .ofEachDocument
        reader.documents = [document]
        return try database.importAll(from: reader.database, options: Self.unpushed)
    }

    @Test(arguments: [
        // The own edit after a version that was pulled, and after one that this device had pushed.
        ([(9, 1), (5, 2)], (5, 2)), ([(9, 1)], (5, 1)), ([(9, 1), (2, 2)], (5, 1)),
    ])
    func `an edit that was not pushed continues the server's tree`(
        versions: [(Int, Int)], server: (Int, Int)
    ) throws {
        let theirs = try pull(server.0, server.1)
        let report = try take(document(versions, server: server))
        #expect(report.leaves == 1 && report.pushed == 0 && report.isWhole, "\(report)")
        let tree = try #require(try database.tree(of: "d"))
        let leaf = try #require(tree.leaves.first)
        #expect(tree.leaves.count == 1 && leaf.revision.generation == 4)
        #expect(tree.history(of: leaf.revision)?.revisions.dropFirst().first == theirs)
        #expect(try database.document("d")?["v"]?.string == "mine")
        #expect(try take(document(versions, server: server)).known == 1)
    }

    @Test func `an edit beside the server's is its sibling`() throws {
        let theirs = try pull(5, 2)
        _ = try take(document([(9, 1), (4, 3)], server: (5, 2)))
        let tree = try #require(try database.tree(of: "d"))
        #expect(tree.leaves.count == 2 && tree.leaves.allSatisfy { $0.revision.generation == 3 })
        #expect(tree.leaves.contains { $0.revision == theirs })
    }

    @Test func `what the server has is passed over, and what was never pulled is imported as it is`() throws {
        let pushed = try take(document([(9, 1)], server: (9, 1), hasCurrent: true))
        #expect(pushed.pushed == 1 && pushed.leaves == 0, "\(pushed)")
        #expect(try database.info().lastSequence == 0)
        _ = try take(document([(9, 1), (5, 2)], server: (5, 2)))
        #expect(try database.document("d")?.revision?.generation == 2)
    }

    @Test(.enabled(if: FixtureFiles.has("cblite2-made")), arguments: ["tree", "vv"])
    func `of a database of Couchbase Lite 4 the documents are imported that its server lacks`(name: String) throws {
        let source = try ForeignDatabase(at: FixtureFiles.url("cblite2-made/\(name).cblite2"))
        let report = try database.importAll(from: source, options: Self.unpushed)
        let ids = Set(try database.changes().map(\.id.string))
        // An edit that was never pushed, and the own side of a conflict.
        #expect(ids.isSuperset(of: ["after-sync", "conflict"]), "\(ids)")
        #expect(ids.isDisjoint(with: ["plain-0", "plain-1", "history", "blob", "expiring"]), "\(ids)")
        #expect(report.pushed + ids.count == report.documents && report.isWhole, "\(report)")
    }
}
