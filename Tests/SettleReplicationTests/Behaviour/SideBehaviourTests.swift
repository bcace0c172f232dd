import Settle
import SettleDatabase
import SettleReplication
import SettleTesting
import Testing

/// The local and the remote side of a conflict that a pull finds: which one stays, what is pushed then, and which one is read.
@Suite(.timeLimit(.minutes(5)))
struct SideBehaviourTests {
    private func pull(
        _ here: PeerPair.Side, from there: PeerPair.Side, _ policy: ConflictPolicy
    ) async throws -> ReplicationResult {
        var configuration = ReplicationConfiguration.pull(here.database, from: there.peer)
        configuration.conflictPolicy = policy
        try await there.send()
        return try await OneWayReplicator(configuration).run()
    }

    /// How many revisions a push has to write.
    private func pushed(_ here: PeerPair.Side, to there: PeerPair.Side) async throws -> Int {
        let result = try await OneWayReplicator(.push(here.database, to: there.peer)).run()
        try await there.bring()
        return result.counts.revisionsWritten
    }

    /// Nothing is left to do, and both have the same.
    private func expectQuiet(_ here: PeerPair.Side, _ there: PeerPair.Side, _ policy: ConflictPolicy) async throws {
        #expect(try await pull(here, from: there, policy).counts.revisionsWritten == 0)
        #expect(try await pushed(here, to: there) == 0)
        try expectSame(here.database, there.database)
        #expect(try there.database.conflictedDocumentIDs().isEmpty)
    }

    /// One document on both sides, edited on each so often.
    private func edited(_ pair: PeerPair, here: Int, there: Int) async throws -> (PeerPair.Side, PeerPair.Side) {
        let (device, server) = try await pair.make()
        try device.database.put("a", ["by": "both"])
        try await replicate(device, to: server)
        for number in 0..<here { try device.database.put("a", ["by": "here", "n": .number(JSONNumber(number))]) }
        for number in 0..<there { try server.database.put("a", ["by": "there", "n": .number(JSONNumber(number))]) }
        return (device, server)
    }

    // SEMANTICS 19
    @Test(arguments: PeerPair.everywhere)
    func `where the remote winner stays, its revision stays, and only the closing of the local one is pushed`(
        pair: PeerPair
    ) async throws {
        let (here, there) = try await edited(pair, here: 1, there: 2)
        let remote = try #require(try there.database.document("a"))
        #expect(try await pull(here, from: there, .remoteWins).counts.conflictsSettled == 1)
        #expect(try here.database.document("a")?.revision == remote.revision)
        #expect(try await pushed(here, to: there) == 1)
        #expect(try there.database.document("a")?.revision == remote.revision)
        try await expectQuiet(here, there, .remoteWins)
    }

    // SEMANTICS 19
    @Test(arguments: PeerPair.everywhere)
    func `where the remote side stays against the winner, its content is pushed once more, with the closing`(
        pair: PeerPair
    ) async throws {
        let (here, there) = try await edited(pair, here: 2, there: 1)
        let (local, remote) = (
            try #require(try here.database.document("a")), try #require(try there.database.document("a"))
        )
        #expect(try await pull(here, from: there, .remoteWins).counts.conflictsSettled == 1)
        let settled = try #require(try here.database.document("a"))
        #expect(settled.json == remote.json && settled.revision != remote.revision)
        let tree = try #require(try here.database.tree(of: "a"))
        #expect(settled.revision.flatMap { tree.parent(of: $0) } == local.revision)
        #expect(try await pushed(here, to: there) == 2)
        #expect(try there.database.document("a")?.revision == settled.revision)
        try await expectQuiet(here, there, .remoteWins)
    }

    // SEMANTICS 17
    @Test(arguments: PeerPair.everywhere)
    func `a deletion on one side is kept as it is, and the closing of the live leaf is pushed`(
        pair: PeerPair
    ) async throws {
        let decide = ConflictPolicy.couchbaseLite { _, _, _ in nil }
        // Deleted there, and edited here.
        var (here, there) = try await edited(pair, here: 3, there: 0)
        try there.database.delete("a")
        let remote = try #require(try there.database.leaves(of: "a").first?.revision)
        #expect(try await pull(here, from: there, decide).counts.conflictsSettled == 1)
        #expect(try here.database.document("a") == nil)
        let leaves = try here.database.leaves(of: "a")
        #expect(leaves.count == 2 && leaves.contains { $0.revision == remote })
        #expect(leaves.first { $0.revision != remote }?["$closed"]?.string == remote.description)
        #expect(try await pushed(here, to: there) == 1)
        try await expectQuiet(here, there, decide)
        // Deleted here, and edited there: the deletion has to be pushed, too.
        (here, there) = try await edited(pair, here: 0, there: 3)
        try here.database.delete("a")
        let local = try #require(try here.database.leaves(of: "a").first?.revision)
        #expect(try await pull(here, from: there, decide).counts.conflictsSettled == 1)
        #expect(try here.database.document("a") == nil)
        #expect(try here.database.leaves(of: "a").contains { $0.revision == local })
        #expect(try await pushed(here, to: there) == 2)
        try await expectQuiet(here, there, decide)
    }

    // SEMANTICS 28
    @Test(arguments: [DatabaseOptions.Reads.winner, .local])
    func `while a conflict was skipped, leaves stay, and reads show the winner or the local side`(
        reads: DatabaseOptions.Reads
    ) async throws {
        struct Trouble: Error {}
        var options = DatabaseOptions()
        options.reads = reads
        options.warn = { _ in }
        let temporary = try TemporaryDatabase(.file, options: options)
        let there = try Database.inMemory()
        let ids = try (0..<20).map { try DocumentID(validating: "d\($0)") }
        let database = temporary.database
        for id in ids { try database.put(id, ["by": "both", "id": .string(id.string)]) }
        try await Replicator(database, with: LocalPeer(there)).run()
        var edits: [DocumentID: Set<RevisionID>] = [:]
        for id in ids {
            let mine = try database.put(id, ["by": "here", "id": .string(id.string)])
            let theirs = try there.put(id, ["by": "there", "id": .string(id.string)])
            edits[id] = [mine, theirs]
        }
        let replicator = Replicator(database, with: LocalPeer(there), direction: .pull) { configuration in
            configuration.conflictPolicy = .couchbaseLite { _, _, _ in throw Trouble() }
        }
        #expect(try await replicator.run().map(\.counts.conflictsFailed) == [20])
        var read: [String?] = []
        for id in ids {
            let leaves = try database.leaves(of: id)
            #expect(try Set(leaves.map { try #require($0.revision) }) == edits[id])
            let document = try #require(try database.document(id))
            if reads == .winner { #expect(document.revision == leaves.first?.revision) }
            read.append(document["by"]?.string)
        }
        // Half of the winners are of each side, as chance has it.
        #expect(Set(read) == (reads == .local ? ["here"] : ["here", "there"]))
        #expect(try database.conflictedDocumentIDs().count == 20)
        withExtendedLifetime(temporary) {}
    }
}
