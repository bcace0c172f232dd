import Settle
import SettleTesting
import Testing

@testable import SettleReplication

/// The statements of Couchbase Lite 1's guide about conflicts, directions and progress.
@Suite(.timeLimit(.minutes(5)))
struct GuideBehaviourTests {
    // SEMANTICS 91
    @Test func `a push is the pull of the other side, with the same checkpoint`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        for number in 0..<30 { try here.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let push = ReplicationConfiguration.push(here.database, to: there.peer)
        let pull = ReplicationConfiguration.pull(there.database, from: here.peer)
        #expect(try await push.replicationID() == pull.replicationID())
        let pushed = try await OneWayReplicator(push).run()
        #expect(pushed.counts.revisionsWritten == 30)
        let pulled = try await OneWayReplicator(pull).run()
        #expect(pulled.counts.changesRead == 0 && pulled.start == pushed.end)
        try here.database.put("d0", ["n": 2])
        #expect(try await OneWayReplicator(pull).run().counts.revisionsWritten == 1)
        #expect(try await OneWayReplicator(push).run().counts.changesRead == 0)
        try expectSame(here.database, there.database)
        // The opposite direction is another replication.
        let back = ReplicationConfiguration.push(there.database, to: here.peer)
        #expect(try await back.replicationID() != push.replicationID())
    }

    /// `d` with the same first revision on both sides, then edited apart; returns both edits, the winner last.
    private func editApart(_ here: Database, _ there: Database) throws -> [(revision: RevisionID, by: JSONValue)] {
        let edits: [(RevisionID, JSONValue)] = [
            (try here.put("d", ["by": "bar"]), "bar"), (try there.put("d", ["by": "baz"]), "baz"),
        ]
        return edits.sorted { $0.0 < $1.0 }.map { (revision: $0.0, by: $0.1) }
    }

    // SEMANTICS 140, 141, 142, 143, 144, K12, K20
    @Test(arguments: PeerPair.everywhere)
    func `concurrent edits are no error, one wins everywhere, and both are found and settled manually`(
        pair: PeerPair
    ) async throws {
        let (here, there) = try await pair.make()
        try here.database.put("d", ["n": 1])
        try await replicate(here, to: there)
        let edits = try editApart(here.database, there.database)
        let (loser, winner) = (edits[0], edits[1])
        let pushed = try await replicate(here, to: there)
        #expect(pushed.counts.revisionsWritten == 1 && pushed.ledger.count == 0)
        // An app that ignores the conflict sees one document, and continues.
        let seen = try #require(try there.database.document("d"))
        #expect(seen.revision == winner.revision && seen["by"] == winner.by)
        // An app that asks for the leaves sees both.
        let leaves = try there.database.leaves(of: "d")
        #expect(leaves.map(\.revision) == [winner.revision, loser.revision])
        #expect(try there.database.conflict(of: "d")?.leaves.count == 2)
        #expect(try there.database.conflictedDocumentIDs() == ["d"])
        // The merged content goes on the winner, and the other one is deleted.
        var merged = seen
        merged.json = ["by": "both"]
        let settled = try there.database.save(merged, onConflict: .fail)
        try there.database.delete(leaves[1], onConflict: .fail)
        #expect(settled.revision?.generation == winner.revision.generation + 1)
        #expect(try there.database.conflictedDocumentIDs().isEmpty)
        #expect(try there.database.leaves(of: "d").map(\.isDeleted) == [false, true])
        let pulled = try await replicate(there, to: here)
        #expect(pulled.counts.revisionsWritten == 2)
        #expect(try here.database.document("d")?.revision == settled.revision)
        #expect(try here.database.conflictedDocumentIDs().isEmpty)
        try expectSame(here.database, there.database)
    }

    // SEMANTICS 97
    @Test func `a filter selects documents, and another filter makes another replication`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        for number in 0..<10 { try here.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let some = try await replicate(here, to: there) { $0.filter = .documents(["d1", "d2"]) }
        #expect(some.counts.revisionsWritten == 2)
        let all = try await replicate(here, to: there)
        #expect(all.replicationID != some.replicationID)
        #expect(all.counts.revisionsWritten == 8 && all.counts.revisionsPresent == 2)
    }

    // SEMANTICS 108
    @Test(arguments: PeerPair.everywhere)
    func `progress includes bytes, because documents alone say little`(pair: PeerPair) async throws {
        let (here, there) = try await pair.make()
        var random = SeededRandom(seed: 4)
        let content = random.bytes(300_000)
        var document = Document(id: "picture", body: ["n": 1])
        document.attach(try here.database.makeAttachment("a", contentType: "image/png", content: content))
        try here.database.save(document, onConflict: .fail)
        try await here.send()
        let replicator = OneWayReplicator(ReplicationConfiguration(source: here.peer, target: there.peer))
        let result = try await replicator.run()
        #expect(result.counts.bytesWritten >= 300_000 && result.counts.bytesWritten < 301_000)
        #expect(replicator.status.bytesWritten == result.counts.bytesWritten)
        // Known revisions are not transferred again.
        #expect(try await replicator.run().counts.bytesWritten == 0)
    }

    // SEMANTICS 109
    @Test func `one progress bar adds up both directions, and is hidden when idle`() {
        func status(_ completed: Int, _ total: Int) -> ReplicationStatus {
            var status = ReplicationStatus()
            (status.completed, status.total) = (completed, total)
            return status
        }
        let half = ReplicationProgress([status(10, 30), status(5, 10)])
        #expect(half.completed == 15 && half.total == 40 && half.isUnderWay && half.fraction == 0.375)
        #expect(!ReplicationProgress([status(0, 0), status(0, 0)]).isUnderWay)
        #expect(ReplicationProgress([status(0, 0)]).fraction == nil)
        #expect(!ReplicationProgress([status(7, 7), status(0, 0)]).isUnderWay)
        #expect(ReplicationProgress([status(7, 7), status(0, 1)]).isUnderWay)
    }
}
