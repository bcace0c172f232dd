internal import RevisionTree
internal import SettlePlatform

/// Reads and writes the logs of a replication on both sides.
///
/// The target's is written first: a checkpoint that the source has is one that the target has too. Before each write both
/// logs are read again; if one of them is not as it was left, a peer is not what it was, and the replication begins anew
/// from what both have in common.
struct Checkpointer: Sendable {
    /// What came of a write.
    enum Outcome: Sendable {
        /// It is written, on one side alone if the other one does not allow it.
        case written(onlyOn: String?)
        /// A log is not as it was left.
        case changed
        /// It could not be written now.
        case failed(PeerError)
    }

    /// One side and what was read or written there last.
    private struct Side: Sendable {
        let peer: any Peer
        var revision: String?
        /// The name of the newest checkpoint there.
        var newest: String?
        var isClosed = false
    }

    let id: ReplicationID
    private var source: Side
    private var target: Side
    /// What both sides agree on.
    private(set) var log = ReplicationLog()
    /// The position of the newest checkpoint.
    private(set) var recorded = PeerSequence.start
    /// Whether a checkpoint was written since ``resume(source:target:)``.
    private(set) var hasWritten = false
    private let start: String
    private var started = PeerSequence.start

    init(id: ReplicationID, source: any Peer, target: any Peer) {
        self.id = id
        self.source = Side(peer: source)
        self.target = Side(peer: target)
        start = WallTime.now().http
    }

    /// Reads both logs and finds where to begin.
    mutating func resume(source sourceInfo: PeerInfo, target targetInfo: PeerInfo) async throws -> ResumePoint {
        let sides = try await read()
        let point = ResumePoint(source: (sides.source, sourceInfo), target: (sides.target, targetInfo))
        log = point.log
        log.sourceInstance = sourceInfo.instance
        log.targetInstance = targetInfo.instance
        (recorded, started) = (point.position, point.position)
        return point
    }

    /// Forgets the checkpoints of both sides, so that this run begins at the first change, and another one too should this one
    /// be cut off before it has written a checkpoint of its own.
    mutating func forget() async throws {
        _ = try await read()
        log = ReplicationLog()
        (recorded, started) = (.start, .start)
        for side in [\Self.target, \Self.source] where self[keyPath: side].revision != nil {
            try await save(log, to: side)
        }
    }

    /// Writes a checkpoint: everything up to the position is stored.
    mutating func write(_ position: PeerSequence, _ counts: ReplicationCounts) async -> Outcome {
        do {
            guard try await isUnchanged() else { return .changed }
            var next = log
            next.add(
                CheckpointEntry(
                    sessionID: Self.newSession(), number: (log.history.first?.number ?? 0) + 1, started: start,
                    ended: WallTime.now().http, from: started, to: position, counts))
            next.onlySide = onlySide
            try await save(next, to: \.target)
            try await save(next, to: \.source)
            if let onlySide, next.onlySide != onlySide {
                // It has turned out just now, and must be known the next time.
                next.onlySide = onlySide
                try await save(next, to: onlySide == "source" ? \.source : \.target)
            }
            (log, recorded, hasWritten) = (next, position, true)
            return .written(onlyOn: onlySide)
        } catch let error as PeerError {
            return error.code == .conflict ? .changed : .failed(error)
        } catch { return .failed(PeerError(.cancelled, "the checkpoint was not written: \(error)")) }
    }

    /// The only side that keeps a log, if one does not allow it.
    private var onlySide: String? {
        if source.isClosed == target.isClosed { return nil }
        return source.isClosed ? "target" : "source"
    }

    /// Whether both logs are as they were left, or another run of this replication went on from there.
    private mutating func isUnchanged() async throws -> Bool {
        let left = (source.newest, target.newest)
        let sides = try await read()
        if (source.newest, target.newest) == left { return true }
        // Both have the same newest one, which follows ours: two run at the same time, and each is right.
        guard let ours = log.history.first?.sessionID, source.newest == target.newest,
            let history = sides.source.log?.history, history.contains(where: { $0.sessionID == ours })
        else { return false }
        log.history = history
        return true
    }

    private mutating func read() async throws -> (source: ResumePoint.Side, target: ResumePoint.Side) {
        let id = id.logID
        async let first = Self.read(id, of: source.peer)
        async let second = Self.read(id, of: target.peer)
        let (sourceLog, targetLog) = try await (first, second)
        source.revision = sourceLog.revision
        target.revision = targetLog.revision
        source.newest = sourceLog.side.log?.history.first?.sessionID
        target.newest = targetLog.side.log?.history.first?.sessionID
        if sourceLog.side.isClosed { source.isClosed = true }
        if targetLog.side.isClosed { target.isClosed = true }
        return (sourceLog.side, targetLog.side)
    }

    private static func read(
        _ id: DocumentID, of peer: any Peer
    ) async throws -> (side: ResumePoint.Side, revision: String?) {
        do {
            let document = try await peer.localDocument(id)
            return (.log(document.map { ReplicationLog($0.body) } ?? ReplicationLog()), document?.revision)
        } catch let error as PeerError where error.code == .forbidden || error.code == .unauthorized {
            return (.closed, nil)
        }
    }

    private mutating func save(_ log: ReplicationLog, to side: WritableKeyPath<Checkpointer, Side>) async throws {
        guard !self[keyPath: side].isClosed else { return }
        let current = self[keyPath: side]
        do {
            self[keyPath: side].revision = try await current.peer.saveLocalDocument(
                id.logID, body: log.json, revision: current.revision)
            self[keyPath: side].newest = log.history.first?.sessionID
        } catch let error as PeerError where error.code == .forbidden || error.code == .unauthorized {
            self[keyPath: side].isClosed = true
        }
    }

    private static func newSession() -> String { SecureRandom.hexadecimal() }
}
