import Dispatch
import Settle
import SettleDatabase
import SettlePlatform
import SettleReplication
import SettleTesting
import Testing

/// Conflicts in a pull.
@Suite(.timeLimit(.minutes(5)))
struct ConflictBehaviourTests {
    private func pull(
        _ database: PeerPair.Side, from hub: PeerPair.Side, _ policy: ConflictPolicy
    ) async throws -> ReplicationResult {
        var configuration = ReplicationConfiguration.pull(database.database, from: hub.peer)
        configuration.conflictPolicy = policy
        try await hub.send()
        return try await OneWayReplicator(configuration).run()
    }

    private func push(_ database: PeerPair.Side, to hub: PeerPair.Side) async throws -> ReplicationResult {
        let result = try await OneWayReplicator(.push(database.database, to: hub.peer)).run()
        try await hub.bring()
        return result
    }

    // SEMANTICS 1, 2, 3, 4: Molly and Naomi.
    @Test(arguments: PeerPair.everywhere)
    func `both sides of a conflict end with the same content`(pair: PeerPair) async throws {
        let (molly, naomi) = try await pair.make()
        let policy = ConflictPolicy.threeWayMerge()
        try molly.database.put("note", ["title": "t", "text": "x"])
        try molly.database.put("other", ["n": 1])
        try await replicate(molly, to: naomi)
        try molly.database.put("note", ["title": "Molly's", "text": "x"])
        try naomi.database.put("note", ["title": "t", "text": "Naomi's"])
        try naomi.database.put("other", ["n": 2])
        let before = try molly.database.conflictedDocumentIDs()
        #expect(before.isEmpty)
        let there = try await pull(molly, from: naomi, policy)
        #expect(there.counts.conflictsSettled == 1)
        let back = try await pull(naomi, from: molly, policy)
        #expect(back.counts.conflictsSettled <= 1)
        _ = try await pull(molly, from: naomi, policy)
        try expectSame(molly.database, naomi.database)
        #expect(try molly.database.document("note")?.json == ["title": "Molly's", "text": "Naomi's"])
        #expect(try naomi.database.conflictedDocumentIDs().isEmpty)
    }

    // SEMANTICS 5
    @Test(arguments: PeerPair.everywhere)
    func `a fast-forward and a known revision are not conflicts`(pair: PeerPair) async throws {
        let (here, there) = try await pair.make()
        let asked = Guarded(0)
        let policy = ConflictPolicy.custom("count") { _ in
            asked.withLock { $0 += 1 }
            return .leaveConflicted
        }
        try there.database.put("a", ["n": 1])
        _ = try await pull(here, from: there, policy)
        try there.database.put("a", ["n": 2])
        _ = try await pull(here, from: there, policy)
        try here.database.put("a", ["n": 3])
        _ = try await pull(here, from: there, policy)
        #expect(asked.withLock(\.self) == 0)
        #expect(try here.database.document("a")?["n"] == 3)
    }

    // SEMANTICS 43, 60, K4
    @Test(arguments: PeerPair.everywhere)
    func `unless a policy is set, every leaf is kept`(pair: PeerPair) async throws {
        let (here, there) = try await pair.make()
        try here.database.put("a", ["by": "here"])
        try there.database.put("a", ["by": "there"])
        try await replicate(there, to: here)
        #expect(try here.database.conflictedDocumentIDs() == ["a"])
        #expect(try here.database.leaves(of: "a").count == 2)
    }

    // SEMANTICS 7, K2: the source shows the document as deleted, whatever generations say.
    @Test(arguments: PeerPair.everywhere)
    func `a deletion wins if the policy says so`(pair: PeerPair) async throws {
        let (here, there) = try await pair.make()
        try here.database.put("a", ["n": 1])
        try await replicate(here, to: there)
        for number in 2..<5 { try here.database.put("a", ["n": .number(JSONNumber(number))]) }
        try there.database.delete("a")
        _ = try await pull(here, from: there, .deletesWin)
        #expect(try here.database.document("a") == nil)
        _ = try await push(here, to: there)
        try expectSame(here.database, there.database)
    }

    // SEMANTICS 27-32
    @Test func `a resolver that throws leaves its conflict, and no other, for the next start`() async throws {
        let (here, there) = try await PeerPair.local[1].make()
        for number in 0..<6 {
            let id = try DocumentID(validating: "d\(number)")
            try here.database.put(id, ["by": "here"])
            try there.database.put(id, ["by": "there"])
        }
        struct Trouble: Error {}
        let failing = ConflictPolicy.custom("failing") { conflict in
            if conflict.documentID == "d3" { throw Trouble() }
            return .keep(conflict.winner.revision ?? conflict.tree.revisions[0])
        }
        var configuration = ReplicationConfiguration.pull(here.database, from: there.peer)
        configuration.conflictPolicy = failing
        // Its events end when it is released.
        var replicator: OneWayReplicator? = OneWayReplicator(configuration)
        let events = try #require(replicator?.events)
        let result = try #require(try await replicator?.run())
        #expect(result.counts.conflictsSettled == 5)
        #expect(result.counts.conflictsFailed == 1)
        #expect(result.ledger["d3"].first?.kind == .conflicted)
        #expect(try #require(replicator).status.error == nil)
        replicator = nil
        // SEMANTICS 33: one event for each document, and after its conflict.
        var told: [DocumentID: Int] = [:]
        for await event in events {
            guard case .document(let document) = event else { continue }
            told[document.documentID, default: 0] += 1
            if document.documentID == "d3" {
                guard case .unsettled = document.outcome else {
                    Issue.record("\(document.outcome)")
                    continue
                }
            } else {
                guard case .settled = document.outcome else {
                    Issue.record("\(document.outcome)")
                    continue
                }
            }
        }
        #expect(told.count == 6 && told.values.allSatisfy { $0 == 1 })
        #expect(try here.database.conflictedDocumentIDs() == ["d3"])
        configuration.conflictPolicy = .mostRevisions
        let again = try await OneWayReplicator(configuration).run()
        #expect(again.counts.changesRead == 0)
        #expect(again.counts.conflictsSettled == 1)
        #expect(again.ledger.count == 0)
        #expect(try here.database.conflictedDocumentIDs().isEmpty)
    }

    // SEMANTICS 39, 40
    @Test func `neither idle nor stopped is reported while a conflict is being settled`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        try here.database.put("a", ["by": "here"])
        try there.database.put("a", ["by": "there"])
        let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        var configuration = ReplicationConfiguration.pull(here.database, from: there.peer)
        configuration.isContinuous = true
        let order = Guarded<[String]>([])
        configuration.conflictPolicy = .asking("person") { conflict in
            isAsked.yield()
            for await _ in answers { break }
            order.withLock { $0.append("answered") }
            return .keep(conflict.winner.revision ?? conflict.tree.revisions[0])
        }
        let replicator = OneWayReplicator(configuration)
        // Its status whenever it rests after it was active.
        let (statuses, wasActive) = (replicator.statuses, Guarded(false))
        let resting = Task {
            var seen: [ReplicationStatus] = []
            for await status in statuses {
                if status.mode == .active { wasActive.withLock { $0 = true } }
                guard wasActive.withLock(\.self), status.mode != .active else { continue }
                seen.append(status)
                if status.mode == .stopped { break }
            }
            return seen
        }
        replicator.start()
        for await _ in asked { break }
        await eventually("the activity was seen") { wasActive.withLock(\.self) }
        let database = here.database
        // The answer comes only after a stop that does not wait would have ended, unless the machine is busy.
        let before = Guarded<ReplicationStatus.Mode?>(nil)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) {
            before.withLock { $0 = replicator.status.mode }
            answer.yield()
        }
        await replicator.stop()
        order.withLock { $0.append("stopped") }
        #expect(before.withLock(\.self) == .active)
        #expect(order.withLock(\.self) == ["answered", "stopped"])
        #expect(try database.conflictedDocumentIDs().isEmpty)
        let seen = await resting.value
        #expect(seen.last?.mode == .stopped && seen.allSatisfy { $0.counts.conflictsSettled == 1 })
    }

    // SEMANTICS 40
    @Test func `a replication is not idle before the last of several conflicts is settled`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        for id: DocumentID in ["a", "b", "c"] {
            try here.database.put(id, ["by": "here"])
            try there.database.put(id, ["by": "there"])
        }
        let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        var configuration = ReplicationConfiguration.pull(here.database, from: there.peer)
        configuration.isContinuous = true
        configuration.conflictsAtOnce = 1
        configuration.conflictPolicy = .asking("person") { conflict in
            isAsked.yield()
            for await _ in answers { break }
            return .keep(conflict.winner.revision ?? conflict.tree.revisions[0])
        }
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        var questions = asked.makeAsyncIterator()
        for settled in 0..<3 {
            _ = await questions.next()
            await replicator.waits { $0.counts.conflictsSettled == settled && $0.pendingConflicts == 3 - settled }
            #expect(replicator.status.mode == .active)
            answer.yield()
        }
        await replicator.waits { $0.mode == .idle }
        #expect(replicator.status.counts.conflictsSettled == 3)
        #expect(try here.database.conflictedDocumentIDs().isEmpty)
        await replicator.stop()
    }

    // SEMANTICS 41
    @Test func `suspending leaves pending conflicts, and the next start settles them`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        try here.database.put("a", ["by": "here"])
        try there.database.put("a", ["by": "there"])
        let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
        var configuration = ReplicationConfiguration.pull(here.database, from: there.peer)
        configuration.isContinuous = true
        configuration.conflictPolicy = .asking("person") { _ in
            isAsked.yield()
            try await waitForCancellation()
            return .leaveConflicted
        }
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        for await _ in asked { break }
        await replicator.suspend()
        #expect(replicator.status.mode == .stopped)
        #expect(try here.database.conflictedDocumentIDs() == ["a"])
        // SEMANTICS 45: what is set now counts from the next start on.
        replicator.configuration.conflictPolicy = .mostRevisions
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        #expect(try here.database.conflictedDocumentIDs().isEmpty)
        await replicator.stop()
    }

    @Test(arguments: PeerPair.everywhere)
    func `a missing base is fetched from the source`(pair: PeerPair) async throws {
        let (here, there) = try await pair.make()
        try there.database.put("a", ["x": 1, "y": 1])
        try await replicate(there, to: here)
        try here.database.put("a", ["x": 2, "y": 1])
        try there.database.put("a", ["x": 1, "y": 2])
        // Shared revisions are kept as bases, so the base is removed as another product would have done.
        let lacking = try await PeerPair.local[0].makeSource()
        let document = try #require(try here.database.document("a"))
        let revision = try #require(document.revision)
        let history = try #require(try here.database.tree(of: "a")?.history(of: revision))
        try lacking.database.insertReplicated([
            ReplicatedRevision(id: "a", history: history, body: try document.body())
        ])
        let result = try await pull(lacking, from: there, .threeWayMerge())
        #expect(result.counts.conflictsSettled == 1)
        #expect(try lacking.database.document("a")?.json == ["x": 2, "y": 2])
    }

    @Test func `where all leaves are kept, the base is replicated for later settling`() async throws {
        let (here, there) = try await PeerPair.local[0].make()
        try there.database.put("a", ["x": 1, "y": 1])
        try there.database.put("a", ["x": 1, "y": 2])
        let base = try #require(try there.database.tree(of: "a")).revisions[0]
        let other = try Database.inMemory()
        let first = try #require(try there.database.document("a", revision: base))
        try other.insertReplicated([
            ReplicatedRevision(id: "a", history: RevisionHistory(base), body: try first.body())
        ])
        let mine = try other.put("a", ["x": 2, "y": 1])
        let history = try #require(try other.tree(of: "a")?.history(of: mine))
        try here.database.insertReplicated([
            ReplicatedRevision(id: "a", history: history, body: ["x": 2, "y": 1])
        ])
        try await replicate(there, to: here)
        #expect(try here.database.document("a", revision: base) != nil)
        try here.database.settle("a", using: .threeWayMerge())
        #expect(try here.database.document("a")?.json == ["x": 2, "y": 2])
    }

    // SEMANTICS 81, 82
    @Test(arguments: PeerPair.everywhere)
    func `three devices stop writing after two rounds through a hub`(pair: PeerPair) async throws {
        let (hub, first) = try await pair.make()
        let devices = [first, try await pair.makeTarget(), try await pair.makeTarget()]
        try hub.database.put("a", ["x": 0, "y": 0, "z": 0])
        for device in devices { try await replicate(hub, to: device) }
        let start: JSONValue = ["x": 0, "y": 0, "z": 0]
        for (device, name) in zip(devices, ["x", "y", "z"]) {
            try device.database.put("a", start.setting(name, 1))
        }
        for _ in 0..<2 {
            for device in devices { _ = try await push(device, to: hub) }
            for device in devices { _ = try await pull(device, from: hub, .threeWayMerge()) }
        }
        for device in devices {
            let pushed = try await push(device, to: hub)
            let pulled = try await pull(device, from: hub, .threeWayMerge())
            #expect(pushed.counts.revisionsWritten == 0)
            #expect(pulled.counts.revisionsWritten == 0 && pulled.counts.conflictsSettled == 0)
            #expect(try device.database.document("a")?.json == ["x": 1, "y": 1, "z": 1])
            try expectSame(device.database, hub.database)
        }
    }

    // SEMANTICS 42
    @Test func `a second policy for one database is warned about`() async throws {
        let warnings = Guarded<[String]>([])
        var options = DatabaseOptions()
        options.warn = { warning in warnings.withLock { $0.append(warning) } }
        let temporary = try TemporaryDatabase(.memory, options: options)
        let other = try TemporaryDatabase(.memory)
        var configuration = ReplicationConfiguration.pull(temporary.database, from: LocalPeer(other.database))
        configuration.conflictPolicy = .mostRevisions
        let first = OneWayReplicator(configuration)
        let second = OneWayReplicator(configuration)
        #expect(warnings.withLock(\.self).isEmpty)
        configuration.conflictPolicy = .localWins
        let third = OneWayReplicator(configuration)
        #expect(warnings.withLock(\.count) == 1)
        withExtendedLifetime((first, second, third)) {}
    }
}

extension JSONValue {
    /// The same with one member set.
    fileprivate func setting(_ name: String, _ value: JSONValue) -> JSONValue {
        var copy = self
        copy[name] = value
        return copy
    }
}
