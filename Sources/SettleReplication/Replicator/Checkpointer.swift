internal import SettleCore
internal import SettlePlatform

/// The rules of a replication's checkpoints: a value that receives the results of reading and writing, and returns
/// the next action.
///
///     resume   read ──→ resumed
///     forget   read ──→ save target ──→ save source ──→ forgotten
///     write    read ──→ save target ──→ save source ──→ written        or changed, after the read
///               ↑           │               │
///               └───────────┴── conflict ───┘   once
///
/// The target's log is written first, so the target has every checkpoint that the source has. Before each write
/// both logs are read again. If one of them has changed, a peer was replaced, and the replication starts over from
/// the newest common checkpoint. A ``CheckpointExecutor`` performs the actions.
struct Checkpointer: Sendable {
    enum Side: String, Sendable, CaseIterable { case target, source }

    /// The result of reading a side.
    struct Reading: Sendable {
        var log: ResumePoint.Side
        /// The revision of the document with the log.
        var revision: String?
    }

    enum Event: Sendable {
        /// Find the start position, from the peers' information about themselves.
        case resume(source: PeerInfo, target: PeerInfo)
        /// Remove the checkpoints of both sides, so that this run starts at the first change. The next run does so
        /// too if this one is interrupted before it has written a checkpoint.
        case forget
        /// Write a checkpoint with a new name: everything up to the position is stored.
        case write(PeerSequence, ReplicationCounts, name: String, time: WallTime)
        /// Both logs were read.
        case read(source: Reading, target: Reading)
        /// A log was written and now has this revision.
        case saved(Side, revision: String)
        /// A side does not allow logs to be written.
        case forbidden(Side)
        /// A log could not be read or written.
        case failed(PeerError)
    }

    enum Action: Sendable {
        /// Read both logs.
        case read
        /// Write a log, replacing a revision of it.
        case save(Side, ReplicationLog, revision: String?)
        /// The work is done.
        case end(Outcome)
    }

    /// The outcome of the work.
    enum Outcome: Sendable {
        /// The replication starts at this point.
        case resumed(ResumePoint)
        /// The checkpoints are removed.
        case forgotten
        /// The checkpoint is written; on one side only, if the other one does not allow it.
        case written(onlyOn: Side?)
        /// Somebody else has changed a log.
        case changed
        /// The work is not possible at the moment.
        case failed(PeerError)
    }

    /// The known state of a side's log.
    private struct Known: Sendable {
        var revision: String?
        /// The name of the newest checkpoint in it.
        var newest: String?
        var isClosed = false
    }

    let id: ReplicationID
    private var sides: [Side: Known] = [.source: Known(), .target: Known()]
    /// The log that both sides agree on.
    private(set) var log = ReplicationLog()
    /// The position of the newest checkpoint.
    private(set) var recorded = PeerSequence.start
    /// Whether a checkpoint was written since the start.
    private(set) var hasWritten = false
    private let start: WallTime
    private var started = PeerSequence.start
    /// The current work.
    private var work = Event.forget
    /// The log to write, and the sides that still lack it.
    private var next = ReplicationLog()
    private var unsaved: [Side] = []
    /// The names of the checkpoints that this run has tried to write. The answer to a write may be lost, also at the end of a
    /// run, which cancels its requests.
    private var tried: Set<String> = []
    /// Whether the logs were read again after a conflict, in the current work.
    private var isReadAgain = false

    /// Creates the rules for a run that began at `start`.
    init(id: ReplicationID, start: WallTime) {
        self.id = id
        self.start = start
    }

    /// Handles an event; returns the next action.
    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .resume, .forget, .write:
            (work, isReadAgain) = (event, false)
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
            guard case .write = work, error.code == .conflict else { return .end(.failed(error)) }
            // The server may have handled an earlier write only now, after its answer was given up.
            guard !isReadAgain else { return .end(.changed) }
            isReadAgain = true
            return .read
        }
    }

    private mutating func record(_ reading: Reading, _ side: Side) {
        sides[side]?.revision = reading.revision
        sides[side]?.newest = reading.log.log?.history.first?.sessionID
        if reading.log.isClosed { sides[side]?.isClosed = true }
    }

    /// Continues the work after both logs were read.
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
            guard isUnchanged(source.log, left) else {
                // A later write must find the change too, for example the last one of a run that ends meanwhile.
                sides = left
                return .end(.changed)
            }
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
            guard let known = sides[side], !known.isClosed else { continue }
            if let name = next.history.first?.sessionID { tried.insert(name) }
            return .save(side, next, revision: known.revision)
        }
        guard case .write(let position, _, _, _) = work else {
            (log, recorded, started) = (next, .start, .start)
            return .end(.forgotten)
        }
        if let onlySide, next.onlySide != onlySide.rawValue {
            // This is a new finding, which the next run must know.
            next.onlySide = onlySide.rawValue
            unsaved = [onlySide]
            return save()
        }
        (log, recorded, hasWritten) = (next, position, true)
        return .end(.written(onlyOn: onlySide))
    }

    /// The only side that keeps a log, if the other side does not allow one.
    private var onlySide: Side? {
        let open = Side.allCases.filter { sides[$0]?.isClosed == false }
        return open.count == 1 ? open[0] : nil
    }

    /// Whether only this run has changed the logs, or another run of this replication has continued from there.
    private mutating func isUnchanged(_ source: ReplicationLog?, _ left: [Side: Known]) -> Bool {
        let areOurs = Side.allCases.allSatisfy { side in
            guard let newest = sides[side]?.newest else { return left[side]?.newest == nil }
            return newest == left[side]?.newest || tried.contains(newest)
        }
        if areOurs { return true }
        // Both have the same newest checkpoint, and it follows ours: two runs work at the same time, and both are
        // right.
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
        /// A log; an empty one if the side has none.
        case log(ReplicationLog)
        /// The user may not read the log.
        case closed
    }

    /// The position to start after.
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
    /// The log, unless the user may not read it.
    var log: ReplicationLog? { if case .log(let log) = self { log } else { nil } }
    /// Whether the user may not read the log.
    var isClosed: Bool { if case .closed = self { true } else { false } }
}

// MARK: - CheckpointExecutor

/// Performs the actions of a ``Checkpointer``: reads and writes the logs of a replication on both peers.
struct CheckpointExecutor: Sendable {
    let source: any PeerOperations
    let target: any PeerOperations

    /// Resumes, forgets or writes checkpoints.
    ///
    /// - Parameters:
    ///   - event: The work: `resume`, `forget` or `write`.
    ///   - checkpointer: The rules, which handle the answers of the peers.
    /// - Returns: The outcome of the work.
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
    /// Whether the peer does not allow the call.
    fileprivate var isForbidden: Bool { code == .forbidden || code == .unauthorized }
}
