import Settle
import SettleDatabase
import SettleTesting
import Testing

/// Documents that the target refuses.
@Suite(.timeLimit(.minutes(5)))
struct RefusalBehaviourTests {
    private func makePair() async throws -> (source: PeerPair.Side, target: PeerPair.Side) {
        let (source, target) = try await PeerPair.local[1].make()
        for number in 0..<30 {
            try source.database.put(DocumentID(validating: "d\(number)"), ["n": .number(JSONNumber(number))])
        }
        target.database.addValidation("even") { context in
            guard let number = context.newRevision["n"]?.int, number % 10 == 3 else { return }
            throw DocumentRejection(status: 401, message: "no threes")
        }
        return (source, target)
    }

    // SEMANTICS 114, 117
    @Test func `a pull lists a refused document, and continues past it`() async throws {
        let (source, target) = try await makePair()
        let result = try await replicate(source, to: target) { $0.direction = .pull }
        #expect(try target.database.documents().count == 27)
        #expect(result.counts.revisionsRefused == 3)
        expectSums(result.counts)
        let entry = try #require(result.ledger["d13"].first)
        #expect(entry.kind == .refused && entry.status == 401 && entry.attempts == 1)
        #expect(entry.reason.contains("no threes"))
        let again = try await replicate(source, to: target) { $0.direction = .pull }
        #expect(again.counts.changesRead == 0)
        #expect(again.ledger.count == 3)
    }

    @Test func `a ledger that could not be stored is stored by the next run`() async throws {
        let (source, target) = try await makePair()
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.direction = .pull
        let name = try await configuration.replicationID()
        let id = try DocumentID(validating: "_local/settle-ledger-\(name)")
        // No revision can follow this one.
        try target.database.put(LocalDocument(id: id, revisionNumber: .max, body: .empty))
        let replicator = OneWayReplicator(configuration)
        #expect(try await replicator.run().ledger.count == 3)
        try target.database.deleteLocalDocument(id)
        #expect(try await replicator.run().counts.changesRead == 0)
        let stored = try #require(try target.database.localDocument(id))
        #expect(stored.body["entries"]?.array?.count == 3)
    }

    // SEMANTICS 112
    @Test func `in a push a refused document holds the checkpoint, but not the flow`() async throws {
        let (source, target) = try await makePair()
        let push: (inout ReplicationConfiguration) -> Void = { $0.direction = .push }
        let result = try await replicate(source, to: target, push)
        #expect(try target.database.documents().count == 27)
        #expect(result.end.number == 3)
        let again = try await replicate(source, to: target, push)
        #expect(again.counts.changesRead == 27)
        #expect(again.counts.revisionsRefused == 3)
        #expect(again.ledger["d3"].first?.attempts == 2)
        for number in [3, 13, 23] {
            try source.database.put(DocumentID(validating: "d\(number)"), ["n": 0])
        }
        let mended = try await replicate(source, to: target, push)
        #expect(mended.counts.revisionsRefused == 0)
        #expect(mended.ledger.count == 0)
        let last = try await replicate(source, to: target, push)
        #expect(last.counts.changesRead == 0)
    }

    // SEMANTICS 3
    @Test func `where branches are refused, a conflict is an error of that document`() async throws {
        let (source, target) = try await PeerPair.local[1].make()
        try source.database.put("a", ["by": "source"])
        try source.database.put("b", ["by": "source"])
        try target.database.put("a", ["by": "target"])
        let configuration: (inout ReplicationConfiguration) -> Void = {
            $0.direction = .push
            $0.branching = .refused
        }
        let result = try await replicate(source, to: target, configuration)
        #expect(result.counts.revisionsWritten == 1)
        #expect(result.counts.revisionsRefused == 1)
        #expect(result.ledger["a"].first?.status == 409)
        #expect(try target.database.leaves(of: "a").count == 1)
        // After a pull and a settlement, the next push goes through.
        var pull = ReplicationConfiguration(source: target.peer, target: source.peer)
        pull.conflictPolicy = .remoteWins
        try await OneWayReplicator(pull).run()
        try source.database.put("a", ["by": "both"])
        let second = try await replicate(source, to: target, configuration)
        #expect(try target.database.document("a")?["by"] == "both")
        #expect(second.counts.revisionsWritten > 0)
    }

    @Test func `a document that fails is retried, then listed, and holds the checkpoint`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<10 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let flaky = ScriptedPeer(target.peer)
        flaky.tell { script in
            script.onStore = { $0.id == "d4" ? .failed(PeerError(.busy, "not now")) : nil }
        }
        var configuration = ReplicationConfiguration(source: source.peer, target: flaky)
        configuration.retry.firstDelay = .milliseconds(1)
        let result = try await OneWayReplicator(configuration).run()
        #expect(result.counts.revisionsFailed == 1)
        expectSums(result.counts)
        #expect(result.ledger["d4"].first?.kind == .failed)
        flaky.tell { $0.onStore = { _ in nil } }
        let again = try await OneWayReplicator(configuration).run()
        #expect(again.counts.revisionsWritten == 1)
        #expect(again.ledger.count == 0)
        try expectSame(source.database, target.database)
    }

    @Test func `a revision that the source no longer has is listed`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<10 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let losing = ScriptedPeer(source.peer)
        losing.tell { $0.onAnswer = { $0.id == "d4" ? .missing(reason: "purged") : $1 } }
        let result = try await OneWayReplicator(ReplicationConfiguration(source: losing, target: target.peer)).run()
        #expect(result.counts.revisionsGone == 1)
        expectSums(result.counts)
        #expect(result.ledger["d4"].first?.kind == .gone)
        #expect(result.end.number == 10)
    }

    @Test(arguments: PeerPair.local[1...])
    func `a damaged document at the source is listed, and the others are replicated`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        for name in ["a", "bad", "c"] {
            let file = try source.database.makeAttachment("f", content: [1, 2, 3])
            try source.database.save(
                Document(id: DocumentID(validating: name), attachments: [file]), onConflict: .fail)
        }
        try SQLiteConnection(path: #require(source.database.path) + "/database.sqlite").execute(
            "UPDATE documents SET attachments = '[[1]]' WHERE id = x'626164'")
        let result = try await replicate(source, to: target)
        #expect(try target.database.documents().map(\.id) == ["a", "c"])
        #expect(result.counts.revisionsFailed == 1)
        expectSums(result.counts)
        #expect(result.ledger["bad"].first?.reason.contains("damaged") == true)
    }

    @Test func `an attachment with impossible numbers fails alone, with its reason`() async throws {
        let (source, target) = try await PeerPair.local[1].make()
        try source.database.put("a", ["n": 1])
        let file = try source.database.makeAttachment("f", contentType: "text/plain", content: Array("hello".utf8))
        try source.database.save(Document(id: "bad", attachments: [file]), onConflict: .fail)
        try SQLiteConnection(path: #require(source.database.path) + "/database.sqlite").execute(
            // As a row of an older format, which has no checksum before its attachments.
            """
            UPDATE documents SET attachments = CAST(replace(CAST(substr(attachments, 10) AS TEXT), ',5,', ',6,') AS BLOB)
            WHERE id = x'626164'
            """)
        let result = try await replicate(source, to: target)
        #expect(try target.database.documents().map(\.id) == ["a"])
        #expect(result.counts.revisionsFailed == 1)
        expectSums(result.counts)
        let reason = result.ledger["bad"].first?.reason ?? ""
        #expect(reason.contains("\"f\"") && reason.contains("5") && reason.contains("6"), "\(reason)")
    }
}
