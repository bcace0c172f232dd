/// Where a replication starts, according to the logs of both sides.
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
    /// Why the replication can't start from the newest checkpoint; `nil` if it can (SEMANTICS 206).
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
