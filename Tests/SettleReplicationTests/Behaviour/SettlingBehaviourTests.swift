import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// A pull with a policy stores revisions and settles their conflicts in one transaction: no reader sees one without the
/// other.
@Suite(.timeLimit(.minutes(5))) struct SettlingBehaviourTests {
    private func pull(
        _ database: Database, from peer: any Peer, _ policy: ConflictPolicy
    ) async throws -> ReplicationResult {
        var configuration = ReplicationConfiguration.pull(database, from: peer)
        configuration.conflictPolicy = policy
        return try await OneWayReplicator(configuration).run()
    }

    // SEMANTICS 161
    @Test(arguments: PeerPair.all)
    func `the policy decides before any reader sees the pulled revision`(pair: PeerPair) async throws {
        let (here, there) = try await pair.make()
        try here.database.put("a", ["by": "both"])
        try await replicate(here, to: there)
        try here.database.put("a", ["by": "here"])
        for number in 0..<3 { try there.database.put("a", ["by": "there", "n": .number(JSONNumber(number))]) }
        let database = here.database
        let seen = Guarded<[JSONValue]>([])
        let policy = ConflictPolicy.custom("looks") { conflict in
            // It may also read and write other documents.
            let shown = try database.document("a")?["by"] ?? .null
            seen.withLock { $0.append(shown) }
            try database.put("asked", ["about": "a"])
            return .keep(conflict.local?.revision ?? conflict.tree.revisions[0])
        }
        let result = try await pull(database, from: there.peer, policy)
        #expect(seen.withLock(\.self) == ["here"])
        #expect(result.counts.conflictsSettled == 1)
        #expect(try database.document("a")?["by"] == "here")
        #expect(try database.conflictedDocumentIDs().isEmpty)
        #expect(try database.document("asked") != nil)
    }

    // SEMANTICS 161, 162
    @Test func `no reader sees an older value win, however often it reads`() async throws {
        var options = DatabaseOptions()
        options.attributeClocks = true
        let wall = Guarded<Int64>(1_423_137_600_000)
        options.now = { Date(milliseconds: wall.withLock(\.self)) }
        let (here, there) = (
            try TemporaryDatabase(.file, options: options), try TemporaryDatabase(.memory, options: options)
        )
        let ids = try (0..<100).map { try DocumentID(validating: "envelope\($0)") }
        for id in ids { try here.database.put(id, ["name": "Holidays", "budget": 1]) }
        _ = try await OneWayReplicator(.push(here.database, to: LocalPeer(there.database))).run()
        // There the name is older, and the document has more revisions.
        wall.withLock { $0 += 1000 }
        for id in ids {
            try there.database.put(id, ["name": "Holiday 2015", "budget": 1])
            try there.database.put(id, ["name": "Holiday 2015", "budget": 2])
        }
        wall.withLock { $0 += 1000 }
        for id in ids { try here.database.put(id, ["name": "Family Holidays", "budget": 1]) }
        let database = here.database
        let isDone = Guarded(false)
        async let seen = Self.names(of: ids, in: database, until: isDone)
        let result = try await pull(database, from: LocalPeer(there.database), .latestAttributeWins)
        isDone.withLock { $0 = true }
        #expect(try await seen == ["Family Holidays"])
        #expect(result.counts.conflictsSettled == 100)
        for id in ids { #expect(try database.document(id)?["budget"] == 2) }
        #expect(try database.conflictedDocumentIDs().isEmpty)
    }

    /// The names that a thread sees which reads again and again. A task that does so would take a thread from all other tests.
    private static func names(
        of ids: [DocumentID], in database: Database, until isDone: Guarded<Bool>
    ) async throws -> Set<JSONValue> {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let names = Result {
                    var names: Set<JSONValue> = []
                    var rounds = 0
                    while !isDone.withLock(\.self) || rounds == 0 {
                        for id in ids { names.insert(try database.document(id)?["name"] ?? .null) }
                        rounds += 1
                    }
                    return names
                }
                continuation.resume(with: names)
            }
        }
    }

    // SEMANTICS 35
    @Test func `an edit made while the policy decides makes it decide again, and is kept`() async throws {
        let (here, there) = try await PeerPair.local[1].make()
        try here.database.put("a", ["by": "both"])
        try await replicate(here, to: there)
        try here.database.put("a", ["by": "here"])
        try there.database.put("a", ["by": "there"])
        let database = here.database
        let asked = Guarded(0)
        let policy = ConflictPolicy.custom("late") { conflict in
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count == 1 { try database.put("a", ["by": "here, later"]) }
            return .merged(["by": conflict.local?["by"] ?? .null], attachments: [])
        }
        _ = try await pull(database, from: there.peer, policy)
        #expect(asked.withLock(\.self) == 2)
        #expect(try database.document("a")?["by"] == "here, later")
        #expect(try database.conflictedDocumentIDs().isEmpty)
    }

    @Test func `a base missing here is fetched before the pulled revision is stored`() async throws {
        let (here, there) = try await PeerPair.local[1].make()
        try there.database.put("a", ["title": "t", "text": "x"])
        try await replicate(there, to: here)
        try here.database.put("a", ["title": "here", "text": "x"])
        // This copy doesn't know that a peer has the first revision, so compaction drops its content.
        try there.database.put("a", ["title": "t", "text": "there"])
        try await here.database.compact()
        _ = try await pull(here.database, from: there.peer, .threeWayMerge())
        #expect(try here.database.document("a")?.json == ["title": "here", "text": "there"])
        #expect(try here.database.conflictedDocumentIDs().isEmpty)
    }

    @Test func `conflicts in a suspended database are found and settled when it is resumed`() async throws {
        let (here, there) = (try TemporaryDatabase(.file), try TemporaryDatabase(.memory))
        let (database, peer) = (here.database, LocalPeer(there.database))
        try database.put("a", ["by": "here"])
        try there.database.put("a", ["by": "there"])
        _ = try await pull(database, from: peer, .keepAll)
        var configuration = ReplicationConfiguration.pull(database, from: peer)
        configuration.conflictPolicy = .mostRevisions
        let (failures, isEnding) = (Guarded(0), Guarded(false))
        let made = ConflictSettler(configuration) {
            failures.withLock { $0 += 1 }
            return isEnding.withLock(\.self)
        }
        let settler = try #require(made)
        try database.suspend()
        async let search = settler.find(settler.sweep)
        await eventually("the search meets the suspended database") { failures.withLock(\.self) > 0 }
        try database.resume()
        guard case .swept(let found, _) = await search else {
            Issue.record("the search has failed")
            return
        }
        #expect(found == ["a"])
        failures.withLock { $0 = 0 }
        try database.suspend()
        async let settlement = settler.settle("a").get()
        await eventually("the settling meets the suspended database") { failures.withLock(\.self) > 0 }
        try database.resume()
        #expect(try await settlement?.outcome == .settled)
        // A run that is to end does not wait.
        isEnding.withLock { $0 = true }
        try database.suspend()
        let error = await #expect(throws: DatabaseError.self) { try await settler.settle("a").get() }
        #expect(error?.code == .suspended)
        try database.resume()
        withExtendedLifetime((here, there)) {}
    }
}
