import Foundation
import Settle
import SettleDatabase
import SettlePlatform
import SettleReplication
import SettleTesting
import Testing

/// How a replication uses its policy: when it is called, how often, and for what it is not.
@Suite(.timeLimit(.minutes(5)))
struct PolicyBehaviourTests {
    /// Counts the calls of a policy, by document.
    private final class Calls: Sendable {
        private let counts = Guarded<[DocumentID: Int]>([:])

        func note(_ id: DocumentID) { counts.withLock { $0[id, default: 0] += 1 } }

        subscript(id: DocumentID) -> Int { counts.withLock { $0[id] ?? 0 } }

        var all: Int { counts.withLock { $0.values.reduce(0, +) } }
    }

    private struct Trouble: Error {}

    private func configuration(
        _ here: PeerPair.Side, _ there: PeerPair.Side, isContinuous: Bool = true, _ policy: ConflictPolicy
    ) -> ReplicationConfiguration {
        var configuration = ReplicationConfiguration.pull(here.database, from: there.peer)
        configuration.isContinuous = isContinuous
        configuration.conflictPolicy = policy
        return configuration
    }

    /// The events of documents of one run.
    private func events(of configuration: ReplicationConfiguration) async throws -> [DocumentReplication] {
        // Its events end when it is released.
        var replicator: OneWayReplicator? = OneWayReplicator(configuration)
        let events = try #require(replicator?.events)
        let result = try #require(try await replicator?.run())
        #expect(replicator?.status.error == nil && result.counts.conflictsFailed <= 1)
        replicator = nil
        return await events.reduce(into: []) { found, event in
            if case .document(let document) = event { found.append(document) }
        }
    }

    // SEMANTICS 13
    @Test(arguments: ["localWins", "remoteWins", "custom"])
    func `a policy of a running replicator is not used for saves`(name: String) async throws {
        let (here, there) = (try Database.inMemory(), try Database.inMemory())
        let calls = Calls()
        let custom = ConflictPolicy.custom("custom") { conflict in
            calls.note(conflict.documentID)
            return .document(conflict.winner)
        }
        let replicator = Replicator(here, with: LocalPeer(there)) { configuration in
            configuration.isContinuous = true
            configuration.conflictPolicy = ["localWins": .localWins, "remoteWins": .remoteWins][name] ?? custom
        }
        replicator.start()
        for await status in replicator.statuses where status.parts.allSatisfy({ $0.mode == .idle }) { break }
        for conflict: SaveConflict in [.fail, .merge { _, _ in false }] {
            try here.put("a", ["n": 1])
            var stale = try #require(try here.document("a"))
            let current = try here.put("a", ["n": 2])
            stale["n"] = 3
            let document = stale
            let error = #expect(throws: DatabaseError.self) { try here.save(document, onConflict: conflict) }
            #expect(error?.code == .conflict)
            #expect(try here.document("a")?.revision == current)
            #expect(try here.leaves(of: "a").count == 1)
        }
        await replicator.stop()
        #expect(calls.all == 0)
    }

    // SEMANTICS 22, 30, 33
    @Test(arguments: PeerPair.all.prefix(2))
    func `a document of another database gives one event with the error, and the conflict stays`(
        pair: PeerPair
    ) async throws {
        let (here, there) = try await pair.make()
        let other = try Database.inMemory()
        let foreign = try other.save(Document(id: "a", body: ["by": "another database"]))
        for id: DocumentID in ["a", "b"] {
            try here.database.put(id, ["by": "here"])
            try there.database.put(id, ["by": "there"])
        }
        let before = try here.database.document("a")
        let policy = ConflictPolicy.custom("foreign") { conflict in
            conflict.documentID == "a" ? .document(foreign) : .document(conflict.winner)
        }
        let told = try await events(of: configuration(here, there, isContinuous: false, policy))
        #expect(told.map(\.documentID).sorted() == ["a", "b"])
        for document in told {
            switch (document.documentID, document.outcome) {
            case ("a", .unsettled(let error)): #expect(error.code == .foreignDocument)
            case ("b", .settled): break
            default: Issue.record("\(document)")
            }
        }
        #expect(try here.database.conflictedDocumentIDs() == ["a"])
        #expect(try Set(here.database.leaves(of: "a").map { $0["by"] }) == ["here", "there"])
        #expect(before?["by"] == "here")
        other.close()
    }

    // SEMANTICS 31
    @Test func `a failed conflict of a continuous replication is not retried before the next start`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        let calls = Calls()
        try here.database.put("bad", ["by": "here"])
        try there.database.put("bad", ["by": "there"])
        let replicator = OneWayReplicator(
            configuration(
                here, there,
                .custom("failing") { conflict in
                    calls.note(conflict.documentID)
                    if conflict.documentID == "bad" { throw Trouble() }
                    return .document(conflict.winner)
                }))
        replicator.start()
        await replicator.waits { $0.mode == .idle && $0.counts.conflictsFailed == 1 }
        for number in 0..<5 {
            let id = try DocumentID(validating: "d\(number)")
            try here.database.put(id, ["by": "here"])
            try there.database.put(id, ["by": "there"])
            await replicator.waits { $0.mode == .idle && $0.counts.conflictsSettled == number + 1 }
        }
        #expect(calls["bad"] == 1 && calls.all == 6)
        await replicator.stop()
        #expect(calls["bad"] == 1)
        replicator.start()
        await replicator.waits { $0.mode == .idle && $0.counts.conflictsFailed == 1 }
        #expect(calls["bad"] == 2 && calls.all == 7)
        await replicator.stop()
        #expect(try here.database.conflictedDocumentIDs() == ["bad"])
    }

    // SEMANTICS 45
    @Test func `a policy that is set during a run is used from the next start on`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        let (first, second) = (Calls(), Calls())
        func policy(_ name: String, _ calls: Calls) -> ConflictPolicy {
            .custom(name) { conflict in
                calls.note(conflict.documentID)
                return .document(conflict.winner)
            }
        }
        let replicator = OneWayReplicator(configuration(here, there, policy("first", first)))
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        replicator.configuration.conflictPolicy = policy("second", second)
        try here.database.put("a", ["by": "here"])
        try there.database.put("a", ["by": "there"])
        await replicator.waits { $0.mode == .idle && $0.counts.conflictsSettled == 1 }
        #expect(first["a"] == 1 && second.all == 0)
        await replicator.stop()
        replicator.start()
        try here.database.put("b", ["by": "here"])
        try there.database.put("b", ["by": "there"])
        await replicator.waits { $0.mode == .idle && $0.counts.conflictsSettled == 1 }
        #expect(first.all == 1 && second["b"] == 1)
        await replicator.stop()
    }

    // SEMANTICS 42
    @Test func `two replicators with different resolvers of one form are warned about, one with both parts is not`()
        throws
    {
        let warnings = Guarded<[String]>([])
        var options = DatabaseOptions()
        options.warn = { warning in warnings.withLock { $0.append(warning) } }
        let (here, there) = (try Database.inMemory(options: options), try Database.inMemory())
        func replicator(_ policy: ConflictPolicy) -> Replicator {
            Replicator(here, with: LocalPeer(there)) { $0.conflictPolicy = policy }
        }
        let local = replicator(.couchbaseLite { _, local, _ in local })
        #expect(warnings.withLock(\.self) == [])
        let remote = replicator(.couchbaseLite { _, _, remote in remote })
        #expect(warnings.withLock(\.count) == 1)
        let message = warnings.withLock { $0.first } ?? ""
        #expect(message.components(separatedBy: "PolicyBehaviourTests.swift:").count == 3, "\(message)")
        withExtendedLifetime((local, remote)) {}
    }

    /// A place where threads wait for each other, a number at a time.
    ///
    /// Unchecked: the condition guards all of its state.
    private final class Meeting: @unchecked Sendable {
        private let condition = NSCondition()
        private let size: Int
        private var arrived = 0
        private var inside = 0
        /// Whether somebody waited in vain, so that nobody waits again.
        private var isMissed = false
        private(set) var most = 0

        init(of size: Int) { self.size = size }

        /// Waits until the others of the same meeting are here; false if they did not come.
        func meet() -> Bool {
            condition.lock()
            defer { condition.unlock() }
            arrived += 1
            inside += 1
            most = max(most, inside)
            condition.broadcast()
            let wanted = (arrived + size - 1) / size * size
            let limit = Date(timeIntervalSinceNow: isMissed ? 0 : 60)
            while arrived < wanted, condition.wait(until: limit) {}
            if arrived < wanted { isMissed = true }
            inside -= 1
            return arrived >= wanted
        }
    }

    // SEMANTICS 38
    @Test func `synchronous resolvers run several at a time, hold no lock, and their conflicts are pending`()
        async throws
    {
        let (here, there) = try await PeerPair.local[1].make()
        for number in 0..<6 {
            let id = try DocumentID(validating: "d\(number)")
            try here.database.put(id, ["by": "here"])
            try there.database.put(id, ["by": "there"])
        }
        let meeting = Meeting(of: 3)
        let (database, pending, misses) = (here.database, Guarded<Set<Int>>([]), Guarded(0))
        let shown = Guarded<OneWayReplicator?>(nil)
        var configuration = configuration(
            here, there,
            .custom("meets") { conflict in
                pending.withLock { _ = $0.insert(shown.withLock { $0?.status.pendingConflicts ?? 0 }) }
                let hasMet = meeting.meet()
                if !hasMet { misses.withLock { $0 += 1 } }
                try database.put(DocumentID(validating: "note \(conflict.documentID)"), ["n": 1])
                return .document(conflict.winner)
            })
        configuration.conflictsAtOnce = 3
        let replicator = OneWayReplicator(configuration)
        shown.withLock { $0 = replicator }
        replicator.start()
        let idle = await replicator.waits { $0.mode == .idle && $0.counts.conflictsSettled == 6 }
        #expect(misses.withLock(\.self) == 0 && meeting.most == 3)
        #expect(pending.withLock(\.self) == [6])
        #expect(idle.pendingConflicts == 0)
        #expect(try database.conflictedDocumentIDs().isEmpty && database.document("note d5") != nil)
        await replicator.stop()
        shown.withLock { $0 = nil }
    }
}
