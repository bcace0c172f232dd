@testable import SettleDatabase

/// An executor of ``GroupCommit`` and its database, as a value: the open transaction, the committed changes, and the outcome
/// that each woken writer got.
struct GroupCommitWorld {
    typealias Machine = GroupCommit<Int>

    /// The action whose end is awaited.
    enum Doing {
        case run(Int, Machine.Place)
        case commit, rollBack, close
    }

    /// Waiters with this number or a higher one wait for the end.
    static let firstCloser = 90

    private(set) var machine: Machine
    /// Whether each arrived writer writes alone.
    private(set) var writers: [Bool] = []
    private(set) var doing: Doing?
    /// The writers whose changes are in the open transaction, if there is one.
    private(set) var open: [Int]?
    private(set) var durable: Set<Int> = []
    private(set) var failed: Set<Int> = []
    private(set) var woken: [Int: Machine.Outcome] = [:]
    private(set) var closings = 0
    private(set) var closers: Set<Int> = []
    private(set) var isClosed = false
    private(set) var problems: [String] = []

    init(largestBatch: Int, maximumBytes: Int = .max) {
        machine = Machine(largestBatch: largestBatch, maximumBytes: maximumBytes)
    }

    /// A text that is equal for equal worlds.
    var key: String {
        "\(machine)\(writers)\(doing as Any)\(open as Any)\(durable.sorted())\(failed.sorted())\(closings)"
            + "\(woken.sorted { $0.key < $1.key })"
    }

    /// All possible next events, with up to `count` writers.
    func events(writers count: Int) -> [Machine.Event] {
        var events: [Machine.Event] = []
        if writers.count < count { events += [false, true].map { .arrived(writers.count, alone: $0) } }
        if closings == 0 { events.append(.closing(nil)) }
        if closings < 2 { events.append(.closing(Self.firstCloser + closings)) }
        switch doing {
        case .run?: events += [.wrote(.kept), .wrote(.failed), .wrote(.lost)]
        case .commit?: events += [.committed, .commitFailed]
        case .rollBack?: events.append(.rolledBack)
        case .close?: events.append(.closed)
        case nil: break
        }
        return events
    }

    /// The world after an event.
    func after(_ event: Machine.Event) -> Self {
        var next = self
        next.happen(event)
        for action in next.machine.handle(event) { next.perform(action) }
        return next
    }

    private mutating func happen(_ event: Machine.Event) {
        switch (event, doing) {
        case (.arrived(_, let alone, _), _): writers.append(alone)
        case (.closing(let closer), _):
            closings += 1
            if let closer { closers.insert(closer) }
        case (.wrote(let ending), .run(let writer, let place)?):
            doing = nil
            if ending != .kept { failed.insert(writer) }
            if ending == .lost, place != .alone { open = [] }
            guard ending == .kept else { return }
            if place == .alone { durable.insert(writer) } else { open?.append(writer) }
        case (.committed, _):
            durable.formUnion(open ?? [])
            (doing, open) = (nil, nil)
        case (.rolledBack, _): (doing, open) = (nil, nil)
        case (.closed, _): (doing, isClosed) = (nil, true)
        default: doing = nil
        }
    }

    private mutating func perform(_ action: Machine.Action) {
        switch action {
        case .run(let writer, let place):
            expect(doing == nil && woken[writer] == nil, "\(writer) runs while another does, or after it was woken")
            expect(closings == 0, "\(writer) runs after closing")
            expect((open != nil) == (place == .savepoint), "\(writer) runs as \(place) with \(open as Any) open")
            expect((place == .alone) == writers[writer], "\(writer) runs as \(place)")
            if place == .transaction { open = [] }
            doing = .run(writer, place)
        case .commit, .rollBack:
            expect(doing == nil && open != nil, "\(action) without a transaction")
            if case .commit = action { doing = .commit } else { doing = .rollBack }
        case .close:
            expect(doing == nil && open == nil && !isClosed && closings > 0, "closes too early or twice")
            doing = .close
        case .wake(let waiters, let outcome): for waiter in waiters { wake(waiter, outcome) }
        }
    }

    private mutating func wake(_ waiter: Int, _ outcome: Machine.Outcome) {
        expect(woken[waiter] == nil, "\(waiter) is woken twice")
        woken[waiter] = outcome
        guard waiter < Self.firstCloser else { return expect(isClosed, "\(waiter) is woken too early") }
        let isRight =
            switch outcome {
            case .done: durable.contains(waiter)
            case .failed: failed.contains(waiter) && !durable.contains(waiter)
            case .lost: !failed.contains(waiter) && !durable.contains(waiter) && open == nil
            case .closed: closings > 0 && !failed.contains(waiter) && !durable.contains(waiter)
            }
        expect(isRight, "\(waiter) is woken as \(outcome)")
    }

    private mutating func expect(_ holds: Bool, _ problem: String) { if !holds { problems.append(problem) } }

    /// The violations now; if no work is in progress, every waiter must have been woken.
    var found: [String] {
        guard doing == nil else { return problems }
        let sleeping = (Array(writers.indices) + closers).filter { woken[$0] == nil }
        let isOver = sleeping.isEmpty && open == nil && isClosed == (closings > 0)
        return isOver ? problems : problems + ["nothing is under way, but \(sleeping) wait or something is open"]
    }
}
