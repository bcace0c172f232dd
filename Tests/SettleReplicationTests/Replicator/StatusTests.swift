import Settle
import SettlePlatform
import SettleReplication
import SettleTesting
import Testing

/// The status of a replication.
@Suite(.timeLimit(.minutes(5)))
struct StatusTests {
    /// Lets a number of calls pass, and makes others wait.
    private actor Gate {
        private var left = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []

        /// Lets this many more calls pass.
        func open(_ count: Int) {
            left = count
            while left > 0, !waiting.isEmpty {
                left -= 1
                waiting.removeFirst().resume()
            }
        }

        func wait() async {
            if left > 0 {
                left -= 1
            } else {
                await withCheckedContinuation { waiting.append($0) }
            }
        }
    }

    // SEMANTICS 104-107
    @Test func `completed never exceeds total, and a run ends stopped without error`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<3000 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.limits.changes = 100
        let replicator = OneWayReplicator(configuration)
        let statuses = replicator.statuses
        replicator.start()
        var modes: [ReplicationStatus.Mode] = []
        var last: ReplicationStatus?
        for await status in statuses {
            #expect(status.completed <= status.total)
            if status.mode != .active { #expect(status.completed == 0 && status.total == 0) }
            if modes.last != status.mode { modes.append(status.mode) }
            last = status
            if status.mode == .stopped, modes.count > 1 || status.counts.changesRead > 0 { break }
        }
        #expect(modes.last == .stopped)
        #expect(!modes.contains(.idle) && !modes.contains(.offline))
        #expect(last?.error == nil)
        #expect(last?.counts.changesRead == 3000)
        #expect((last?.bytesWritten ?? 0) > 0)
    }

    // SEMANTICS 106, 107
    @Test func `completed and total count the documents of the current batch`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<30 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let slow = ScriptedPeer(target.peer)
        let gate = Gate()
        slow.tell { $0.before[.store] = { await gate.wait() } }
        var configuration = ReplicationConfiguration(source: source.peer, target: slow)
        configuration.isContinuous = true
        configuration.limits.changes = 10
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        let begun = await replicator.waits { $0.total == 30 }
        #expect(begun.mode == .active && begun.completed == 0)
        await gate.open(1)
        let first = await replicator.waits { $0.completed > 0 }
        #expect(first.mode == .active && first.completed < first.total && first.total == 30)
        // Documents written meanwhile also count: the fraction may decrease (SEMANTICS 107).
        for number in 0..<10 { try source.database.put(DocumentID(validating: "e\(number)"), ["n": 1]) }
        await replicator.waits { $0.total == 40 }
        await gate.open(1)
        let second = await replicator.waits { $0.completed > first.completed }
        #expect(second.mode == .active && second.completed < second.total && second.total == 40)
        await gate.open(.max)
        let idle = await replicator.waits { $0.mode == .idle && $0.counts.revisionsWritten == 40 }
        #expect(idle.completed == 0 && idle.total == 0)
        await gate.open(0)
        try source.database.put("last", ["n": 1])
        // The next batch is counted from its own start.
        let next = await replicator.waits { $0.mode == .active && $0.total > 0 }
        #expect(next.total == 1)
        await gate.open(1)
        await replicator.waits { $0.mode == .idle && $0.counts.revisionsWritten == 41 }
        await replicator.stop()
    }

    // SEMANTICS 93, 105, 110, 113
    @Test func `a replication with an unreachable peer is offline, and resumes when it can`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try source.database.put("a", ["n": 1])
        let flaky = ScriptedPeer(target.peer)
        flaky.tell { $0.always[.connect] = PeerError(.unreachable, "no route") }
        var configuration = ReplicationConfiguration(source: source.peer, target: flaky)
        configuration.isContinuous = true
        configuration.retry.firstDelay = .seconds(3600)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        let offline = await replicator.waits { $0.mode == .offline }
        #expect(offline.error?.code == .unreachable)
        flaky.tell { script in
            script.always = [:]
            script.failures[.store] = [PeerError(.connectionLost, "cut")]
        }
        replicator.networkChanged()
        await replicator.waits { $0.mode == .offline && $0.error?.code == .connectionLost }
        replicator.networkChanged()
        let idle = await replicator.waits { $0.mode == .idle }
        #expect(idle.error == nil)
        #expect(idle.counts.revisionsWritten == 1)
        await replicator.stop()
    }

    @Test func `a one-shot run gives up after some attempts, and a later success clears the error`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try source.database.put("a", ["n": 1])
        let flaky = ScriptedPeer(source.peer)
        flaky.tell { $0.always[.connect] = PeerError(.unreachable, "no route") }
        var configuration = ReplicationConfiguration(source: flaky, target: target.peer)
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.retry.attempts = 3
        let replicator = OneWayReplicator(configuration)
        await #expect(throws: PeerError.self) { try await replicator.run() }
        #expect(flaky.count(.connect) == 3)
        #expect(replicator.status.mode == .stopped && replicator.status.error?.code == .unreachable)
        flaky.tell { $0.always = [:] }
        try await replicator.run()
        #expect(replicator.status.error == nil)
    }

    @Test func `a failed request is repeated, and everything is replicated once`() async throws {
        let (source, target) = try await PeerPair.local[1].make()
        for number in 0..<500 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let (here, there) = (ScriptedPeer(source.peer), ScriptedPeer(target.peer))
        let cut = PeerError(.connectionLost, "cut")
        here.tell { $0.failures = [.changes: [cut, cut], .revisions: [cut], .readLog: [cut]] }
        there.tell { $0.failures = [.differences: [cut], .store: [cut, cut], .connect: [cut], .writeLog: []] }
        var configuration = ReplicationConfiguration(source: here, target: there)
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.limits.changes = 100
        let result = try await OneWayReplicator(configuration).run()
        #expect(result.counts.revisionsWritten == 500)
        expectSums(result.counts)
        try expectSame(source.database, target.database)
    }

    // SEMANTICS 111
    @Test func `a continuous replication is idle with failed documents, and retries them after a while`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<5 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let flaky = ScriptedPeer(target.peer)
        flaky.tell { $0.onStore = { $0.id == "d2" ? .failed(PeerError(.busy, "not now")) : nil } }
        let clock = ManualClock()
        var configuration = ReplicationConfiguration(source: source.peer, target: flaky)
        configuration.isContinuous = true
        configuration.usesCheckpoints = false
        configuration.retry.documentRetries = 0
        configuration.clock = clock
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        let idle = await replicator.waits { $0.mode == .idle }
        #expect(idle.counts.revisionsFailed == 1)
        #expect(idle.error == nil)
        flaky.tell { $0.onStore = { _ in nil } }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let done = await replicator.waits { $0.counts.revisionsWritten == 5 }
        #expect(done.counts.revisionsChecked == 5 && done.counts.revisionsFailed == 0)
        expectSums(done.counts)
        #expect(replicator.ledger.count == 0)
        await replicator.stop()
    }

    @Test func `a replication stopped while a peer is unreachable ends at once, and its sums agree`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<50 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let flaky = ScriptedPeer(target.peer)
        flaky.tell { $0.always[.store] = PeerError(.unreachable, "no route") }
        var configuration = ReplicationConfiguration(source: source.peer, target: flaky)
        configuration.isContinuous = true
        configuration.retry.firstDelay = .seconds(3600)
        configuration.retry.maximumDelay = .seconds(3600)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        let offline = await replicator.waits { $0.mode == .offline }
        #expect(offline.counts.revisionsMissing > 0)
        await replicator.stop()
        expectSums(replicator.status.counts)
        #expect(replicator.status.counts.revisionsMissing == 0)
        flaky.tell { $0.always = [:] }
        let result = try await replicate(source, to: target)
        #expect(result.counts.revisionsWritten == 50)
    }

    @Test func `a replication suspended while a peer is unreachable asks for no checkpoint`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try source.database.put("a", ["n": 1])
        let flaky = ScriptedPeer(target.peer)
        var configuration = ReplicationConfiguration(source: source.peer, target: flaky)
        configuration.isContinuous = true
        configuration.checkpointInterval = .seconds(3600)
        configuration.retry.firstDelay = .seconds(3600)
        configuration.retry.maximumDelay = .seconds(3600)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .idle && $0.counts.revisionsWritten == 1 }
        flaky.tell { $0.always[.store] = PeerError(.unreachable, "no route") }
        try source.database.put("b", ["n": 1])
        await replicator.waits { $0.mode == .offline }
        let before = flaky.count(.readLog)
        await replicator.suspend()
        #expect(flaky.count(.readLog) == before)
        #expect(replicator.status.mode == .stopped)
    }

    @Test func `streams of statuses end with the status stopped after a stop, and with nothing before`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        let early = replicator.statuses
        let modes = Guarded<[ReplicationStatus.Mode]>([])
        let reading = Task { for await status in early { modes.withLock { $0.append(status.mode) } } }
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        await eventually("it was seen idle") { modes.withLock { $0.contains(.idle) } }
        // A suspended replicator is started again, and so is one that compares everything.
        await replicator.suspend()
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        await replicator.resyncFromStart()
        await replicator.waits { $0.mode == .idle }
        await replicator.stop()
        await reading.value
        #expect(modes.withLock(\.last) == .stopped)
        var late: [ReplicationStatus.Mode] = []
        for await status in replicator.statuses { late.append(status.mode) }
        #expect(late == [.stopped])
        // After the next start there is something to see again.
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        await replicator.stop()
        for await status in replicator.statuses { #expect(status.mode == .stopped) }
    }

    @Test func `streams of statuses of a replicator of both directions end after a stop`() async throws {
        let (here, there) = (try Database.inMemory(), try Database.inMemory())
        let replicator = Replicator(here, with: LocalPeer(there)) { $0.isContinuous = true }
        let early = replicator.statuses
        let last = Task { await early.reduce(into: ReplicatorStatus?.none) { $0 = $1 } }
        replicator.start()
        for await status in replicator.statuses where status.parts.allSatisfy({ $0.mode == .idle }) { break }
        let during = replicator.statuses
        async let stopping: Void = replicator.stop()
        for await _ in during {}
        await stopping
        #expect(await last.value?.parts.map(\.mode) == [.stopped, .stopped])
        for await status in replicator.statuses { #expect(status.mode == .stopped) }
    }

    @Test(arguments: [true, false])
    func `a continuous replicator is stopped with an error when its database or the peer's is closed`(
        isOwn: Bool
    ) async throws {
        let (here, there) = (try Database.inMemory(), try Database.inMemory())
        let replicator = Replicator(here, with: LocalPeer(there)) { $0.isContinuous = true }
        replicator.start()
        for await status in replicator.statuses where status.parts.allSatisfy({ $0.mode == .idle }) { break }
        (isOwn ? here : there).close()
        for await status in replicator.statuses where status.mode == .stopped { break }
        #expect(replicator.status.parts.map(\.mode) == [.stopped, .stopped])
        #expect(replicator.status.parts.map(\.error?.code) == [.database, .database])
        #expect(replicator.status.error?.message.contains("closed") == true)
        await replicator.stop()
        (isOwn ? there : here).close()
    }

    @Test func `a replicator whose peer is unreachable is stopped with an error when its database is closed`()
        async throws
    {
        let (here, there) = (try Database.inMemory(), try Database.inMemory())
        let flaky = ScriptedPeer(LocalPeer(there))
        flaky.tell { $0.always[.connect] = PeerError(.unreachable, "no route") }
        let replicator = Replicator(here, with: flaky) { configuration in
            configuration.isContinuous = true
            configuration.retry.firstDelay = .seconds(3600)
            configuration.retry.maximumDelay = .seconds(3600)
        }
        replicator.start()
        for await status in replicator.statuses where status.parts.allSatisfy({ $0.mode == .offline }) { break }
        here.close()
        for await status in replicator.statuses where status.mode == .stopped { break }
        #expect(replicator.status.parts.map(\.error?.code) == [.database, .database])
        #expect(replicator.status.error?.message.contains("closed") == true)
        there.close()
    }

    @Test func `a replicator that is started while it is being stopped runs again, unless it is stopped after that`()
        async throws
    {
        let (source, target) = try await PeerPair.local[0].make()
        let slow = ScriptedPeer(target.peer)
        let gate = Gate()
        slow.tell { $0.before[.store] = { await gate.wait() } }
        var configuration = ReplicationConfiguration(source: source.peer, target: slow)
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        for isStoppedAgain in [false, true] {
            try source.database.put(isStoppedAgain ? "b" : "a", ["n": 1])
            let stores = slow.count(.store)
            let run = Task { try await replicator.run() }
            await eventually("it stores the document") { slow.count(.store) > stores }
            // Cancelling orders the stop, which waits for the document.
            run.cancel()
            replicator.start()
            let stop = Task { if isStoppedAgain { await replicator.stop() } }
            await gate.open(.max)
            _ = try await run.value
            await stop.value
            if !isStoppedAgain {
                let status = await replicator.waits { $0.mode == .idle }
                #expect(status.mode == .idle)
                await replicator.stop()
            }
            #expect(replicator.status.mode == .stopped)
            await gate.open(0)
        }
    }

    @Test func `a cancelled task stops its run`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        let task = Task { try await replicator.run() }
        await replicator.waits { $0.mode == .idle }
        task.cancel()
        _ = try await task.value
        #expect(replicator.status.mode == .stopped)
    }
}
