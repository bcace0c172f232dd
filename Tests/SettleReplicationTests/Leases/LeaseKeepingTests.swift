import SettleDatabase
import SettleTesting
import Testing

@testable import SettleReplication

/// Which node runs what, while all can say when they see it.
@Suite struct LeaseKeepingTests {
    private static let job = LeaseWorld.job("a")

    /// Two nodes that want one job, which the first one runs.
    private func two() -> LeaseWorld {
        var world = LeaseWorld(nodes: 2, room: 1)
        world.happen(.wanted(node: 0, Self.job))
        world.pass(.seconds(5))
        world.happen(.wanted(node: 1, Self.job))
        world.pass(.seconds(3))
        return world
    }

    @Test func `in every order of eight events, no two nodes run a job`() {
        var seen: Set<String> = []
        var problems: Set<String> = []
        var starts = 0
        var worlds = [two()]
        #expect(worlds[0].runners(of: Self.job) == [0])
        for _ in 0..<8 {
            var next: [LeaseWorld] = []
            for world in worlds {
                for event in events(world) {
                    let after = world.after(event)
                    problems.formUnion(after.problems)
                    starts = max(starts, after.starts[Self.job] ?? 0)
                    if seen.insert(after.key).inserted { next.append(after) }
                }
            }
            worlds = next
        }
        #expect(problems == [])
        // The other node has had its chance.
        #expect(starts >= 2)
        #expect(seen.count > 5000)
    }

    private func events(_ world: LeaseWorld) -> [LeaseWorld.Event] {
        var events: [LeaseWorld.Event] = [.time(.seconds(5))]
        for node in world.nodes.indices {
            events.append(world.nodes[node].isFrozen ? .wake(node: node, isTimeFirst: false) : .freeze(node: node))
            // A frozen process may have sent its calls before.
            for index in world.nodes[node].calls.indices {
                for (isDone, isAnswered) in [(true, true), (true, false), (false, false)] {
                    events.append(.call(node: node, index, isDone: isDone, isAnswered: isAnswered))
                }
            }
            guard world.isAwake(node) else { continue }
            events += world.nodes[node].ending.keys.map { .ended(node: node, $0) }
        }
        return events
    }

    @Test(arguments: [1, 2, 3])
    func `long runs of events keep to the rules, and then every job runs`(room: Int) {
        for seed in UInt64(1)...40 {
            var random = SeededRandom(seed: seed)
            var world = LeaseWorld(nodes: 3, room: room)
            let jobs = ["a", "b", "c", "d"].map(LeaseWorld.job)
            for job in jobs { for node in 0..<3 { world.happen(.wanted(node: node, job)) } }
            for _ in 0..<600 { if let event = randomEvent(world, jobs, &random) { world.happen(event) } }
            #expect(world.problems == [], "seed \(seed)")
            // From now on nothing fails.
            for node in 0..<3 where world.nodes[node].isFrozen { world.happen(.wake(node: node, isTimeFirst: true)) }
            for job in jobs {
                for node in 0..<3 where (world.nodes[node].machine.wishes[job]?.count ?? 0) == 0 {
                    world.happen(.wanted(node: node, job))
                }
            }
            world.pass(.seconds(60))
            let before = world.starts
            world.pass(.seconds(120))
            #expect(world.problems == [], "seed \(seed)")
            let alive = world.nodes.count { !$0.isDead }
            for job in jobs {
                let isOne = world.runners(of: job).count == 1
                let hasTurns = (world.starts[job] ?? 0) > (before[job] ?? 0)
                #expect(alive * room >= jobs.count ? isOne && !hasTurns : hasTurns, "seed \(seed): \(job.id)")
            }
        }
    }

    private func randomEvent(
        _ world: LeaseWorld, _ jobs: [LeaseName], _ random: inout SeededRandom
    ) -> LeaseWorld.Event? {
        let node = Int.random(in: 0..<3, using: &random)
        guard !world.nodes[node].isDead, let job = jobs.randomElement(using: &random) else { return nil }
        let isWanted = (world.nodes[node].machine.wishes[job]?.count ?? 0) > 0
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: return .time(.milliseconds(.random(in: 100...2000, using: &random)))
        case 40..<80:
            guard let index = world.nodes[node].calls.indices.randomElement(using: &random) else { return nil }
            let isDone = Int.random(in: 0..<10, using: &random) > 0
            return .call(
                node: node, index, isDone: isDone, isAnswered: isDone && Int.random(in: 0..<10, using: &random) > 0)
        case 80..<88:
            guard let name = world.nodes[node].ending.keys.sorted().first, world.isAwake(node) else { return nil }
            return .ended(node: node, name)
        case 88..<94:
            return world.nodes[node].isFrozen
                ? .wake(node: node, isTimeFirst: .random(using: &random)) : .freeze(node: node)
        case 94..<97 where world.isAwake(node): return isWanted ? .unwanted(node: node, job) : .wanted(node: node, job)
        case 97 where world.isAwake(node): return .refused(node: node, job)
        case 98 where node == 0 && world.now > .seconds(60): return .kill(node: node)
        default: return nil
        }
    }

    @Test func `what a killed node ran runs elsewhere within 20 seconds`() {
        for delay in stride(from: 0, to: 28, by: 3) {
            var world = LeaseWorld(nodes: 2, room: 100)
            let jobs = (0..<20).map { LeaseWorld.job("\($0)") }
            for job in jobs { world.happen(.wanted(node: 0, job)) }
            world.pass(.milliseconds(5000 + 250 * delay), step: .milliseconds(250))
            // Looks at another time than the first one.
            world.pass(.milliseconds(700 + 150 * delay), step: .milliseconds(50))
            for job in jobs { world.happen(.wanted(node: 1, job)) }
            world.pass(.milliseconds(6000), step: .milliseconds(50))
            #expect(jobs.allSatisfy { world.runners(of: $0) == [0] })
            world.happen(.kill(node: 0))
            world.pass(.seconds(20), step: .milliseconds(50))
            #expect(jobs.allSatisfy { world.runners(of: $0) == [1] }, "\(delay)")
            #expect(world.problems == [])
        }
    }

    @Test func `a frozen node is stopped by its own clock before another one may begin`() throws {
        // Its calls hang, and it goes on.
        var world = two()
        let renewed = try #require(world.nodes[0].machine.holdings[Self.job]?.renewed)
        var ended: Duration?
        while world.runners(of: Self.job) != [1], world.now < renewed + .seconds(30) {
            world.happen(.time(.milliseconds(250)))
            while !world.nodes[1].calls.isEmpty { world.happen(.call(node: 1, 0, isDone: true, isAnswered: true)) }
            if world.runners(of: Self.job).isEmpty, ended == nil { ended = world.now }
        }
        #expect(world.runners(of: Self.job) == [1])
        #expect(ended == renewed + .seconds(10) && world.now >= renewed + .seconds(15))
        #expect(world.problems == [])

        // The process sleeps, and what it finds when it wakes is that its renewal went through long ago.
        world = two()
        world.pass(.seconds(4))
        while world.nodes[0].calls.isEmpty { world.happen(.time(.milliseconds(250))) }
        world.happen(.freeze(node: 0))
        world.happen(.call(node: 0, 0, isDone: true, isAnswered: true))
        world.pass(.seconds(30))
        #expect(world.runners(of: Self.job) == [1])
        world.happen(.wake(node: 0, isTimeFirst: false))
        #expect(world.runners(of: Self.job) == [1] && world.nodes[0].running.isEmpty)
        #expect(world.problems == [])
    }

    @Test func `nodes that start together share the jobs, also when there is room for all on each`() {
        var world = LeaseWorld(nodes: 3, room: 500)
        let jobs = (0..<90).map { LeaseWorld.job("9f3c\($0)+continuous") }
        for node in 0..<3 { for job in jobs { world.happen(.wanted(node: node, job)) } }
        world.pass(.seconds(10))
        let shares = world.nodes.map { node in node.running.keys.count { $0.kind == .run } }
        #expect(shares.reduce(0, +) == 90 && shares.allSatisfy { $0 > 15 }, "\(shares)")
        #expect(world.problems == [])
    }

    @Test func `a node without room leaves the rest to others, and a job keeps its lease while nobody waits`() {
        var world = LeaseWorld(nodes: 2, room: 3)
        let jobs = (0..<6).map { LeaseWorld.job("\($0)") }
        for node in 0..<2 { for job in jobs { world.happen(.wanted(node: node, job)) } }
        world.pass(.seconds(60))
        #expect(world.nodes.map { $0.running.count } == [3, 3])
        #expect(jobs.allSatisfy { world.starts[$0] == 1 })
    }

    @Test func `jobs that are released or not wanted any more leave nothing, not even the sign of the node`() {
        var world = two()
        for node in 0..<2 { world.happen(.unwanted(node: node, Self.job)) }
        world.settle()
        #expect(world.table.values.allSatisfy { $0.until <= world.now })
        for node in world.nodes {
            #expect(node.machine.wishes.isEmpty && node.machine.holdings.isEmpty && node.machine.places.isEmpty)
            #expect(node.machine.nextTime(after: world.now) == nil)
        }
    }

    @Test func `documents whose ids look the same have leases of their own`() {
        // The same letter as one character, and as two, and a combining mark in front.
        let ids = ["\u{E9}", "e\u{301}", "\u{301}e"]
        let names = ids.map { LeaseName("_replicator", .note, $0) }
        #expect(Set(names).count == 3)
        #expect(Set(names.map { JobLease(job: $0.job, term: 1) }).count == 3)
        #expect(names.compactMap { LeaseName("_replicator", job: $0.job) } == names)
    }

    @Test func `a node that stops takes nothing, renews, and gives all back when its runs have ended`() {
        var world = two()
        var machine = world.nodes[0].machine
        #expect(machine.handle(.stopping, at: world.now) == [])
        let later = world.now + .seconds(6)
        let actions = machine.handle(.time([:]), at: later)
        #expect(actions.count == 1 && machine.places[LeaseWorld.database]?.renewing != nil)
        let released = machine.handle(.stopped, at: later)
        guard case .release(_, let leases)? = released.first else { return #expect(Bool(false), "\(released)") }
        #expect(leases.count == 2 && machine.nextTime(after: later) == nil)
        world.happen(.kill(node: 0))
    }
}
