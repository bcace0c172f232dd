@testable import SettleReplication

/// An executor of ``ReplicationSchedule`` and its clock, as a value: who waits, runs and crashes, and what was wrong.
struct ScheduleWorld {
    typealias Event = ReplicationSchedule.Event

    /// `a`, `b` and `c` run until they are stopped; `d` is done once and not retried.
    static let names = ["a", "b", "c", "d"]
    static let turn = Duration.seconds(10)

    private let room: Int
    private(set) var machine: ReplicationSchedule
    private(set) var now = Duration.zero
    private(set) var waiting: [String] = []
    private(set) var running: [Int: (job: String, start: Duration)] = [:]
    /// Runs of removed jobs.
    private(set) var leaving: [Int: String] = [:]
    /// Jobs that wait for a leaving run of their name.
    private(set) var blocked: Set<String> = []
    private(set) var crashing: [String: (run: Int, failures: Int)] = [:]
    private(set) var makingRoom: Set<Int> = []
    private(set) var forgotten: [String] = []
    private(set) var isRinging = false
    private(set) var isStopped = false
    private(set) var problems: [String] = []
    private var progress: [Int: ReplicationSchedule.Progress] = [:]

    init(room: Int) {
        self.room = room
        machine = ReplicationSchedule(room: room, turn: Self.turn)
    }

    private var jobs: Set<String> { Set(waiting + running.values.map(\.job) + crashing.keys).union(blocked) }

    /// A text that is equal for equal worlds.
    var key: String {
        "\(machine.waitingCount)\(now)\(waiting)\(running.sorted { $0.key < $1.key })\(leaving.sorted { $0.key < $1.key })"
            + "\(blocked.sorted())\(crashing.sorted { $0.key < $1.key })\(makingRoom.sorted())\(isRinging)\(isStopped)"
    }

    /// All that can happen next.
    var events: [Event] {
        var events: [Event] = isStopped ? [] : [.stopping]
        for name in Self.names {
            events.append(
                jobs.contains(name)
                    ? .removed(name) : .added(name, isContinuous: name != "d", isRetried: name != "d"))
        }
        for run in Array(running.keys) + Array(leaving.keys) {
            events += [.ended(run: run, .completed), .ended(run: run, .failed)]
        }
        events += crashing.map { .retryDue($0.key, run: $0.value.run) }
        events += Set(leaving.values).sorted().map { .hurried($0) }
        // The delay of a job that was removed, and is there again.
        events.append(.retryDue("a", run: 0))
        if isRinging {
            for progress in [ReplicationSchedule.Progress.beginning, .working] {
                events.append(.turn(running.mapValues { _ in progress }))
            }
            // The newest can't reach its peer, and the oldest still prepares itself.
            let runs = running.keys.sorted()
            var mixed = Dictionary(
                uniqueKeysWithValues: runs.dropFirst().map { ($0, ReplicationSchedule.Progress.working) })
            if let last = runs.last { mixed[last] = .away }
            events.append(.turn(mixed))
        }
        return events
    }

    /// The world after an event.
    func after(_ event: Event) -> Self {
        var next = self
        if case .turn(let progress) = event {
            next.now += Self.turn
            (next.isRinging, next.progress) = (false, progress)
        }
        next.happen(event)
        for action in next.machine.handle(event, at: next.now) { next.perform(action) }
        next.check()
        return next
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .added(let name, _, _) where isStopped: _ = name
        case .added(let name, _, _):
            if leaving.values.contains(name) { blocked.insert(name) } else { waiting.append(name) }
        case .removed(let name):
            waiting.removeAll { $0 == name }
            blocked.remove(name)
            crashing[name] = nil
            if let (run, _) = running.first(where: { $0.value.job == name }) {
                running[run] = nil
                makingRoom.remove(run)
                leaving[run] = name
            }
        case .ended(let run, _):
            if let name = leaving.removeValue(forKey: run), blocked.remove(name) != nil, !isStopped {
                waiting.append(name)
            }
        case .retryDue(let name, let run) where crashing[name]?.run == run && !isStopped:
            waiting.append(name)
            crashing[name] = nil
        case .stopping: isStopped = true
        case .retryDue, .turn, .hurried: break
        }
        if case .ended(let run, _) = event, isStopped { running[run] = nil }
    }

    private mutating func perform(_ action: ReplicationSchedule.Action) {
        switch action {
        case .start(let name, let run):
            expect(waiting.first == name, "\(name) starts before \(waiting)")
            expect(!leaving.values.contains(name), "\(name) starts while an earlier run of it has not ended")
            expect(!isStopped, "\(name) starts after the end")
            if waiting.first == name { waiting.removeFirst() }
            running[run] = (name, now)
        case .stop(let run) where leaving[run] != nil: break
        case .stop(let run):
            makingRoom.insert(run)
            guard let (name, start) = running[run] else { return expect(false, "\(run) is stopped and does not run") }
            expect(name != "d", "a one-shot replication is stopped to make room")
            expect(now - start >= Self.turn, "\(name) is stopped before its turn is over")
            let hasBegun = [.working, .away].contains(progress[run])
            expect(hasBegun || now - start >= .seconds(60), "\(name) is stopped before it has done anything")
        case .suspend(let run):
            expect(isStopped || leaving[run] != nil, "\(run) is suspended though nobody wants it to end")
        case .yielded(let name):
            guard let (run, _) = running.first(where: { $0.value.job == name }) else { return }
            expect(makingRoom.remove(run) != nil, "\(name) yields and was not asked to")
            running[run] = nil
            waiting.append(name)
        case .retry(let name, let run, let failures):
            expect(running.removeValue(forKey: run)?.job == name && name != "d", "\(name) is tried again")
            makingRoom.remove(run)
            crashing[name] = (run, failures)
        case .forget(let name):
            guard let (run, _) = running.first(where: { $0.value.job == name }) else { return }
            running[run] = nil
            forgotten.append(name)
        case .ring:
            expect(!isRinging, "two turns are measured at the same time")
            isRinging = true
        }
    }

    private mutating func check() {
        expect(running.count + leaving.count <= room, "\(running) and \(leaving) have no room")
        expect(isStopped || waiting.isEmpty || running.count + leaving.count == room, "\(waiting) wait for nothing")
        expect(isStopped || waiting.isEmpty || isRinging, "\(waiting) wait without a turn")
        expect(machine.runningCount == running.count + leaving.count, "the machine counts runs wrongly")
        expect(isStopped || machine.waitingCount == waiting.count, "the machine counts waiting jobs wrongly")
        expect(machine.crashingCount == crashing.count, "the machine counts crashing jobs wrongly")
        for name in Self.names {
            let state: ReplicationState? =
                crashing[name] != nil
                ? .crashing
                : running.values.contains { $0.job == name } ? .running : jobs.contains(name) ? .pending : nil
            expect(isStopped || machine.state(of: name) == state, "\(name) is \(state as Any)")
        }
    }

    private mutating func expect(_ isTrue: Bool, _ problem: String) {
        if !isTrue { problems.append(problem) }
    }
}
