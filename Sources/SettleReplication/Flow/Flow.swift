internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// The flow of documents from a source to a target: a state machine without I/O, clock or randomness.
///
///     changes ─→ unread ─→ compare ─→ wanted ─→ fetch ─→ fetched ─→ store ─→ done, refused, failed
///        ▲                    │                   │                            │
///     read ahead          nothing missing     bytes are taken             bytes are given back
///
/// Events come in, actions go out (``handle(_:jitter:)``); several calls of each kind are under way at once. What holds
/// whatever the order of events:
///
/// - A document is in one place at a time: a change of one that is on its way is parked until that is done. So every
///   missing revision is fetched once, and stored once or listed.
/// - All missing leaves of a document are stored in one call, unless they would not fit into memory together.
/// - The bytes that are on their way never exceed the limit, but for revisions that alone are larger.
/// - The tracker's position passes a change only when all of it is stored, known, gone or listed as refused.
struct Flow: Sendable {
    /// A call that is under way, or waits for another attempt.
    struct Call: Sendable {
        enum Work: Sendable {
            case read(ChangesRequest)
            case compare([FlowRow])
            case fetch([FlowJob], budget: Int)
            case store([FlowJob])
            case again([FlowJob])
            case later([FlowRow])
            case probe
        }

        var work: Work
        var failures = 0
        var isWaiting = false
    }

    let settings: FlowSettings
    var tracker: SequenceTracker
    var counts: ReplicationCounts
    var calls: [Int: Call] = [:]
    private var lastCall = 0
    var since: PeerSequence
    var unread = Queue<FlowRow>()
    var wanted = Queue<FlowJob>()
    var fetched = Queue<FlowJob>()
    var onTheWay: Set<DocumentID> = []
    var parked: [DocumentID: FlowRow] = [:]
    /// Rows of documents that hold the position, until a later change of them is done.
    var held: [DocumentID: Set<Int>] = [:]
    /// Documents that failed and are tried again after a while.
    var failedRows: [DocumentID: FlowRow] = [:]
    var bytesOnTheWay = 0
    var sizer: BatchSizer
    var fetchSearch = BatchBisection()
    var storeSearch = BatchBisection()
    var isReading = false
    var comparing = 0
    var fetching = 0
    var storing = 0
    /// All changes there were are read.
    var hasReachedEnd = false
    /// The number of changes that the source has beyond those that were read.
    var pending = 0
    /// The most changes a one-shot replication reads if positions are not numbers.
    var maximumRows: Int?
    var isStopping = false
    /// It has ended; nothing more is done.
    var isOver = false
    /// The calls that did not reach their peer when they were made last.
    private var lost: [Int: PeerError] = [:]
    /// Rows that were done when all was done last.
    private var doneBefore = 0

    init(_ settings: FlowSettings, counts: ReplicationCounts = ReplicationCounts()) {
        self.settings = settings
        self.counts = counts
        tracker = SequenceTracker(at: settings.start)
        since = settings.start
        sizer = BatchSizer(most: settings.limits.revisions)
    }

    /// Handles an event, and returns the next actions.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - jitter: A random number from 0 to 1, for delays.
    /// - Returns: What to do, all at once.
    mutating func handle(_ event: FlowEvent, jitter: Double) -> [FlowAction] {
        guard !isOver else { return [] }
        var actions: [FlowAction] = []
        switch event {
        case .begin: break
        case .changes(let id, .success(let page)): receive(page, of: id, &actions)
        case .differences(let id, .success(let rows)): receive(rows, of: id, &actions)
        case .revisions(let id, .success(let answers), let time): receive(answers, of: id, time, jitter, &actions)
        case .outcomes(let id, .success(let outcomes)): receive(outcomes, of: id, jitter, &actions)
        case .changes(let id, .failure(let error)), .differences(let id, .failure(let error)),
            .revisions(let id, .failure(let error), _), .outcomes(let id, .failure(let error)):
            fail(id, error, jitter, &actions)
        case .time(let id): if calls[id]?.isWaiting == true { resume(id, &actions) }
        case .probed(let id, .success): _ = end(id)
        // A reachable server that refuses will say so in its answer to the next request.
        case .probed(let id, .failure(let error)) where !error.isTransient: _ = end(id)
        case .probed(let id, .failure(let error)): fail(id, error, jitter, &actions)
        case .network: networkChanged(&actions)
        case .stop: stop()
        }
        if !isOver { advance(&actions) }
        return actions
    }

    /// The reason why a peer can't be reached, if so: of the calls that did not reach theirs, the one that began first tells.
    var unreachable: PeerError? { lost.min { $0.key < $1.key }?.value }

    /// Whether there is nothing to do but to wait for changes.
    var isIdle: Bool { settings.isContinuous && hasReachedEnd && tracker.openCount == 0 }

    /// How many of how many changes are done since there was nothing to do last.
    var progress: (completed: Int, total: Int) {
        let done = tracker.nextRow - tracker.openCount
        return (done - doneBefore, tracker.nextRow + pending - doneBefore)
    }

    /// Progress is counted from here on.
    mutating func restartProgress() { doneBefore = tracker.nextRow - tracker.openCount }

    /// Begins a call.
    mutating func call(_ work: Call.Work, _ actions: inout [FlowAction]) {
        lastCall += 1
        calls[lastCall] = Call(work: work)
        issue(lastCall, work, &actions)
    }

    /// Begins a call that waits first.
    mutating func call(_ work: Call.Work, after delay: Duration, _ actions: inout [FlowAction]) {
        lastCall += 1
        calls[lastCall] = Call(work: work, isWaiting: true)
        actions.append(.wait(lastCall, delay))
    }

    /// A call has succeeded; returns its work.
    mutating func end(_ id: Int) -> Call.Work? {
        lost[id] = nil
        return calls.removeValue(forKey: id)?.work
    }

    /// Makes calls again that wait, and looks whether idle peers are still there.
    private mutating func networkChanged(_ actions: inout [FlowAction]) {
        for id in calls.filter({ $0.value.isWaiting }).keys.sorted() { resume(id, &actions) }
        let isProbing = calls.contains { if case .probe = $0.value.work { true } else { false } }
        if settings.isContinuous, !isProbing, !isStopping { call(.probe, &actions) }
    }

    /// Begins to stop: what waits for another attempt to be stored stays for the next run.
    private mutating func stop() {
        isStopping = true
        for (id, call) in calls where call.isWaiting { giveUp(id, call.work) }
    }

    /// Lets go of what can't be stored now, and of what would be stored after it.
    private mutating func giveUp(_ id: Int, _ work: Call.Work) {
        guard case .store = work else { return }
        calls[id] = nil
        storing -= 1
        fetched = Queue()
    }

    private mutating func resume(_ id: Int, _ actions: inout [FlowAction]) {
        guard let call = calls[id] else { return }
        switch call.work {
        case .again(let jobs):
            calls[id] = nil
            for job in jobs.reversed() { wanted.putBack(job) }
        case .later(let rows):
            calls[id] = nil
            for row in rows {
                failedRows[row.change.id] = nil
                unread.append(row)
            }
        default:
            calls[id]?.isWaiting = false
            issue(id, call.work, &actions)
        }
    }

    private func issue(_ id: Int, _ work: Call.Work, _ actions: inout [FlowAction]) {
        switch work {
        case .read(let request): actions.append(.read(id, request))
        case .compare(let rows): actions.append(.compare(id, rows.map(\.change)))
        case .fetch(let jobs, let budget): actions.append(.fetch(id, jobs.flatMap(\.requests), budget: budget))
        case .store(let jobs): actions.append(.store(id, jobs.flatMap(\.received)))
        case .probe: actions.append(.probe(id))
        case .again, .later: break
        }
    }

    /// A call has failed: it is made again later, in parts, or is the end.
    mutating func fail(_ id: Int, _ error: PeerError, _ jitter: Double, _ actions: inout [FlowAction]) {
        guard var call = calls[id] else { return }
        call.failures += 1
        lost[id] = [.unreachable, .connectionLost, .timedOut].contains(error.code) ? error : nil
        if error.isTransient, isStopping { return giveUp(id, call.work) }
        let mayBeOneDocument = error.isTransient && [.serverError, .badAnswer].contains(error.code)
        if mayBeOneDocument, part(id, call, error, jitter, &actions) { return }
        if error.isTransient, settings.isContinuous || call.failures < settings.retry.attempts {
            call.isWaiting = true
            calls[id] = call
            let delay = settings.retry.delay(
                after: call.failures, jitter: jitter, retryAfter: error.retryAfter)
            return actions.append(.wait(id, delay))
        }
        if [.tooLarge, .badRequest, .badAnswer].contains(error.code), split(id, call.work, error, jitter, &actions) {
            return
        }
        isOver = true
        actions.append(.end(error))
    }
}

// MARK: - FlowAction

/// What a flow wants done; each call by its number is answered by an event with that number.
enum FlowAction: Sendable {
    /// Read changes.
    case read(Int, ChangesRequest)
    /// Compare changes with what the target has.
    case compare(Int, [ChangedDocument])
    /// Fetch revisions, of so many bytes at the most.
    case fetch(Int, [RevisionRequest], budget: Int)
    /// Store revisions.
    case store(Int, [PeerRevision])
    /// Look whether the peers that are reached over a network are there.
    case probe(Int)
    /// Wait.
    case wait(Int, Duration)
    /// Report the outcome of a document.
    case report(DocumentReport)
    /// All of these documents is at the target.
    case present([DocumentID])
    /// The source is not what it was: begin anew from the logs.
    case startOver
    /// It has ended: all is done, or it was stopped, or it can't go on.
    case end(PeerError?)
}

// MARK: - FlowEvent

/// What happens to a flow; see ``Flow``.
enum FlowEvent: Sendable {
    /// It begins.
    case begin
    /// Changes were read, or not.
    case changes(Int, Result<ChangesPage, PeerError>)
    /// Changes were compared with what the target has, or not.
    case differences(Int, Result<[RevisionsDiff], PeerError>)
    /// Revisions were fetched, or not, and how long it took.
    case revisions(Int, Result<[RevisionAnswer], PeerError>, took: Duration)
    /// Revisions were stored, or not.
    case outcomes(Int, Result<[StoreOutcome], PeerError>)
    /// Peers were looked for, and are there or not.
    case probed(Int, Result<Void, PeerError>)
    /// The time has come that a call was to wait for.
    case time(Int)
    /// The network changed: what waits for another attempt need not wait, and who was there may not be.
    case network
    /// Store what is here, and begin nothing else.
    case stop
}

// MARK: - BatchSizer

/// How many revisions to request at once, so that a response takes neither too short nor too long.
struct BatchSizer: Sendable {
    private(set) var revisions: Int
    private let most: Int
    private static let least = 10

    init(most: Int) {
        self.most = max(1, most)
        revisions = min(self.most, 200)
    }

    /// Records that the peer did not accept a batch of this size.
    mutating func halve() { revisions = max(1, revisions / 2) }

    /// Learns from the duration of a complete batch.
    mutating func learn(_ count: Int, took time: Duration) {
        if time > .seconds(4) {
            revisions = max(min(most, Self.least), revisions / 2)
        } else if time < .milliseconds(500), count >= revisions {
            revisions = revisions > most / 2 ? most : revisions * 2
        }
    }
}
