internal import SettleCore
internal import SettlePlatform

/// The rules of a replication's checkpoints: a value that is told what was read and written, and says what to do next.
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

    /// What is known of the log of a side.
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
            note(source, .source)
            note(target, .target)
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

    private mutating func note(_ reading: Reading, _ side: Side) {
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
