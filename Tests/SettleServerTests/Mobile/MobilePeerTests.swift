import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleMobile
import SettlePlatform
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// Replication by Couchbase Mobile's protocol between a database here and a server over real sockets.
@Suite(.timeLimit(.minutes(5))) struct MobilePeerTests {
    private let live: LiveServer
    private let remote: Database
    private let database: Database

    init() throws {
        live = try LiveServer()
        try live.server.state.create("db")
        remote = try live.server.state.databases.open("db")
        database = try Database.inMemory()
    }

    private static func save(_ id: DocumentID, _ members: JSONValue, in database: Database) throws {
        try database.save(Document(id: id, body: try DocumentBody(members)))
    }

    private func peer(_ collection: String? = nil) throws -> MobilePeer {
        try MobilePeer("ws://admin:admin@127.0.0.1:\(live.port)/db", collection: collection)
    }

    private func pull(_ change: (inout ReplicationConfiguration) -> Void = { _ in }) async throws -> ReplicationResult {
        var configuration = ReplicationConfiguration.pull(database, from: try peer())
        change(&configuration)
        return try await OneWayReplicator(configuration).run()
    }

    private func push(_ change: (inout ReplicationConfiguration) -> Void = { _ in }) async throws -> ReplicationResult {
        var configuration = ReplicationConfiguration.push(database, to: try peer())
        change(&configuration)
        return try await OneWayReplicator(configuration).run()
    }

    @Test func `documents are pushed and pulled with their ids and deletions, and the next run compares nothing`()
        async throws
    {
        for number in 0..<700 {
            try Self.save(DocumentID(unchecked: "here-\(number)"), ["n": .number(JSONNumber(number))], in: database)
        }
        for number in 0..<700 {
            try Self.save(DocumentID(unchecked: "there-\(number)"), ["n": .number(JSONNumber(number))], in: remote)
        }
        try remote.delete("there-7")
        let pulled = try await pull()
        #expect(pulled.counts.revisionsWritten == 700 && pulled.ledger.entries.isEmpty)
        let pushed = try await push()
        #expect(pushed.counts.revisionsWritten == 700 && pushed.ledger.entries.isEmpty)
        for id in ["here-3", "there-699", "there-7"] {
            let trees = try [database, remote].map {
                try $0.tree(of: DocumentID(unchecked: id))?.leaves.map(\.revision)
            }
            #expect(trees[0] == trees[1] && trees[0]?.count == 1, "\(id)")
        }
        #expect(try database.document("there-7") == nil)
        #expect(try await pull().counts.revisionsRead == 0)
        #expect(try await push().counts.changesRead == 0)
    }

    @Test func `attachments travel both ways, compressed ones and large ones, too`() async throws {
        let text = Array(String(repeating: "so it goes ", count: 5000).utf8)
        let noise = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        for (database, id) in [(database, "mine"), (remote, "theirs")] {
            var document = Document(id: DocumentID(unchecked: id), body: try DocumentBody(["a": 1]))
            document.attachments = [
                try database.makeAttachment("a.txt", contentType: "text/plain", content: text),
                try database.makeAttachment("b.bin", content: noise),
            ]
            try database.save(document)
        }
        #expect(try await pull().ledger.entries.isEmpty)
        #expect(try await push().ledger.entries.isEmpty)
        for (database, id) in [(database, "theirs"), (remote, "mine")] {
            let attachments = try #require(try database.document(DocumentID(unchecked: id))).attachments
            #expect(try attachments.map { try database.content(of: $0) } == [text, noise])
        }
    }

    @Test func `an attachment whose name begins as those of blobs do travels both ways`() async throws {
        let content = Array("a client of CouchDB chose the name".utf8)
        for (database, id) in [(database, "mine"), (remote, "theirs")] {
            var document = Document(id: DocumentID(unchecked: id), body: try DocumentBody(["a": 1]))
            document.attachments = [
                try database.makeAttachment("blob_report.txt", contentType: "text/plain", content: content)
            ]
            try database.save(document)
        }
        #expect(try await pull().ledger.entries.isEmpty)
        #expect(try await push().ledger.entries.isEmpty)
        for (database, id) in [(database, "theirs"), (remote, "mine")] {
            let attachments = try #require(try database.document(DocumentID(unchecked: id))).attachments
            #expect(attachments.map(\.name) == ["blob_report.txt"])
            #expect(try attachments.map { try database.content(of: $0) } == [content])
        }
    }

    @Test(arguments: [
        ("blob_/photo", "sha1-a", true), ("blob_/gone", "sha1-b", true), ("blob_1", "sha1-a", true),
        ("blob_1", "sha1-b", false), ("blob_report.txt", "sha1-a", false), ("photo", "sha1-a", false),
    ])
    func `an entry that repeats a blob is told from an attachment of its own`(
        name: String, digest: String, isRepeated: Bool
    ) throws {
        let blobs = MobileBlob.all(in: try DocumentBody(["photo": ["@type": "blob", "digest": "sha1-a"]]))
        let entry = WireAttachment(name, digest: digest, content: .stub)
        #expect(blobs.count == 1 && MobileBlob.isRepeated(by: entry, among: blobs) == isRepeated)
    }

    @Test func `a conflict is refused, settled by a pull, and sent as a child of the server's revision`() async throws {
        try Self.save("a", ["v": 0], in: database)
        _ = try await push()
        for (database, value) in [(database, 1), (remote, 2)] {
            try database.updateOrCreate("a") { $0["v"] = .number(JSONNumber(value)) }
        }
        let refused = try await push()
        #expect(refused.counts.revisionsRefused == 1 && refused.ledger.entries.first?.status == 409)
        let theirs = try #require(try remote.document("a")?.revision)
        for _ in 0..<3 {
            _ = try await pull { $0.conflictPolicy = .localWins }
            #expect(try await push().ledger.entries.isEmpty)
        }
        let tree = try #require(try remote.tree(of: "a"))
        #expect(tree.leaves.count == 1)
        #expect(tree.history(of: try #require(tree.winner?.revision))?.revisions.contains(theirs) == true)
        #expect(try remote.document("a")?["v"] == 1 && database.document("a")?["v"] == 1)
        #expect(try database.tree(of: "a")?.leaves.count { !$0.isDeleted } == 1)
    }

    @Test func `a document whose id no message can carry is listed by both sides, and the others replicate`()
        async throws
    {
        for (database, name) in [(database, "here"), (remote, "there")] {
            try Self.save(DocumentID(unchecked: name), ["n": 1], in: database)
            // The second one would be read as the id "a" and another property.
            for id in ["a\u{0}\(name)", "a\u{0}b\u{0}\(name)", name + String(repeating: "x", count: 110_000)] {
                try Self.save(DocumentID(unchecked: id), ["n": 2], in: database)
            }
        }
        let pushed = try await push()
        #expect(pushed.counts.revisionsWritten == 1 && pushed.ledger.entries.count == 3)
        #expect(pushed.ledger.entries.allSatisfy { $0.kind == .refused && $0.reason.contains("can't be sent") })
        let pulled = try await pull()
        #expect(pulled.counts.revisionsWritten == 1 && pulled.ledger.entries.isEmpty)
        for database in [database, remote] {
            #expect(try database.document("here")?["n"] == 1 && database.document("there")?["n"] == 1)
            #expect(try database.document("a") == nil && database.info().documents.live == 5)
        }
        let listed = try await live.ask("GET", "/_scheduler/ledger/db%2F_blipsync")
        #expect(listed.status == 200 && listed.json["total_rows"] == 3, "\(listed.text.prefix(1000))")
    }

    @Test func `a document whose id leaves no room for the other properties of a message is not offered`() throws {
        let ids = [100_000, 102_320].map { DocumentID(unchecked: String(repeating: "x", count: $0)) }
        let faults = try ids.map { id in
            try Self.save(id, [:], in: remote)
            let record = try #require(try remote.storedRecord(of: id, withContent: false))
            return try #require(PulledRevision(record, usesVersions: false)).fault
        }
        #expect(faults[0] == nil && faults[1] != nil)
    }

    @Test func `a refusal whose reason no message can carry goes without it`() throws {
        try Self.save("a", [:], in: remote)
        let record = try #require(try remote.storedRecord(of: "a", withContent: false))
        let change = try #require(PulledRevision(record, usesVersions: false))
        for (reason, isSent) in [("its file is damaged", true), ("the name a\u{0}b is damaged", false)] {
            let failure = DatabaseError(.damagedDocument, reason)
            let message = change.message(.failure(failure), MobileAttachments(database: remote), [:])
            #expect(message.profile == "norev" && message.isSilent && message.fault == nil)
            #expect(message.properties["reason"]?.contains(reason) == isSent)
        }
    }

    @Test(arguments: [ConflictPolicy.threeWayMerge(), .localWins, .deletesWin])
    func `an edit made apart from a deletion at the server ends equal on both sides`(
        _ policy: ConflictPolicy
    ) async throws {
        try Self.save("a", ["v": 0], in: database)
        _ = try await push()
        try remote.delete("a")
        try database.updateOrCreate("a") { $0["v"] = 1 }
        for _ in 0..<3 {
            _ = try await pull { $0.conflictPolicy = policy }
            #expect(try await push().ledger.entries.isEmpty)
        }
        let here = try database.document("a")?["v"]
        #expect(try remote.document("a")?["v"] == here && here == (policy.name == "deletesWin" ? nil : 1))
        #expect(try database.tree(of: "a")?.leaves.count { !$0.isDeleted } ?? 0 < 2)
    }

    @Test func `a collection is a database of its own, and an error names one without a database`() async throws {
        for name in ["db+inventory+hotels", "db+_default+$rooms"] { try live.server.state.create(name) }
        try Self.save("hotel", ["stars": 3], in: database)
        for (collection, name) in [
            ("inventory.hotels", "db+inventory+hotels"), ("_default.Rooms", "db+_default+$rooms"),
        ] {
            try await OneWayReplicator(.push(database, to: try peer(collection))).run()
            #expect(try live.server.state.databases.open(name).document("hotel")?["stars"] == 3)
        }
        #expect(try remote.document("hotel") == nil)
        await #expect { try await peer("inventory.none").connect() } throws: { ($0 as? PeerError)?.code == .notFound }
    }

    @Test(arguments: [
        ("_default", "db"), ("_default._default", "db"), ("inventory.hotels", "db+inventory+hotels"),
        ("Rooms", "db+_default+$rooms"), ("a.b%c", "db+a+b()c"), ("a.b.c", nil), ("", nil), ("a.b+c", nil),
    ])
    func `each collection has a database of its own name`(collection: String, database: String?) {
        #expect(CollectionDatabase.name(of: collection, in: "db") == database)
    }

    @Test func `a continuous pull brings what changes later`() async throws {
        var configuration = ReplicationConfiguration.pull(database, from: try peer())
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        for round in 0..<3 {
            let id = DocumentID(unchecked: "doc-\(round)")
            try Self.save(id, ["round": .number(JSONNumber(round))], in: remote)
            await eventually("the document is pulled") { try database.document(id) != nil }
            #expect(try database.document(id)?["round"] == .number(JSONNumber(round)))
        }
        await replicator.stop()
    }

    @Test func `single documents are pulled by their ids, and other filters are refused`() async throws {
        for id in ["a", "b", "c"] { try Self.save(DocumentID(unchecked: id), [:], in: remote) }
        _ = try await pull { $0.filter = .documents(["b"]) }
        #expect(try database.info().documents.live == 1)
        await #expect(throws: PeerError.self) {
            let selector = try MangoSelector(["a": 1])
            return try await pull { $0.filter = .selector(selector) }
        }
    }

    @Test func `a continuous pull of single documents brings what changes later`() async throws {
        try Self.save("b", ["n": 1], in: remote)
        var configuration = ReplicationConfiguration.pull(database, from: try peer())
        (configuration.isContinuous, configuration.filter) = (true, .documents(["b"]))
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        for number in [1, 2] {
            await eventually("the document is pulled") { try database.document("b")?["n"]?.int == number }
            try remote.update("b") { $0["n"] = 2 }
        }
        await replicator.stop()
    }

    @Test func `a version that has merged an open branch closes it as settling does`() throws {
        let version = "18eb55accf3a0000@aYzoLxOvQo6yrcFVzgk6ZA"
        func insert(_ path: [String]) throws {
            let history = try #require(RevisionHistory(path[0], history: path.dropFirst().joined(separator: ",")))
            _ = try remote.insertReplicated([
                ReplicatedRevision(id: "a", history: history, isDeleted: false, body: .empty)
            ])
        }
        try insert(["2-bb", "1-aa"])
        try insert(["2-18eb55accf390000b2adc155ce093a64698ce82f13af428e", "1-aa"])
        let open =
            "18eb55accf390000@\(Base64.encode(try #require(Hexadecimal.decode("b2adc155ce093a64698ce82f13af428e"))).dropLast(2))"
        let message = BLIPMessage(
            properties: [
                "id": "a", "rev": version, "history": "\(open), 2bb00000000@Revision+Tree+Encoding", "noconflicts": "1",
            ],
            body: Array("{}".utf8))
        let pushed = try PushedRevision(message, in: remote, collection: 0, limit: 1 << 20)
        let documents = try pushed.all()
        #expect(documents.count == 2)
        #expect(
            documents[1].1.isDeleted && documents[1].1.body["$closed"]?.string == pushed.history.revision.description)
    }

    @Test func `revisions that are not on their way are asked for by the ids of their documents`() async throws {
        try Self.save("a", ["n": 1], in: remote)
        let revision = try #require(try remote.document("a")?.revision)
        let peer = try peer()
        let answers = try await peer.revisions(
            [
                RevisionRequest(id: "a", revision: revision),
                RevisionRequest(id: "a", revision: try #require(RevisionID("1-abc"))),
                RevisionRequest(id: "none", revision: revision),
            ], budget: 1 << 20)
        guard case .found(let found) = answers[0], case .missing = answers[1], case .missing = answers[2] else {
            Issue.record("\(answers)")
            return
        }
        #expect(found.revision == revision && found.body["n"] == 1)
        await peer.close()
    }

    @Test func `an absent server, an absent database and one without the protocol give different errors`()
        async throws
    {
        func code(_ address: String) async -> PeerError.Code? {
            do {
                _ = try await MobilePeer(address).connect()
                return nil
            } catch { return (error as? PeerError)?.code }
        }
        #expect(await code("ws://127.0.0.1:\(live.port)/db") == .unauthorized)
        #expect(await code("ws://127.0.0.1:1/db") == .unreachable)
        #expect(await code("ws://admin:admin@127.0.0.1:\(live.port)/none") == .notFound)
        do {
            _ = try await MobilePeer("ws://admin:wrong@127.0.0.1:\(live.port)/db").connect()
        } catch { #expect("\(error)".contains("refuses basic authentication as 'admin'")) }
        for address in ["http://127.0.0.1/db", "ws://127.0.0.1:99999/db"] {
            #expect { try MobilePeer(address) } throws: { ($0 as? PeerError)?.code == .badRequest }
        }
        #expect(throws: PeerError.self) { try MobilePeer("ws://127.0.0.1") }
    }
}
