import Settle
import SettlePlatform
import SettleTesting
import Testing

/// Continuous replications, and ones that are resumed.
@Suite(.timeLimit(.minutes(5)))
struct ContinuousBehaviourTests {
    // SEMANTICS 93
    @Test(arguments: PeerPair.all)
    func `a continuous replication is idle, wakes on change, and ends when stopped`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        try source.database.put("a", ["n": 1])
        replicator.start()
        for number in 0..<20 {
            let id = try DocumentID(validating: "b\(number % 7)")
            let revision = try source.database.put(id, ["n": .number(JSONNumber(number))])
            try await replicator.waits { status in
                guard status.mode == .idle else { return false }
                return try target.database.document(id)?.revision == revision
            }
        }
        let idle = replicator.status
        #expect(idle.mode == .idle)
        #expect(idle.completed == 0 && idle.total == 0)  // SEMANTICS 106, 107
        #expect(idle.error == nil)
        await replicator.stop()
        #expect(replicator.status.mode == .stopped)
        try expectSame(source.database, target.database)
    }

    @Test(arguments: PeerPair.all)
    func `a stopped replication resumes at its checkpoint, and reads nothing twice`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        for number in 0..<50 { try source.database.put(DocumentID(validating: "a\(number)"), ["n": 1]) }
        let first = try await replicate(source, to: target)
        #expect(first.counts.changesRead == 50)
        for number in 0..<7 { try source.database.put(DocumentID(validating: "b\(number)"), ["n": 1]) }
        // SEMANTICS 134: continuous or not, it is the same replication.
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        await replicator.stop()
        #expect(replicator.status.counts.changesRead == 7)
        let third = try await replicate(source, to: target)
        #expect(third.counts.changesRead == 0)
        #expect(third.warnings.isEmpty)
        try expectSame(source.database, target.database)
    }

    @Test func `a continuous replication goes on after a database was suspended and resumed`() async throws {
        let (first, second) = try (TemporaryDatabase(.file), TemporaryDatabase(.file))
        let (source, target) = (first.database, second.database)
        var configuration = ReplicationConfiguration(
            source: LocalPeer(source), target: LocalPeer(target))
        configuration.isContinuous = true
        configuration.retry.firstDelay = .milliseconds(5)
        configuration.retry.maximumDelay = .milliseconds(20)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        try target.suspend()
        try source.put("a", ["n": 1])
        await replicator.waits { $0.mode == .active }
        #expect(throws: DatabaseError.self) { try target.document("a") }
        try target.resume()
        try await replicator.waits { _ in try target.document("a") != nil }
        await replicator.stop()
        withExtendedLifetime((first, second)) {}
    }

    // SEMANTICS 92
    @Test(arguments: PeerPair.all)
    func `a one-shot replication ends even if writes continue`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        for number in 0..<200 { try source.database.put(DocumentID(validating: "a\(number)"), ["n": 1]) }
        let database = source.database
        let writer = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let count = number
                _ = try await database.perform { database in
                    try database.put(DocumentID(validating: "w\(count % 50)"), ["n": .number(JSONNumber(count))])
                }
            }
        }
        try await replicate(source, to: target) { $0.limits.changes = 20 }
        writer.cancel()
        _ = try? await writer.value
        for number in 0..<200 {
            let arrived = try target.database.document(DocumentID(validating: "a\(number)"))
            #expect(arrived != nil)
        }
    }

    // SEMANTICS 92
    @Test func `a one-shot replication ends at the change that was the newest when it began`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<200 { try source.database.put(DocumentID(validating: "a\(number)"), ["n": 1]) }
        let growing = ScriptedPeer(source.peer)
        let written = Guarded(0)
        // Each page of 20 changes is followed by 30 new ones, so that the replication never catches up.
        growing.tell { script in
            script.onPage = { [database = source.database] _, page in
                for _ in 0..<30 {
                    let number = written.withLock { written in
                        written += 1
                        return written
                    }
                    guard number <= 3000 else { break }
                    _ = try? database.put(DocumentID(validating: "w\(number)"), ["n": 1])
                }
                return page
            }
        }
        var configuration = ReplicationConfiguration(source: growing, target: target.peer)
        configuration.limits.changes = 20
        let result = try await OneWayReplicator(configuration).run()
        #expect(result.counts.changesRead == 200)
        #expect(try target.database.documents().count == 200)
    }

    // SEMANTICS 103
    @Test(arguments: PeerPair.local)
    func `a running replication stays alive without a reference`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.isContinuous = true
        OneWayReplicator(configuration).start()
        let changes = try target.database.observe(since: 0)
        try source.database.put("a", ["n": 1])
        for try await change in changes where change.id == "a" { break }
        #expect(try target.database.document("a") != nil)
        source.database.close()
    }
}
