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
/// Events come in, and actions go out (``handle(_:jitter:)``). Several calls of each kind can be in progress at
/// once. These invariants hold in any order of events:
///
/// - A document is in one place at a time: a change of a document in progress is parked until that is done. So
///   every missing revision is fetched once, and stored or listed once.
/// - All missing leaves of a document are stored in one call, unless they would not fit into memory together.
/// - The bytes in memory never exceed the limit, except for a single larger revision.
/// - The tracker's position passes a change only when all of the change is stored, known, gone or listed as
///   refused.
struct Flow: Sendable {
    /// A call in progress, or one that waits for another attempt.
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

        /// Whether an error of the call shows that a peer is away. A server that can't serve at the moment counts too,
        /// unless one of the documents may be the reason. A suspended database of this process does not.
        func showsAbsence(_ error: PeerError) -> Bool {
            switch work {
            case .read, .compare, .probe: error.isTransient && error.code != .database
            case .fetch, .store, .again, .later: [.unreachable, .connectionLost, .timedOut].contains(error.code)
            }
        }
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
    /// How often the source has failed while it was asked to wait for changes, since it last waited to the end or had
    /// changes.
    var failedWaits = 0
    var comparing = 0
    var fetching = 0
    var storing = 0
    /// Whether all existing changes were read.
    var hasReachedEnd = false
    /// The number of the source's changes after those that were read.
    var pending = 0
    /// The maximum number of changes that a one-shot replication reads if positions are not numbers.
    var maximumRows: Int?
    var isStopping = false
    /// Whether the flow has ended; it then ignores events.
    var isOver = false
    /// The errors of the calls whose peer was away at the last attempt.
    private var lost: [Int: PeerError] = [:]
    /// The number of completed rows when the flow was last idle.
    private var doneBefore = 0

    init(_ settings: FlowSettings, counts: ReplicationCounts = ReplicationCounts()) {
        var settings = settings
        settings.limits = settings.limits.bounded
        self.settings = settings
        self.counts = counts
        tracker = SequenceTracker(at: settings.start)
        since = settings.start
        // Nothing is new, so there is nothing to read.
        hasReachedEnd = !settings.isContinuous && settings.start == settings.end
        sizer = BatchSizer(most: settings.limits.revisions)
    }

    /// Handles an event, and returns the next actions.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - jitter: A random number from 0 to 1, for delays.
    /// - Returns: The actions, to be performed at the same time.
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
        case .probed(let id, .success): reached(id)
        // A reachable server that refuses the probe will refuse the next request too.
        case .probed(let id, .failure(let error)) where !error.isTransient: reached(id)
        case .probed(let id, .failure(let error)): fail(id, error, jitter, &actions)
        case .network: networkChanged(&actions)
        case .stop: stop()
        }
        if !isOver { advance(&actions) }
        return actions
    }

    /// The reason why a peer can't be reached, if so. Of several errors, that of the earliest call counts.
    var unreachable: PeerError? { lost.min { $0.key < $1.key }?.value }

    /// Whether the flow only waits for changes.
    var isIdle: Bool { settings.isContinuous && hasReachedEnd && tracker.openCount == 0 }

    /// The number of completed changes, and of all changes, since the flow was last idle.
    var progress: (completed: Int, total: Int) {
        let done = tracker.nextRow - tracker.openCount
        return (done - doneBefore, tracker.nextRow + pending - doneBefore)
    }

    /// Counts progress from here on.
    mutating func restartProgress() { doneBefore = tracker.nextRow - tracker.openCount }

    /// Begins a call.
    mutating func call(_ work: Call.Work, failures: Int = 0, _ actions: inout [FlowAction]) {
        lastCall += 1
        calls[lastCall] = Call(work: work, failures: failures)
        issue(lastCall, work, &actions)
    }

    /// Begins a call after a delay.
    mutating func call(_ work: Call.Work, after delay: Duration, _ actions: inout [FlowAction]) {
        lastCall += 1
        calls[lastCall] = Call(work: work, isWaiting: true)
        actions.append(.wait(lastCall, delay))
    }

    /// Ends a successful call, and returns its work.
    mutating func end(_ id: Int) -> Call.Work? {
        lost[id] = nil
        return calls.removeValue(forKey: id)?.work
    }

    /// Repeats waiting calls at once, and probes idle peers.
    private mutating func networkChanged(_ actions: inout [FlowAction]) {
        for id in calls.filter({ $0.value.isWaiting }).keys.sorted() { resume(id, &actions) }
        probe(&actions)
    }

    /// Asks whether the peers can be reached.
    private mutating func probe(_ actions: inout [FlowAction]) {
        let isProbing = calls.contains { if case .probe = $0.value.work { true } else { false } }
        if settings.isContinuous, !isProbing, !isStopping { call(.probe, &actions) }
    }

    /// Ends a probe that reached all peers, so that calls in progress count as connected before their answers come.
    private mutating func reached(_ id: Int) {
        _ = end(id)
        lost = lost.filter { calls[$0.key]?.isWaiting == true }
    }

    /// Begins to stop. Revisions that wait for another attempt to be stored are left to the next run.
    private mutating func stop() {
        isStopping = true
        for (id, call) in calls where call.isWaiting { giveUp(id, call.work) }
    }

    /// Drops revisions that can't be stored now, and those that would be stored after them.
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
            // The answer to a large transfer takes long, and until then it would look as if the peer was still away.
            if lost[id] != nil, case .fetch = call.work { probe(&actions) }
            if lost[id] != nil, case .store = call.work { probe(&actions) }
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

    /// Handles a failed call: repeats it later, splits it, or ends the flow.
    mutating func fail(_ id: Int, _ error: PeerError, _ jitter: Double, _ actions: inout [FlowAction]) {
        guard var call = calls[id] else { return }
        call.failures += 1
        lost[id] = call.showsAbsence(error) ? error : nil
        if error.isTransient, isStopping { return giveUp(id, call.work) }
        let mayBeOneDocument = error.isTransient && [.serverError, .badAnswer].contains(error.code)
        if mayBeOneDocument, part(id, call, error, jitter, &actions) { return }
        if error.isTransient, settings.isContinuous || call.failures < settings.retry.attempts {
            call.isWaiting = true
            // The next attempt does not wait for changes, so that its answer shows at once that the source is back.
            // A source that answers it and fails again while it waits is still asked less and less often.
            if case .read(var request) = call.work {
                if request.wait != nil { failedWaits = call.failures }
                request.wait = nil
                call.work = .read(request)
            }
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

/// An action that a flow asks for. The event that answers a call has the call's number.
enum FlowAction: Sendable {
    /// Read changes.
    case read(Int, ChangesRequest)
    /// Compare changes with the target's revisions.
    case compare(Int, [ChangedDocument])
    /// Fetch revisions, up to a number of bytes.
    case fetch(Int, [RevisionRequest], budget: Int)
    /// Store revisions.
    case store(Int, [PeerRevision])
    /// Check whether the peers on the network can be reached.
    case probe(Int)
    /// Wait.
    case wait(Int, Duration)
    /// Report the outcome of a document.
    case report(DocumentReport)
    /// Report that the target has all revisions of these documents.
    case present([DocumentID])
    /// Start over from the replication logs, because the source has changed its identity.
    case startOver
    /// End: everything is done, the flow was stopped, or it can't continue.
    case end(PeerError?)
}

// MARK: - FlowEvent

/// An event that a flow handles; see ``Flow``.
enum FlowEvent: Sendable {
    /// The flow begins.
    case begin
    /// The changes, or the error of reading them.
    case changes(Int, Result<ChangesPage, PeerError>)
    /// The result of a comparison, or its error.
    case differences(Int, Result<[RevisionsDiff], PeerError>)
    /// The fetched revisions, or the error; and the time it took.
    case revisions(Int, Result<[RevisionAnswer], PeerError>, took: Duration)
    /// The outcomes of storing revisions, or the error.
    case outcomes(Int, Result<[StoreOutcome], PeerError>)
    /// The result of probing the peers.
    case probed(Int, Result<Void, PeerError>)
    /// The end of a call's waiting time.
    case time(Int)
    /// The network has changed: waiting calls need not wait, and reachable peers may be gone.
    case network
    /// Store what was fetched, and begin nothing else.
    case stop
}

// MARK: - BatchSizer

/// The number of revisions to request at once, chosen so that a response takes neither too little nor too much
/// time.
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
