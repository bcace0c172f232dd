internal import SettlePlatform

/// Decides which of many replications run while there is room for a few: turns, retries and room.
///
///     added ─▶ waiting ─▶ running ─▶ it ended: completed, or failed and not retried. The job is forgotten
///                ▲ ▲        │ │
///                │ └─ turn ─┘ └──▶ crashing    it failed, and waits longer after each failure in a row
///                └────────────────────┘
///
/// Jobs wait in one queue. While some wait, continuous ones that run are stopped after their turn and go to the end of the
/// queue; nothing is lost, for they continue from their checkpoints. Runs that can't reach a peer make room first. A turn does
/// not end before the run has copied something, waits for changes or can't reach a peer, because turns shorter than a run's
/// first requests would never copy anything. A run that has done nothing gets a minute.
///
/// The value makes no calls and knows no clock. An executor reports each event with its time and performs the returned actions.
/// An event takes constant time on average, whatever the number of jobs; the end of a turn goes over those that run.
struct ReplicationSchedule: Sendable {
    /// How a run does.
    enum Progress: Sendable {
        /// It makes its first requests.
        case beginning
        /// It has copied something, or waits for changes.
        case working
        /// It can't reach a peer.
        case away
    }

    /// How a run ended.
    enum Ending: Sendable {
        case completed, failed
    }

    enum Event: Sendable {
        /// There is another job; ignored if there is one of its name.
        case added(String, isContinuous: Bool, isRetried: Bool)
        case removed(String)
        /// The run of a removed job, if it has not ended, is to end at once.
        case hurried(String)
        case ended(run: Int, Ending)
        /// The delay after a failed run is over.
        case retryDue(String, run: Int)
        /// The turn is over for which ``Action/ring`` asked. Says how runs do; one that is missing still prepares itself.
        case turn([Int: Progress])
        /// Nothing runs from now on.
        case stopping
    }

    enum Action: Sendable, Equatable {
        case start(String, run: Int)
        /// Stop a run; it ends once it has stored what it has.
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
        /// In the queue, under a number.
        case waiting(ticket: Int)
        /// A run of a removed job of the same name has not ended yet.
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
    /// The jobs that wait, with their tickets. Entries of jobs that don't wait any more are passed over.
    var queue = Queue<(job: String, ticket: Int)>()
    var runs: [Int: Run] = [:]
    /// The runs of removed jobs, by name.
    var leaving: [String: Int] = [:]
    var lastTicket = 0
    var lastRun = 0
    var isRinging = false
    var isStopped = false
    /// How many jobs are in the queue.
    var waitingCount = 0
    /// How many jobs wait for another try.
    var crashingCount = 0

    /// Creates a schedule without jobs.
    ///
    /// - Parameters:
    ///   - room: How many jobs run at the same time, at least one.
    ///   - turn: How long a continuous one runs before it makes room for those that wait.
    init(room: Int, turn: Duration) { (self.room, self.turn) = (max(1, room), turn) }

    /// How many runs have not ended.
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

    /// Whether a run is still wanted.
    func isWanted(run: Int) -> Bool { !isStopped && runs[run]?.isRemoved == false }

    /// Takes note of an event and returns what to do, in order.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - now: The time since any fixed moment.
    /// - Returns: What to do.
    mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        switch event {
        case .added(let name, let isContinuous, let isRetried):
            guard jobs[name] == nil, !isStopped else { return [] }
            jobs[name] = Job(isContinuous: isContinuous, isRetried: isRetried, phase: .blocked)
            if leaving[name] == nil { enqueue(name) }
            return fill(now)
        case .removed(let name): return remove(name) + fill(now)
        case .hurried(let name): return leaving[name].map { [.suspend(run: $0)] } ?? []
        case .ended(let run, let ending): return end(run, ending) + fill(now)
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
