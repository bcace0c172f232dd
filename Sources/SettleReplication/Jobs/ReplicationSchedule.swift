internal import SettlePlatform

/// Decides which of many replications run while there is room for only a few: turns, retries and room.
///
///     added ─▶ waiting ─▶ running ─▶ it ended: completed, or failed and not retried. The job is forgotten
///                ▲ ▲        │ │
///                │ └─ turn ─┘ └──▶ crashing    it failed, and waits longer after each failure in a row
///                └────────────────────┘
///
/// Jobs wait in one queue. While some wait, continuous runs are stopped after their turn and go to the end of the
/// queue. Nothing is lost, because they continue from their checkpoints. Runs that can't reach a peer make room
/// first. A turn does not end before the run has copied something, waits for changes or can't reach a peer, because
/// turns shorter than a run's first requests would never copy anything. A run that has done nothing yet gets a
/// minute.
///
/// The value makes no calls and knows no clock. An executor reports each event with its time and performs the
/// returned actions. An event takes constant time on average, whatever the number of jobs; the end of a turn visits
/// all runs.
struct ReplicationSchedule: Sendable {
    /// The state of a run.
    enum Progress: Sendable {
        /// It is making its first requests.
        case beginning
        /// It has copied something, or waits for changes.
        case working
        /// It can't reach a peer.
        case away
    }

    /// The way a run has ended.
    enum Ending: Sendable {
        case completed, failed
        /// It has failed after it had checked changes, or with a permanent error, such as the refusal of a peer.
        case interrupted
    }

    enum Event: Sendable {
        /// A job was added; ignored if there is one of the same name.
        case added(String, isContinuous: Bool, isRetried: Bool)
        case removed(String)
        /// The run of a removed job must end at once, if it has not ended yet.
        case hurried(String)
        case ended(run: Int, Ending)
        /// The delay after a failed run is over.
        case retryDue(String, run: Int)
        /// The turn that ``Action/ring`` has started is over. The value has the states of the runs; a missing run
        /// is still preparing.
        case turn([Int: Progress])
        /// No more runs may start.
        case stopping
    }

    enum Action: Sendable, Equatable {
        case start(String, run: Int)
        /// Stop a run; it ends after it has stored what it has fetched.
        case stop(run: Int)
        /// Stop a run at once.
        case suspend(run: Int)
        /// The run of a job has ended to make room, and the job waits again.
        case yielded(String)
        /// The run of a job has failed: report ``Event/retryDue(_:run:)`` after a delay.
        case retry(String, run: Int, failures: Int)
        /// A job is done.
        case forget(String)
        /// Report ``Event/turn(_:)`` when a turn is over.
        case ring
    }

    enum Phase {
        /// It is in the queue, with a ticket.
        case waiting(ticket: Int)
        /// The run of a removed job of the same name has not ended yet.
        case blocked
        case running(Int)
        case crashing(run: Int)
    }

    struct Job {
        let isContinuous: Bool
        let isRetried: Bool
        var phase: Phase
        var failures = 0
    }

    struct Run {
        let job: String
        let start: Duration
        let isContinuous: Bool
        var isEnding = false
        var isRemoved = false
    }

    let room: Int
    let turn: Duration
    var jobs: [String: Job] = [:]
    /// The waiting jobs with their tickets. Entries of jobs that no longer wait are skipped.
    var queue = Queue<(job: String, ticket: Int)>()
    var runs: [Int: Run] = [:]
    /// The runs of removed jobs, by the job's name.
    var leaving: [String: Int] = [:]
    var lastTicket = 0
    var lastRun = 0
    var isRinging = false
    var isStopped = false
    /// The number of jobs that are in the queue.
    var waitingCount = 0
    /// The number of jobs that wait for a retry.
    var crashingCount = 0

    /// Creates a schedule without jobs.
    ///
    /// - Parameters:
    ///   - room: The maximum number of jobs that run at the same time, at least one.
    ///   - turn: The time after which a continuous job makes room for waiting ones.
    init(room: Int, turn: Duration) { (self.room, self.turn) = (max(1, room), turn) }

    /// The number of runs that have not ended.
    var runningCount: Int { runs.count }

    /// The state of a job; `nil` for an unknown name.
    func state(of job: String) -> ReplicationState? {
        switch jobs[job]?.phase {
        case .waiting?, .blocked?: .pending
        case .running?: .running
        case .crashing?: .crashing
        case nil: nil
        }
    }

    /// Whether the result of a run still matters.
    func isWanted(run: Int) -> Bool { !isStopped && runs[run]?.isRemoved == false }

    /// Handles an event, and returns the next actions in order.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - now: The time since any fixed moment.
    /// - Returns: The actions.
    mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        switch event {
        case .added(let name, let isContinuous, let isRetried):
            guard jobs[name] == nil, !isStopped else { return [] }
            jobs[name] = Job(isContinuous: isContinuous, isRetried: isRetried, phase: .blocked)
            if leaving[name] == nil { enqueue(name) }
            return fill(now)
        case .removed(let name): return remove(name) + fill(now)
        case .hurried(let name): return leaving[name].map { [.suspend(run: $0)] } ?? []
        case .ended(let run, let ending): return end(run, ending, now) + fill(now)
        case .retryDue(let name, let run):
            guard case .crashing(run)? = jobs[name]?.phase, !isStopped else { return [] }
            crashingCount -= 1
            enqueue(name)
            return fill(now)
        case .turn(let progress): return endTurns(progress, now)
        case .stopping:
            isStopped = true
            return runs.keys.sorted().map { .suspend(run: $0) }
        }
    }
}

// MARK: - Runs

/// Starts and ends runs.
extension ReplicationSchedule {
    /// The maximum time that a run that has done nothing yet may occupy room while other jobs wait.
    private static var patience: Duration { .seconds(60) }
    /// The time after which an interrupted run resets the failure count, as in CouchDB. It counts from the start, also
    /// while a peer can't be reached.
    private static var health: Duration { .seconds(120) }

    /// Starts waiting jobs while there is room. If some have to wait, asks for the end of a turn.
    mutating func fill(_ now: Duration) -> [Action] {
        var actions: [Action] = []
        while !isStopped, runs.count < room, let name = dequeue(), let job = jobs[name] {
            lastRun += 1
            runs[lastRun] = Run(job: name, start: now, isContinuous: job.isContinuous)
            jobs[name]?.phase = .running(lastRun)
            actions.append(.start(name, run: lastRun))
        }
        if waitingCount > 0, !isRinging, !isStopped {
            isRinging = true
            actions.append(.ring)
        }
        return actions
    }

    mutating func end(_ number: Int, _ ending: Ending, _ now: Duration) -> [Action] {
        guard let run = runs.removeValue(forKey: number) else { return [] }
        let name = run.job
        if run.isRemoved {
            leaving[name] = nil
            // The next job of this name has waited for the end of this run.
            if jobs[name] != nil, !isStopped { enqueue(name) }
            return []
        }
        guard let job = jobs[name], !isStopped else { return [] }
        switch ending {
        case .completed where run.isEnding:
            jobs[name]?.failures = 0
            enqueue(name)
            return [.yielded(name)]
        case .failed where job.isRetried, .interrupted where job.isRetried:
            let wasHealthy = ending == .interrupted && now - run.start >= Self.health
            let failures = wasHealthy ? 1 : job.failures + 1
            jobs[name]?.phase = .crashing(run: number)
            jobs[name]?.failures = failures
            crashingCount += 1
            return [.retry(name, run: number, failures: failures)]
        case .completed, .failed, .interrupted:
            jobs[name] = nil
            return [.forget(name)]
        }
    }

    /// Whether a run may be stopped to make room.
    func hasHadTurn(run: Int, _ progress: Progress, _ now: Duration) -> Bool {
        guard let run = runs[run], run.isContinuous else { return false }
        return now - run.start >= (progress == .beginning ? max(turn, Self.patience) : turn)
    }

    /// Stops runs whose turn is over, as many as there are waiting jobs: first those that can't reach a peer, then
    /// the oldest.
    mutating func endTurns(_ progress: [Int: Progress], _ now: Duration) -> [Action] {
        guard waitingCount > 0, !isStopped else {
            isRinging = false
            return []
        }
        let needed = waitingCount - runs.values.count(where: \.isEnding)
        let ended = progress.filter { number, progress in
            runs[number]?.isEnding == false && hasHadTurn(run: number, progress, now)
        }
        let first = ended.sorted { left, right in
            (left.value == .away) == (right.value == .away) ? left.key < right.key : left.value == .away
        }.prefix(max(0, needed))
        for (number, _) in first { runs[number]?.isEnding = true }
        return first.map { .stop(run: $0.key) } + [.ring]
    }
}

/// The queue of waiting jobs.
extension ReplicationSchedule {
    mutating func enqueue(_ name: String) {
        lastTicket += 1
        jobs[name]?.phase = .waiting(ticket: lastTicket)
        queue.append((name, lastTicket))
        waitingCount += 1
    }

    private mutating func dequeue() -> String? {
        while let (name, ticket) = queue.popFirst() {
            guard isWaiting(name, ticket) else { continue }
            waitingCount -= 1
            return name
        }
        return nil
    }

    private func isWaiting(_ name: String, _ ticket: Int) -> Bool {
        if case .waiting(ticket)? = jobs[name]?.phase { true } else { false }
    }

    mutating func remove(_ name: String) -> [Action] {
        switch jobs.removeValue(forKey: name)?.phase {
        case .waiting?:
            waitingCount -= 1
            tidyQueue()
        case .running(let run)?:
            leaving[name] = run
            runs[run]?.isEnding = true
            runs[run]?.isRemoved = true
            return [.stop(run: run)]
        case .crashing?: crashingCount -= 1
        case .blocked?, nil: break
        }
        return []
    }

    /// Removes the entries of jobs that no longer wait, when they are the majority.
    private mutating func tidyQueue() {
        guard queue.count > 2 * waitingCount + 32 else { return }
        var tidy = Queue<(job: String, ticket: Int)>()
        while let entry = queue.popFirst() { if isWaiting(entry.job, entry.ticket) { tidy.append(entry) } }
        queue = tidy
    }
}
