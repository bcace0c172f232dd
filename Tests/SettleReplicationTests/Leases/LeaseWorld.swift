import SettleDatabase

@testable import SettleReplication

/// Nodes that keep leases in one table, with their clocks and calls, as a value: who runs what, and what was wrong.
struct LeaseWorld {
    /// A row of the storage, whose clock is the world's.
    struct Row {
        var node: String
        var term: Int64
        var until: Duration
    }

    struct Node {
        var machine: LeaseKeeping
        /// Calls on the storage that it has not made yet.
        var calls: [LeaseKeeping.Action] = []
        /// Answers that wait for it to wake.
        var answers: [LeaseKeeping.Event] = []
        var running: [LeaseName: Int] = [:]
        /// Runs that end.
        var ending: [LeaseName: Int] = [:]
        var starts: [LeaseName: Duration] = [:]
        var isFrozen = false
        var isDead = false
    }

    enum Event {
        /// Time passes.
        case time(Duration)
        /// The storage does what a node asks for, and its answer comes or is lost; or the call itself is lost.
        case call(node: Int, Int, isDone: Bool, isAnswered: Bool)
        /// A run that was to end has ended.
        case ended(node: Int, LeaseName)
        case wanted(node: Int, LeaseName)
        case unwanted(node: Int, LeaseName)
        case refused(node: Int, LeaseName)
        case freeze(node: Int)
        /// The process goes on: with the time, or with the answers that came.
        case wake(node: Int, isTimeFirst: Bool)
        case kill(node: Int)
    }

    static let database = "r"
    static let term = Duration.seconds(15)
    static let turn = Duration.seconds(10)

    private(set) var now = Duration.zero
    private(set) var nodes: [Node]
    private(set) var table: [String: Row] = [:]
    private(set) var problems: [String] = []
    /// How often each job has begun to run.
    private(set) var starts: [LeaseName: Int] = [:]
    let room: Int

    init(nodes: Int, room: Int) {
        self.room = room
        self.nodes = (0..<nodes).map { Node(machine: LeaseKeeping(node: "n\($0)", room: room)) }
    }

    static func job(_ id: String) -> LeaseName { LeaseName(database, .run, id) }

    /// The nodes that run a job, of those that are awake.
    func runners(of job: LeaseName) -> [Int] {
        nodes.indices.filter { isAwake($0) && (nodes[$0].running[job] ?? nodes[$0].ending[job]) != nil }
    }

    func isAwake(_ node: Int) -> Bool { !nodes[node].isFrozen && !nodes[node].isDead }

    /// The world after an event.
    func after(_ event: Event) -> Self {
        var next = self
        next.happen(event)
        return next
    }

    mutating func happen(_ event: Event) {
        switch event {
        case .time(let span):
            now += span
            for node in nodes.indices where isAwake(node) { tick(node) }
        case .call(let node, let index, let isDone, let isAnswered): call(node, index, isDone, isAnswered)
        case .ended(let node, let name):
            guard let run = nodes[node].ending.removeValue(forKey: name) else { return }
            tell(node, .ended(name, run: run))
        case .wanted(let node, let name): tell(node, .wanted(name))
        case .unwanted(let node, let name): tell(node, .unwanted(name))
        case .refused(let node, let name): tell(node, .refused(name))
        case .freeze(let node): nodes[node].isFrozen = true
        case .wake(let node, let isTimeFirst):
            nodes[node].isFrozen = false
            if isTimeFirst { tick(node) }
            let answers = nodes[node].answers
            nodes[node].answers = []
            for answer in answers { tell(node, answer) }
            tick(node)
        case .kill(let node):
            nodes[node].isDead = true
            (nodes[node].running, nodes[node].ending) = ([:], [:])
        }
        check()
    }

    /// Does what an executor does when its timer is due.
    private mutating func tick(_ node: Int) {
        guard let time = nodes[node].machine.nextTime(after: now), time <= now else { return }
        var standings: [LeaseName: LeaseKeeping.Standing] = [:]
        for (name, start) in nodes[node].starts where nodes[node].running[name] != nil {
            standings[name] = now - start >= Self.turn ? .served : .working
        }
        tell(node, .time(standings))
    }

    private mutating func tell(_ node: Int, _ event: LeaseKeeping.Event) {
        guard isAwake(node) else {
            if !nodes[node].isDead { nodes[node].answers.append(event) }
            return
        }
        for action in nodes[node].machine.handle(event, at: now) { perform(action, node) }
    }

    private mutating func perform(_ action: LeaseKeeping.Action, _ node: Int) {
        switch action {
        case .list, .take, .renew, .release: nodes[node].calls.append(action)
        case .start(let name, let run):
            expect(
                nodes[node].running[name] == nil && nodes[node].ending[name] == nil,
                "\(name.id) starts twice on \(node)")
            nodes[node].running[name] = run
            nodes[node].starts[name] = now
            starts[name, default: 0] += 1
        case .stop(let name, let run):
            expect(nodes[node].running[name] == run, "\(name.id) is stopped and does not run on \(node)")
            nodes[node].running[name] = nil
            nodes[node].ending[name] = run
        case .suspend(let name, let run):
            expect((nodes[node].running[name] ?? nodes[node].ending[name]) == run, "\(name.id) is suspended on \(node)")
            nodes[node].running[name] = nil
            nodes[node].ending[name] = nil
            tell(node, .ended(name, run: run))
        }
    }

    /// Does what the storage does, by its own clock.
    private mutating func call(_ node: Int, _ index: Int, _ isDone: Bool, _ isAnswered: Bool) {
        let action = nodes[node].calls.remove(at: index)
        let name = "n\(node)"
        let answer: LeaseKeeping.Event?
        switch action {
        case .list(let database):
            let live = table.filter { $0.value.until > now }
            let listed = Dictionary(
                uniqueKeysWithValues: live.compactMap { job, row in
                    LeaseName(database, job: job).map { ($0, row.node) }
                })
            answer = .listed(database, isDone && isAnswered ? listed : nil)
        case .take(let database, let names):
            var taken: [JobLease] = []
            for job in names.map(\.job) where isDone && (table[job]?.until ?? .zero) <= now {
                let term = (table[job]?.term ?? 0) + 1
                table[job] = Row(node: name, term: term, until: now + Self.term)
                taken.append(JobLease(job: job, term: term))
            }
            answer = .took(database, isAnswered ? taken : [])
        case .renew(let database, let leases):
            var kept: [JobLease] = []
            for lease in leases.values where isDone {
                guard let row = table[lease.job], row.node == name, row.term == lease.term, row.until > now else {
                    continue
                }
                table[lease.job]?.until = now + Self.term
                kept.append(lease)
            }
            answer = .renewed(database, isDone && isAnswered ? kept : nil)
        case .release(_, let leases):
            for lease in leases where isDone && table[lease.job]?.node == name && table[lease.job]?.term == lease.term {
                table[lease.job]?.until = now
            }
            answer = nil
        case .start, .stop, .suspend: answer = nil
        }
        if let answer { tell(node, answer) }
    }

    private mutating func check() {
        for job in Set(nodes.flatMap { Array($0.running.keys) + Array($0.ending.keys) }) {
            let runners = runners(of: job)
            expect(runners.count < 2, "\(job.id) runs on \(runners)")
            for node in runners {
                let row = table[job.job]
                expect(
                    row?.node == "n\(node)" && row.map { $0.until > now } == true,
                    "\(job.id) runs on \(node) without its lease")
            }
        }
        for node in nodes.indices {
            let runs = nodes[node].running.keys.count { $0.kind == .run } + nodes[node].ending.count
            expect(runs <= room, "\(node) has no room for \(runs) runs")
        }
    }

    mutating func expect(_ isTrue: Bool, _ problem: @autoclosure () -> String) {
        if !isTrue { problems.append("\(now): \(problem())") }
    }
}

extension LeaseWorld {
    /// A text that is equal for worlds that go on alike.
    var key: String {
        let rows = table.sorted { $0.key < $1.key }.map {
            "\($0.key)\($0.value.node)\(max($0.value.until - now, .zero))"
        }
        return "\(rows)" + nodes.map { key(of: $0) }.joined()
    }

    private func key(of node: Node) -> String {
        let wishes = node.machine.wishes.sorted { $0.key < $1.key }.map { name, wish in
            "\(name.job)\(wish.count)\(wish.isAsked)\(wish.freeSince.map { min(now - $0, .seconds(5)) } as Any)"
        }
        let holdings = node.machine.holdings.sorted { $0.key < $1.key }.map { name, holding in
            "\(name.job)\(holding.lease != nil)\(now - holding.renewed)\(holding.isNew)\(holding.isLeaving)"
        }
        let calls = node.calls.map { "\($0)" }.sorted()
        let place = node.machine.places[Self.database]
        return "\(wishes)\(holdings)\(calls)\(place?.isKnown as Any)\(node.isFrozen)\(node.isDead)\(node.answers.count)"
            + "\((place?.renewing?.sent).map { now - $0 } as Any)\((place?.taking?.sent).map { now - $0 } as Any)"
    }

    /// Lets time pass in which all calls are done at once and runs end when they are to.
    mutating func pass(_ span: Duration, step: Duration = .milliseconds(500)) {
        let end = now + span
        while now < end {
            happen(.time(step))
            settle()
        }
    }

    /// Does all calls, and ends all runs that are to end.
    mutating func settle() {
        var isAtRest = false
        while !isAtRest {
            isAtRest = true
            for node in nodes.indices where isAwake(node) {
                while !nodes[node].calls.isEmpty {
                    happen(.call(node: node, 0, isDone: true, isAnswered: true))
                    isAtRest = false
                }
                for name in nodes[node].ending.keys.sorted() {
                    happen(.ended(node: node, name))
                    isAtRest = false
                }
            }
        }
    }
}
