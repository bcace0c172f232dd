internal import SettleCore
internal import SettlePlatform

/// The rules of a replication's checkpoints: a value that receives what was read and written, and returns the next action.
///
///     resume   read ──→ resumed
///     forget   read ──→ save target ──→ save source ──→ forgotten
///     write    read ──→ save target ──→ save source ──→ written        or changed, after the read
///
/// The target's log is written first: a checkpoint that the source has is one that the target has too. Before each write both
/// logs are read again; if one of them is not as it was left, a peer is not what it was, and the replication begins anew
/// from what both have in common. A ``CheckpointExecutor`` does what it says.
struct Checkpointer: Sendable {
    enum Side: String, Sendable, CaseIterable { case target, source }

    /// What was read of a side.
    struct Reading: Sendable {
        var log: ResumePoint.Side
        /// The revision of the log's document.
        var revision: String?
    }

    enum Event: Sendable {
        /// Find where to begin, from what the peers say of themselves.
        case resume(source: PeerInfo, target: PeerInfo)
        /// Forget the checkpoints of both sides, so that this run begins at the first change, and another one too should this
        /// one be cut off before it has written a checkpoint of its own.
        case forget
        /// Write a checkpoint under a new name: everything up to the position is stored.
        case write(PeerSequence, ReplicationCounts, name: String, time: WallTime)
        /// Both logs were read.
        case read(source: Reading, target: Reading)
        /// A log was written, and has this revision now.
        case saved(Side, revision: String)
        /// A side does not allow that a log is written.
        case forbidden(Side)
        /// A log could not be read or written.
        case failed(PeerError)
    }

    enum Action: Sendable {
        /// Read both logs.
        case read
        /// Write a log over the revision that it has.
        case save(Side, ReplicationLog, revision: String?)
        /// It is done.
        case end(Outcome)
    }

    /// What came of it.
    enum Outcome: Sendable {
        /// The replication begins there.
        case resumed(ResumePoint)
        /// The checkpoints are gone.
        case forgotten
        /// It is written, on one side alone if the other one does not allow it.
        case written(onlyOn: Side?)
        /// A log is not as it was left.
        case changed
        /// It was not possible now.
        case failed(PeerError)
    }

    /// The known facts of the log of a side.
    private struct Known: Sendable {
        var revision: String?
        /// The name of the newest checkpoint there.
        var newest: String?
        var isClosed = false
    }

    let id: ReplicationID
    private var sides: [Side: Known] = [.source: Known(), .target: Known()]
    /// What both sides agree on.
    private(set) var log = ReplicationLog()
    /// The position of the newest checkpoint.
    private(set) var recorded = PeerSequence.start
    /// Whether a checkpoint was written since it was resumed.
    private(set) var hasWritten = false
    private let start: WallTime
    private var started = PeerSequence.start
    /// What is being done.
    private var work = Event.forget
    /// The log that is being written, and the sides that still lack it.
    private var next = ReplicationLog()
    private var unsaved: [Side] = []

    /// Makes the rules of a run that began at a time.
    init(id: ReplicationID, start: WallTime) {
        self.id = id
        self.start = start
    }

    /// Takes an event; returns what to do now.
    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .resume, .forget, .write:
            work = event
            return .read
        case .read(let source, let target):
            let left = sides
            record(source, .source)
            record(target, .target)
            return proceed(source.log, target.log, left)
        case .saved(let side, let revision):
            sides[side]?.revision = revision
            sides[side]?.newest = next.history.first?.sessionID
            return save()
        case .forbidden(let side):
            sides[side]?.isClosed = true
            return save()
        case .failed(let error):
            if case .write = work, error.code == .conflict { return .end(.changed) }
            return .end(.failed(error))
        }
    }

    private mutating func record(_ reading: Reading, _ side: Side) {
        sides[side]?.revision = reading.revision
        sides[side]?.newest = reading.log.log?.history.first?.sessionID
        if reading.log.isClosed { sides[side]?.isClosed = true }
    }

    /// Goes on with the work, now that both logs are known.
    private mutating func proceed(
        _ source: ResumePoint.Side, _ target: ResumePoint.Side, _ left: [Side: Known]
    ) -> Action {
        switch work {
        case .resume(let sourceInfo, let targetInfo):
            let point = ResumePoint(source: (source, sourceInfo), target: (target, targetInfo))
            log = point.log
            log.sourceInstance = sourceInfo.instance
            log.targetInstance = targetInfo.instance
            (recorded, started) = (point.position, point.position)
            return .end(.resumed(point))
        case .write(let position, let counts, let name, let time):
            guard isUnchanged(source.log, left) else { return .end(.changed) }
            next = log
            next.add(
                CheckpointEntry(
                    sessionID: name, number: (log.history.first?.number ?? 0) + 1, started: start.http,
                    ended: time.http,
                    from: started, to: position, counts))
            next.onlySide = onlySide?.rawValue
            unsaved = Side.allCases
        default:
            next = ReplicationLog()
            unsaved = Side.allCases.filter { sides[$0]?.revision != nil }
        }
        return save()
    }

    /// Writes the log to the next side, or ends the work.
    private mutating func save() -> Action {
        while !unsaved.isEmpty {
            let side = unsaved.removeFirst()
            if let known = sides[side], !known.isClosed { return .save(side, next, revision: known.revision) }
        }
        guard case .write(let position, _, _, _) = work else {
            (log, recorded, started) = (next, .start, .start)
            return .end(.forgotten)
        }
        if let onlySide, next.onlySide != onlySide.rawValue {
            // It has turned out just now, and must be known the next time.
            next.onlySide = onlySide.rawValue
            unsaved = [onlySide]
            return save()
        }
        (log, recorded, hasWritten) = (next, position, true)
        return .end(.written(onlyOn: onlySide))
    }

    /// The only side that keeps a log, if one does not allow it.
    private var onlySide: Side? {
        let open = Side.allCases.filter { sides[$0]?.isClosed == false }
        return open.count == 1 ? open[0] : nil
    }

    /// Whether both logs are as they were left, or another run of this replication went on from there.
    private mutating func isUnchanged(_ source: ReplicationLog?, _ left: [Side: Known]) -> Bool {
        if Side.allCases.allSatisfy({ sides[$0]?.newest == left[$0]?.newest }) { return true }
        // Both have the same newest one, which follows ours: two run at the same time, and each is right.
        guard let ours = log.history.first?.sessionID, sides[.source]?.newest == sides[.target]?.newest,
            let history = source?.history, history.contains(where: { $0.sessionID == ours })
        else { return false }
        log.history = history
        return true
    }
}

// MARK: - ResumePoint

/// The place where a replication starts, according to the logs of both sides.
///
///     source   e5  e3  e1             e5 is the newest common entry: everything up to it is in the target,
///     target   e7  e6  e5  e3  e1     and the source has not changed since
struct ResumePoint: Sendable {
    /// The log of one side.
    enum Side: Sendable {
        /// A log; empty if there is none.
        case log(ReplicationLog)
        /// The log may not be read.
        case closed
    }

    /// The position from which to read.
    var position: PeerSequence
    /// The log that both sides agree on.
    var log: ReplicationLog
    /// The reason why the replication can't start from the newest checkpoint; `nil` if it can (SEMANTICS 206).
    var problem: String?

    /// Finds where to start.
    ///
    /// - Parameters:
    ///   - source: The source's log and information.
    ///   - target: The target's log and information.
    init(source: (side: Side, info: PeerInfo), target: (side: Side, info: PeerInfo)) {
        let logs: (source: ReplicationLog?, target: ReplicationLog?) = (source.side.log, target.side.log)
        switch logs {
        case (let source?, let target?) where !source.history.isEmpty && !target.history.isEmpty:
            self.init(common: source, target)
        case (let only?, _) where !only.history.isEmpty:
            self.init(only: only, "source", isExpected: target.side.isClosed || only.onlySide == "source")
        case (_, let only?) where !only.history.isEmpty:
            self.init(only: only, "target", isExpected: source.side.isClosed || only.onlySide == "target")
        default: self.init(.start, ReplicationLog(), nil)
        }
        guard !position.isStart else { return }
        let isOneSided = log.onlySide != nil || source.side.isClosed || target.side.isClosed
        if isOneSided {
            check(log.sourceInstance, source.info.instance, "source")
            check(log.targetInstance, target.info.instance, "target")
        }
        if let last = source.info.lastSequence.number, let recorded = position.number, last < recorded {
            startOver(
                "the source's newest change is \(last), but \(recorded) was replicated: it is an older state of it")
        }
    }

    private init(_ position: PeerSequence, _ log: ReplicationLog, _ problem: String?) {
        self.position = position
        self.log = log
        self.problem = problem
    }

    /// The newest checkpoint that both sides have.
    private init(common source: ReplicationLog, _ target: ReplicationLog) {
        let known = Dictionary(target.history.map { ($0.sessionID, $0.recorded) }) { first, _ in first }
        let index = source.history.firstIndex { known[$0.sessionID] == $0.recorded }
        guard let index else {
            self.init(
                .start, ReplicationLog(),
                "the logs of source and target have no checkpoint in common: one of them is not the database it was")
            return
        }
        let entry = source.history[index]
        var log = target
        log.history = Array(source.history[index...])
        let isNewest = index == 0 && target.history.first?.sessionID == entry.sessionID
        let side = index == 0 ? "source" : "target"
        self.init(
            entry.recorded, log,
            isNewest
                ? nil
                : """
                the \(side) does not have the newest checkpoint, so it was restored from a backup, or a run was cut off; \
                \(entry.recorded) is the newest position that both have
                """)
    }

    /// The newest checkpoint of the only side that has a log.
    private init(only log: ReplicationLog, _ side: String, isExpected: Bool) {
        guard isExpected, let newest = log.history.first else {
            self.init(
                .start, ReplicationLog(),
                "only the \(side) has a log of this replication: the other side is not the database it was")
            return
        }
        self.init(newest.recorded, log, nil)
    }

    private mutating func check(_ recorded: String?, _ now: String?, _ side: String) {
        guard let recorded, let now, recorded != now else { return }
        startOver("the \(side) is another database than the one that was replicated, under the same name")
    }

    private mutating func startOver(_ problem: String) { self = ResumePoint(.start, ReplicationLog(), problem) }
}

extension ResumePoint.Side {
    /// The log, if it may be read.
    var log: ReplicationLog? { if case .log(let log) = self { log } else { nil } }
    /// Whether it may not be read.
    var isClosed: Bool { if case .closed = self { true } else { false } }
}

// MARK: - CheckpointExecutor

/// Does what a ``Checkpointer`` says: reads and writes the logs of a replication on both peers.
struct CheckpointExecutor: Sendable {
    let source: any PeerOperations
    let target: any PeerOperations

    /// Resumes, forgets or writes checkpoints.
    ///
    /// - Parameters:
    ///   - event: What to do: `resume`, `forget` or `write`.
    ///   - checkpointer: The rules, which take in what the peers answer.
    /// - Returns: What came of it.
    func run(_ event: Checkpointer.Event, _ checkpointer: inout Checkpointer) async -> Checkpointer.Outcome {
        var action = checkpointer.handle(event)
        let id = checkpointer.id.logID
        while true {
            switch action {
            case .read: action = checkpointer.handle(await read(id))
            case .save(let side, let log, let revision):
                action = checkpointer.handle(await save(id, log, revision, to: side))
            case .end(let outcome): return outcome
            }
        }
    }

    private func read(_ id: DocumentID) async -> Checkpointer.Event {
        async let first = Self.reading(id, of: source)
        async let second = Self.reading(id, of: target)
        switch await (first, second) {
        case (.success(let source), .success(let target)): return .read(source: source, target: target)
        case (.failure(let error), _), (_, .failure(let error)): return .failed(error)
        }
    }

    private static func reading(
        _ id: DocumentID, of peer: any PeerOperations
    ) async -> Result<Checkpointer.Reading, PeerError> {
        switch await PeerError.result({ try await peer.localDocument(id) }) {
        case .success(let document):
            let log = document.map { ReplicationLog($0.body) } ?? ReplicationLog()
            return .success(Checkpointer.Reading(log: .log(log), revision: document?.revision))
        case .failure(let error) where error.isForbidden: return .success(Checkpointer.Reading(log: .closed))
        case .failure(let error): return .failure(error)
        }
    }

    private func save(
        _ id: DocumentID, _ log: ReplicationLog, _ revision: String?, to side: Checkpointer.Side
    ) async -> Checkpointer.Event {
        let peer = side == .source ? source : target
        let saved = await PeerError.result {
            try await peer.saveLocalDocument(id, body: log.json, revision: revision)
        }
        switch saved {
        case .success(let revision): return .saved(side, revision: revision)
        case .failure(let error): return error.isForbidden ? .forbidden(side) : .failed(error)
        }
    }
}

extension PeerError {
    /// Whether the peer does not allow it.
    fileprivate var isForbidden: Bool { code == .forbidden || code == .unauthorized }
}
