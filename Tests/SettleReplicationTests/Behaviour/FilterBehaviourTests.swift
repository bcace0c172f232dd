import Settle
import SettleDatabase
import SettleTesting
import Testing

@testable import SettleReplication

/// Filtered replications.
@Suite(.timeLimit(.minutes(5)))
struct FilterBehaviourTests {
    private func fill(_ database: Database) throws {
        for number in 0..<40 {
            try database.put(
                DocumentID(validating: "d\(number)"),
                ["owner": number.isMultiple(of: 2) ? "ada" : "bob", "n": .number(JSONNumber(number))])
        }
    }

    @Test(arguments: PeerPair.everywhere)
    func `documents are selected by id`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        try fill(source.database)
        let result = try await replicate(source, to: target) { $0.filter = .documents(["d3", "d5", "none"]) }
        #expect(try target.database.documents().map(\.id) == ["d3", "d5"])
        #expect(result.counts.revisionsWritten == 2)
    }

    // SEMANTICS 128, 129
    @Test(arguments: PeerPair.everywhere)
    func `documents are selected by a selector, and a deletion only if it keeps the members it reads`(
        pair: PeerPair
    ) async throws {
        let (source, target) = try await pair.make()
        try fill(source.database)
        let selector = try MangoSelector(["owner": "ada"])
        let result = try await replicate(source, to: target) { $0.filter = .selector(selector) }
        #expect(try target.database.documents().count == 20)
        #expect(result.counts.revisionsChecked == 20)
        // SEMANTICS 131: a plain deletion has lost its members and does not pass; one that keeps them does.
        try source.database.delete("d0")
        try source.database.delete("d2", keeping: ["owner"])
        // SEMANTICS 132: one that stops matching stays at the target as it was.
        try source.database.put("d4", ["owner": "bob"])
        try await replicate(source, to: target) { $0.filter = .selector(selector) }
        #expect(try target.database.document("d0") != nil)
        #expect(try target.database.document("d2") == nil)
        #expect(try target.database.document("d4")?["owner"] == "ada")
    }

    // SEMANTICS 132
    @Test(arguments: PeerPair.fromLocal)
    func `a document leaving the filter is reported, and listed until it passes again`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        let (here, there) = (source.database, target.database)
        try fill(here)
        let selector = try MangoSelector(["owner": "ada"])
        let change = { (configuration: inout ReplicationConfiguration) in configuration.filter = .selector(selector) }
        try await replicate(source, to: target, change)
        let left = try here.put("d4", ["owner": "bob"])
        try here.delete("d0")
        try here.delete("d2", keeping: ["owner"])
        // The target never had either of these.
        try here.put("d1", ["owner": "eve"])
        try here.put("new", ["owner": "bob"])
        try here.put("new", ["owner": "eve"])
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        change(&configuration)
        let replicator = OneWayReplicator(configuration)
        let events = replicator.events
        let result = try await replicator.run()
        #expect(result.counts.documentsLeft == 2 && result.counts.documentsFiltered == 4)
        #expect(result.counts.changesRead == 1 && result.counts.revisionsWritten == 1)
        expectSums(result.counts)
        #expect(Set(result.ledger.entries.map(\.documentID)) == ["d0", "d4"])
        #expect(result.ledger.entries.allSatisfy { $0.kind == .left })
        #expect(result.ledger["d4"].first?.revision == left)
        var told: [DocumentID: Bool] = [:]
        for await event in events {
            guard case .document(let document) = event else { continue }
            if case .left = document.outcome { told[document.documentID] = document.isDeleted }
            if told.count == 2 { break }
        }
        #expect(told == ["d0": true, "d4": false])
        #expect(try there.document("d4")?["owner"] == "ada" && there.document("d0") != nil)
        // The ledger survives a restart, and drops the document when it passes again.
        #expect(try await replicate(source, to: target, change).ledger.count == 2)
        try here.put("d4", ["owner": "ada", "n": 2])
        let again = try await replicate(source, to: target, change)
        #expect(again.ledger.entries.map(\.documentID) == ["d0"])
        #expect(try there.document("d4")?["n"] == 2)
    }

    // SEMANTICS 132, 133
    @Test func `a channel that a document was removed from is reported, and its empty revision is not replicated`()
        async throws
    {
        let server = try OddServer { request in
            if request.path.hasSuffix("_changes") {
                return .init(
                    200,
                    #"{"results":[{"seq":7,"id":"d","removed":["c"],"changes":[{"rev":"2-b"}]}],"last_seq":7,"pending":0}"#
                )
            }
            if request.path.contains("_local") {
                return request.method == "GET"
                    ? .init(404, #"{"error":"not_found","reason":"missing"}"#) : .init(201, #"{"rev":"0-1"}"#)
            }
            return .init(200, #"{"update_seq":7,"couchdb":"Welcome"}"#)
        }
        let notes = try Database.inMemory()
        defer { notes.close() }
        try notes.insertReplicated([
            ReplicatedRevision(
                id: "d", history: RevisionHistory(try #require(RevisionID("1-a"))), body: try DocumentBody(["n": 1]))
        ])
        var configuration = ReplicationConfiguration.pull(notes, from: try server.peer())
        configuration.filter = .channels(["c"])
        let result = try await OneWayReplicator(configuration).run()
        #expect(result.ledger["d"].map(\.kind) == [.left] && result.counts.documentsLeft == 1)
        #expect(server.count("/db/_bulk_get") == 0)
        #expect(try notes.document("d")?.revision == RevisionID("1-a"))
    }

    // SEMANTICS 129
    @Test func `a registered function is a filter, with parameters`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try fill(source.database)
        source.database.addReplicationFilter("owned") { document, parameters in
            document["owner"] == parameters["by"] && document["n"]?.int ?? 0 >= parameters["from"]?.int ?? 0
        }
        func run(_ parameters: [String: JSONValue]) async throws -> ReplicationResult {
            try await replicate(source, to: target) { $0.filter = .named("owned", parameters: parameters) }
        }
        let result = try await run(["by": "bob", "from": 20])
        #expect(result.counts.revisionsWritten == 10)
        #expect(result.counts.documentsFiltered == 30)
        #expect(try await run(["by": "bob", "from": 10]).counts.revisionsWritten == 5)
    }

    @Test func `a registered function of another version filters all documents again`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try fill(source.database)
        func run() async throws -> ReplicationResult {
            try await replicate(source, to: target) { $0.filter = .named("owned") }
        }
        source.database.addReplicationFilter("owned") { document, _ in document["owner"] == "ada" }
        #expect(try await run().counts.revisionsWritten == 20)
        source.database.addReplicationFilter("owned") { document, _ in document["owner"] == "bob" }
        #expect(try await run().counts.revisionsChecked == 0)
        source.database.addReplicationFilter("owned", version: 2) { document, _ in document["owner"] == "bob" }
        #expect(try await run().counts.revisionsWritten == 20)
    }

    // SEMANTICS 130
    @Test func `an unregistered filter is an error at the start, and nothing is pushed`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try fill(source.database)
        for filter in [ReplicationFilter.named("none"), .channels(["c"])] {
            var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
            configuration.direction = .push
            configuration.filter = filter
            let replicator = OneWayReplicator(configuration)
            await #expect(throws: PeerError.self) { try await replicator.run() }
            #expect(replicator.status.mode == .stopped)
            #expect(replicator.status.error != nil)  // SEMANTICS 110
        }
        #expect(try target.database.documents().isEmpty)
    }

    @Test(arguments: PeerPair.everywhere)
    func `a selector with full-text search is refused before anything is written`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        try fill(source.database)
        let selector = try MangoSelector(["$and": [["owner": "ada"], ["$text": "old"]]])
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.filter = .selector(selector)
        let replicator = OneWayReplicator(configuration)
        let error = await #expect(throws: PeerError.self) { try await replicator.run() }
        #expect(
            error?.code == .badRequest && error?.message.contains("\"old\" by $text") == true,
            "\(error.debugDescription)")
        #expect(replicator.status.mode == .stopped && replicator.status.error?.code == .badRequest)
        #expect(try target.database.documents().isEmpty)
    }
}
