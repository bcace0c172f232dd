import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// The flow as a state machine, against random orders of events; a seed reproduces a failure.
@Suite(.timeLimit(.minutes(5)))
struct FlowTests {
    private func makeWorld(
        seed: UInt64, continuous: Bool, holdsRefused: Bool, writes: Int = 200
    ) throws -> FlowWorld {
        var settings = FlowSettings(start: .start, end: PeerSequence(.number(JSONNumber(writes))))
        settings.isContinuous = continuous
        settings.holdsRefused = holdsRefused
        settings.limits.changes = 20
        settings.limits.revisions = 16
        settings.limits.bytes = 6000
        var world = FlowWorld(seed: seed, settings)
        world.failures = 12
        for _ in 0..<writes {
            let id = try DocumentID(validating: "d\(world.random.below(90))")
            world.write(id, size: world.random.oneIn(30) ? 5000 : world.random.below(300))
        }
        for (id, document) in world.source.sorted(by: { $0.key < $1.key }) {
            for leaf in document.leaves {
                if world.random.oneIn(15) { world.refused.insert(FlowWorld.key(id, leaf)) }
                if world.random.oneIn(10) { world.unlucky.insert(FlowWorld.key(id, leaf)) }
            }
        }
        return world
    }

    private func check(_ world: FlowWorld, seed: UInt64) {
        #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(3))")
        for (key, count) in world.stored { #expect(count == 1, "seed \(seed): \(key) was stored \(count) times") }
        let wanted = world.source.flatMap { id, document in document.leaves.map { FlowWorld.key(id, $0) } }
        for key in wanted {
            #expect(world.target.contains(key) != world.listed.contains(key), "seed \(seed): \(key)")
            let most = world.unlucky.contains(key) ? 3 : 1
            #expect(world.fetched[key] ?? 0 <= most + 12, "seed \(seed): \(key)")
            if !world.unlucky.contains(key), world.failures == 12 {
                #expect(world.fetched[key] == 1, "seed \(seed): \(key)")
            }
        }
        let limit = world.flow.settings.limits
        #expect(
            world.maximumBytes <= limit.bytes + limit.fetches * world.largest, "seed \(seed): \(world.maximumBytes)")
        expectSums(world.flow.counts)
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `in any order, every missing revision is stored once or listed`(seed: UInt64) throws {
        var world = try makeWorld(seed: seed, continuous: false, holdsRefused: seed.isMultiple(of: 2))
        if seed % 3 == 0 { world.failures = 12 } else { world.failures = 0 }
        world.send(.begin)
        var steps = 0
        while world.end == nil, world.step(), steps < 20_000 { steps += 1 }
        let end = try #require(world.end, "seed \(seed): it did not end")
        #expect(end == nil, "seed \(seed)")
        check(world, seed: seed)
        #expect(world.flow.bytesOnTheWay == 0 && world.flow.tracker.openCount == 0, "seed \(seed)")
        #expect(world.flow.progress.completed == world.flow.progress.total, "seed \(seed)")
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `documents that the server permanently fails on do not block the others`(seed: UInt64) throws {
        var world = try makeWorld(seed: seed, continuous: seed.isMultiple(of: 2), holdsRefused: false)
        (world.unlucky, world.refused, world.failures) = ([], [], 0)
        for (id, document) in world.source.sorted(by: { $0.key < $1.key }) where world.random.oneIn(12) {
            world.poison.formUnion(document.leaves.map { FlowWorld.key(id, $0) })
        }
        world.send(.begin)
        // A continuous flow retries indefinitely.
        var steps = 0
        while world.end == nil, world.step(), steps < 2000 { steps += 1 }
        for (id, document) in world.source {
            for leaf in document.leaves {
                let key = FlowWorld.key(id, leaf)
                #expect(world.target.contains(key) != world.poison.contains(key), "seed \(seed): \(key)")
                #expect(world.listed.contains(key) == world.poison.contains(key), "seed \(seed): \(key)")
            }
        }
        #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(3))")
        if !world.flow.settings.isContinuous { #expect(world.flow.bytesOnTheWay == 0, "seed \(seed)") }
    }

    @Test(arguments: [false, true])
    func `a server that fails on everything does not count as many failed documents`(continuous: Bool) throws {
        var world = try makeWorld(seed: 1, continuous: continuous, holdsRefused: false)
        (world.unlucky, world.refused, world.failures) = ([], [], 0)
        for (id, document) in world.source { world.poison.formUnion(document.leaves.map { FlowWorld.key(id, $0) }) }
        world.send(.begin)
        for _ in 0..<2000 where world.end == nil { _ = world.step() }
        #expect(world.target.isEmpty)
        guard continuous else {
            #expect(world.end??.code == .serverError)
            #expect(Set(world.listed.compactMap { $0.split(separator: " ").first }).count <= 20)
            return
        }
        #expect(world.end == nil)
        world.poison = []
        for _ in 0..<20_000 where world.step() {}
        let wanted = world.source.flatMap { id, document in document.leaves.map { FlowWorld.key(id, $0) } }
        #expect(world.target == Set(wanted))
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a continuous flow replicates changes while it runs, and is idle at the end`(seed: UInt64) throws {
        var world = try makeWorld(seed: seed, continuous: true, holdsRefused: false)
        world.unlucky = []
        world.failures = 0
        world.send(.begin)
        var writes = 300
        for _ in 0..<20_000 {
            if writes > 0, world.random.oneIn(3) {
                writes -= 1
                world.write(try DocumentID(validating: "d\(world.random.below(90))"), size: world.random.below(200))
            } else if !world.step(), writes == 0 {
                break
            }
        }
        #expect(world.flow.isIdle, "seed \(seed)")
        #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(3))")
        for (id, document) in world.source {
            for key in document.leaves.map({ FlowWorld.key(id, $0) }) {
                #expect(world.target.contains(key) != world.listed.contains(key), "seed \(seed): \(key)")
            }
        }
        #expect(world.flow.tracker.position.number == Int64(world.lastSequence), "seed \(seed)")
        expectSums(world.flow.counts)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a stopped flow stores what it has, and ends`(seed: UInt64) throws {
        var world = try makeWorld(seed: seed, continuous: false, holdsRefused: false)
        world.send(.begin)
        for _ in 0..<(seed * 3) where world.end == nil { _ = world.step() }
        world.send(.stop)
        var steps = 0
        while world.end == nil, world.step(), steps < 1000 { steps += 1 }
        #expect(world.end != nil, "seed \(seed)")
        #expect(world.problems.isEmpty, "seed \(seed)")
    }

    // SEMANTICS 113
    @Test func `temporary errors are retried with growing delays, and others end the run`() throws {
        var settings = FlowSettings(start: .start, end: PeerSequence(1))
        settings.retry.attempts = 4
        var flow = Flow(settings)
        var actions = flow.handle(.begin, jitter: 0)
        var delays: [Duration] = []
        for _ in 0..<3 {
            guard case .read(let id, _) = actions.first else {
                Issue.record("\(actions)")
                return
            }
            actions = flow.handle(.changes(id, .failure(PeerError(.connectionLost, "cut"))), jitter: 0)
            guard case .wait(id, let delay) = actions.first else {
                Issue.record("\(actions)")
                return
            }
            #expect(flow.unreachable != nil)
            delays.append(delay)
            actions = flow.handle(delays.count == 2 ? .network : .time(id), jitter: 0)
        }
        #expect(delays == [.milliseconds(500), .seconds(1), .seconds(2)])
        guard case .read(let id, _) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        actions = flow.handle(.changes(id, .failure(PeerError(.connectionLost, "cut"))), jitter: 0)
        guard case .end(let error?) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(error.code == .connectionLost)
        var other = Flow(settings)
        _ = other.handle(.begin, jitter: 0)
        guard
            case .end(let refusal?) = other.handle(.changes(1, .failure(PeerError(.unauthorized, "no"))), jitter: 0)
                .first
        else {
            Issue.record("it went on")
            return
        }
        #expect(refusal.code == .unauthorized)
    }

    @Test func `a delay is the one the peer asks for, up to a limit`() {
        var retry = ReplicationRetryPolicy()
        #expect(retry.delay(after: 1, jitter: 1, retryAfter: nil) == .milliseconds(250))
        #expect(retry.delay(after: 60, jitter: 0, retryAfter: nil) == .seconds(300))
        #expect(retry.delay(after: 1, jitter: 0, retryAfter: .seconds(7)) == .seconds(7))
        retry.maximumDelay = .seconds(1)
        #expect(retry.delay(after: 9, jitter: 0, retryAfter: nil) == .seconds(1))
    }

    @Test func `unintelligible answers fail no documents, which are retried the next time`() throws {
        var world = try makeWorld(seed: 4, continuous: false, holdsRefused: false)
        (world.unlucky, world.refused, world.failures) = ([], [], 0)
        world.send(.begin)
        let bad = try #require(world.source.keys.sorted().first)
        var steps = 0
        while world.end == nil, steps < 20_000 {
            steps += 1
            let index = world.open.firstIndex { action in
                if case .store(_, let revisions) = action { revisions.contains { $0.id == bad } } else { false }
            }
            if let index, case .store(let id, _) = world.open.remove(at: index) {
                world.send(.outcomes(id, .failure(PeerError(.badAnswer, "<html>", isTransient: false))))
            } else if !world.step() {
                break
            }
        }
        #expect(world.end != nil)
        expectSums(world.flow.counts)
        #expect(world.flow.counts.revisionsRefused == 0)
        #expect(world.flow.counts.revisionsFailed == world.source[bad]?.leaves.count)
        let before = try #require(world.source[bad]).sequence
        #expect(Int(world.flow.tracker.position.number ?? 0) < before)
    }

    @Test func `no more is fetched while as many batches wait for the target as requests may run`() throws {
        var settings = FlowSettings(start: .start, end: PeerSequence(.number(JSONNumber(400))))
        settings.limits.changes = 20
        settings.limits.revisions = 16
        var world = FlowWorld(seed: 1, settings)
        for number in 0..<400 { world.write(try DocumentID(validating: "d\(number)"), size: 100) }
        world.send(.begin)
        let isStore = { (action: FlowAction) in if case .store = action { true } else { false } }
        while world.step(where: { !isStore($0) }) {}
        #expect(world.open.allSatisfy(isStore))
        #expect((48..<64).contains(world.flow.fetched.count), "three batches, and less than one that was on its way")
        while world.end == nil, world.step() {}
        check(world, seed: 1)
        #expect(world.target.count == 400)
    }

    @Test(arguments: [.min, -1, 0, .max] as [Int])
    func `with limits of any size everything is replicated`(limit: Int) throws {
        var settings = FlowSettings(start: .start, end: PeerSequence(.number(JSONNumber(20))))
        (settings.limits.changes, settings.limits.revisions) = (limit, limit)
        (settings.limits.fetches, settings.limits.stores, settings.limits.bytes) = (limit, limit, limit)
        var world = FlowWorld(seed: 1, settings)
        for number in 0..<20 { world.write(try DocumentID(validating: "d\(number)"), size: 100) }
        world.send(.begin)
        var steps = 0
        while world.end == nil, world.step(), steps < 1000 { steps += 1 }
        let end = try #require(world.end, "it did not end")
        #expect(end == nil)
        #expect(world.target.count == 20)
        #expect(world.problems.isEmpty)
    }

    @Test func `reduced batches grow again`() {
        var sizer = BatchSizer(most: 1000)
        let start = sizer.revisions
        sizer.halve()
        #expect(sizer.revisions == start / 2)
        for _ in 0..<20 { sizer.halve() }
        #expect(sizer.revisions == 1)
        for _ in 0..<20 { sizer.learn(sizer.revisions, took: .milliseconds(1)) }
        #expect(sizer.revisions == 1000)
    }

    @Test func `a refused batch is split, and one document is refused`() throws {
        var world = try makeWorld(seed: 3, continuous: false, holdsRefused: false)
        (world.unlucky, world.refused, world.failures) = ([], [], 0)
        world.send(.begin)
        let bad = try #require(world.source.keys.sorted().first)
        var steps = 0
        while world.end == nil, steps < 20_000 {
            steps += 1
            let index = world.open.firstIndex { action in
                if case .store(_, let revisions) = action { revisions.contains { $0.id == bad } } else { false }
            }
            if let index, case .store(let id, _) = world.open.remove(at: index) {
                world.send(.outcomes(id, .failure(PeerError(.tooLarge, "too much"))))
            } else if !world.step() {
                break
            }
        }
        #expect(world.end != nil)
        #expect(world.listed == Set(world.source[bad]?.leaves.map { FlowWorld.key(bad, $0) } ?? []))
        expectSums(world.flow.counts)
        let others = world.source.filter { $0.key != bad }.flatMap { id, document in
            document.leaves.map { FlowWorld.key(id, $0) }
        }
        #expect(world.target == Set(others))
    }
}
