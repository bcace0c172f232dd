internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The storage engine on PostgreSQL: one of any number of nodes that share a database.
///
///     read        a question on any connection               one round trip
///     snapshot    REPEATABLE READ, read only                 one round trip, and one more for each further question
///     commit      the closure reads and collects changes ─→ lock the row, compare, write, commit: two round trips, shared by
///                 all writers of the node that wait
///     hold        lock the row ─→ the closure reads and writes ─→ commit
///
/// Every commit first locks the row of the database. So sequences are in the order of commits, and a reader that
/// sees a sequence also sees all lower ones.
final class PostgresEngine: StorageEngine {
    /// The number of the database.
    let database: Int64
    private let pool: PostgresPool
    private let line = WriteLine()
    private let settings: SettingsCache
    private let tokens: ContentTokens
    private let committer: Committer
    private let storedBlobs: PostgresBlobs
    private let followed: FollowedState
    /// The sessions and snapshots of each thread, innermost last.
    private let threads = Guarded<[ThreadID: [Lent<PostgresReader>]]>([:])
    private let closed = Guarded(false)
    private let onDeletion = Guarded<(@Sendable () -> Void)?>(nil)
    let configuration: PostgresConfiguration
    /// Called with each commit of this node.
    private let ring: @Sendable (Int64, DatabaseState) -> Void
    private let onClose: @Sendable () -> Void

    /// The maximum length of a document id, because a B-tree entry must fit into a third of a page.
    static let longestID = 2048
    /// The number of times that a closure runs without a lock before it gets one.
    private static let attempts = 3

    init(
        _ database: Int64, _ pool: PostgresPool, _ configuration: PostgresConfiguration, _ marks: CommitMarks,
        state: DatabaseState,
        ring: @escaping @Sendable (Int64, DatabaseState) -> Void, onClose: @escaping @Sendable () -> Void
    ) {
        (self.database, self.pool, self.configuration) = (database, pool, configuration)
        (self.ring, self.onClose) = (ring, onClose)
        settings = SettingsCache(database, pool)
        tokens = ContentTokens(database, pool)
        storedBlobs = PostgresBlobs(database, pool)
        committer = Committer(database, pool, marks, node: configuration.node)
        followed = FollowedState(state)
    }

    deinit { onClose() }

    /// The number of this node's writes that wait for their turn.
    var waitingWrites: Int { line.count }

    var isWriting: Bool { session != nil }

    /// The current session of this thread.
    private var session: WriteSession? { inner as? WriteSession }

    private var inner: PostgresReader? {
        threads.withLock { threads in threads[ThreadID.current]?.last.map { Lent($0.value) } }?.value
    }

    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) { followed.listen(notify) }

    // MARK: - Reading

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        if let inner { return try body(inner) }
        try checkOpen()
        return try body(PostgresReader(database, pool))
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        if let inner { return try body(inner) }
        try checkOpen()
        let link = SnapshotLink(pool)
        defer { link.end() }
        return try within(PostgresReader(database, link)) { try body($0) }
    }

    /// Runs a closure with a reader, which further calls on this thread use too.
    private func within<Reader: PostgresReader, Result>(
        _ reader: Reader, _ body: (Reader) throws -> Result
    ) throws -> Result {
        let (thread, lent) = (ThreadID.current, Lent<PostgresReader>(reader))
        threads.withLock { $0[thread, default: []].append(lent) }
        defer {
            threads.withLock { threads in
                _ = threads[thread]?.popLast()
                if threads[thread]?.isEmpty == true { threads[thread] = nil }
            }
        }
        return try body(reader)
    }

    /// Whether the engine was closed.
    var isClosed: Bool { closed.withLock { $0 } }

    private func checkOpen() throws {
        guard !isClosed else { throw DatabaseError(.closed, "the database was closed") }
    }

    // MARK: - Writing

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        if let session { return try session.joined(body) }
        try checkOpen()
        var touched: [DocumentID] = []
        for _ in 0..<Self.attempts {
            let session = OptimisticSession(
                database, pool, settings: try settings.values(), tokens: tokens,
                designAge: { [followed] in followed.announcedDesignAge })
            var result: Result?
            do {
                // Read the documents that the last attempt has read, all at once.
                try session.prepare(touched, withContent: true)
                result = try within(session) { try $0.whole(body) }
            } catch  where session.needsLock || session.isStale {}
            if session.needsLock { break }
            let changes = session.changes
            if let result, !session.isStale, try commit(changes) { return result }
            touched = Array(changes.set.expected.keys)
        }
        return try locked(body)
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        if let session { return try session.joined(body) }
        try checkOpen()
        return try locked(body)
    }

    /// Commits the changes of an optimistic session; returns false if another commit was faster.
    private func commit(_ changes: WriteSession.Changes) throws -> Bool {
        guard !changes.set.isEmpty else {
            for action in changes.actions { action() }
            return true
        }
        let place = WriteLine.Place(changes.set, bytes: changes.bytes, actions: changes.actions)
        let outcome: CommitOutcome
        switch line.enter(place) {
        case .lead(let others):
            let group = [place] + others
            let outcomes = committer.commit(group.compactMap(\.set), settings, followed)
            if let state = outcomes.state { ring(database, state) }
            for (other, outcome) in zip(group, outcomes.each) {
                if case .committed = outcome { for action in other.actions { action() } }
            }
            line.leave(unanswered: outcomes.each.contains(where: \.isUnanswered))
            for (other, outcome) in zip(others, outcomes.each.dropFirst()) { other.signal.fulfil(.ended(outcome)) }
            outcome = outcomes.each[0]
        case .ended(let ended): outcome = ended
        case .alone: outcome = .stale
        }
        switch outcome {
        case .committed: return true
        case .stale: return false
        case .failed(let error): throw error
        }
    }

    /// Runs a closure while the row of the database is locked.
    private func locked<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        switch line.enter(WriteLine.Place(nil)) {
        case .alone: break
        case .ended(.failed(let error)): throw error
        case .lead, .ended: throw DatabaseError(.storage, "a write lost its turn; nothing was written")
        }
        var isUnanswered = false
        defer { line.leave(unanswered: isUnanswered) }
        do {
            return try committer.locked(settings, followed) { session in
                try within(session) { try $0.whole(body) }
            } done: { [ring, database] state in
                ring(database, state)
            }
        } catch {
            isUnanswered = CommitOutcome.failed(error).isUnanswered
            throw error
        }
    }

    // MARK: - Others

    /// Applies the state of the row that another part of this node has read.
    func follow(_ state: DatabaseState, isForeign: Bool) { followed.follow(state, settings, isForeign: isForeign) }

    /// Called when another node has deleted the database.
    func wasDeleted() { onDeletion.withLock { $0 }?() }

    /// Sets the closure that is called after another node has deleted the database.
    func onDeletion(_ body: @escaping @Sendable () -> Void) { onDeletion.withLock { $0 = body } }

    /// Records that the followed state was read at `moment`.
    func record(readAt moment: ContinuousClock.Instant) { followed.record(readAt: moment) }

    /// Extends the pins of this node, and removes unused data.
    func keepHouse() throws {
        try storedBlobs.tend()
        let house = Housekeeping(pool: pool)
        while try house.collectUploads(of: database) > 0 {}
        try house.forgetMarks(of: database)
    }

    func close() {
        let wasOpen = closed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        if wasOpen { onClose() }
    }
}

// MARK: - Capabilities

extension PostgresEngine: SharedStorage, LeasingStorage, BlobKeepingStorage, RestorableStorage, PrefetchingStorage,
    LimitedStorage, MaintainedStorage
{
    var leases: any JobLeases { PostgresLeases(database, pool, node: configuration.node) }

    var blobs: any BlobStorage { storedBlobs }

    var longestID: Int { Self.longestID }

    func refresh() throws {
        try checkOpen()
        guard !isWriting, !followed.isFresh else { return }
        let begin = ContinuousClock.now
        let state = try DatabaseState(PostgresReader(database, pool).ask(.state))
        follow(state, isForeign: true)
        followed.record(readAt: begin)
    }

    func requireCurrentDesign() throws { try ownSession().requireCurrentDesign() }

    func require(_ lease: JobLease) throws { try ownSession().require(lease) }

    func restore(_ record: DocumentRecord) throws { try ownSession().restore(record) }

    func restoreSequence(_ sequence: UpdateSequence) throws { try ownSession().restoreSequence(sequence) }

    func prepare(_ ids: [DocumentID], withContent: Bool) throws { try inner?.prepare(ids, withContent: withContent) }

    /// The current session of this thread, for a call that needs one.
    private func ownSession() throws -> WriteSession {
        guard let session else { throw DatabaseError(.invalid, "this belongs into a transaction") }
        return session
    }

    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport {
        try checkOpen()
        if case .reclaimSpace = task, inner != nil {
            throw DatabaseError(.invalid, "space can't be reclaimed inside a transaction or a snapshot; do it after")
        }
        return try read { reader in
            guard let reader = reader as? PostgresReader else { return MaintenanceReport() }
            return try reader.report(on: task)
        }
    }
}

// MARK: - PostgresLeases

/// The leases of a database's jobs, in a table; see ``JobLeases``.
struct PostgresLeases: JobLeases {
    private let database: Int64
    private let pool: PostgresPool
    let node: String

    init(_ database: Int64, _ pool: PostgresPool, node: String) {
        (self.database, self.pool, self.node) = (database, pool, node)
    }

    func take(_ jobs: [String], atMost count: Int) throws -> [JobLease] {
        guard !jobs.isEmpty, count > 0 else { return [] }
        let rows = try pool.runOnce([
            PostgresCall(.forgetLeases, number),
            PostgresCall(.takeLeases, number, names(jobs), .text(node), .integer(Int64(count))),
        ])
        let taken = leases(rows[1])
        pool.leases.withLock { $0[database, default: []].formUnion(taken.map(\.job)) }
        return taken
    }

    func renew(_ leases: [(lease: JobLease, status: [UInt8]?)]) throws -> [JobLease] {
        guard !leases.isEmpty else { return [] }
        let rows = try pool.runOnce([
            PostgresCall(
                .renewLeases, number, names(leases.map(\.lease.job)), .integers(leases.map(\.lease.term)),
                .byteArrays(leases.map(\.status)), .text(node))
        ])
        let kept = self.leases(rows[0])
        forget(Set(leases.map(\.lease.job)).subtracting(kept.map(\.job)))
        return kept
    }

    func release(_ leases: [JobLease]) throws {
        guard !leases.isEmpty else { return }
        defer { forget(Set(leases.map(\.job))) }
        _ = try pool.runOnce([
            PostgresCall(.releaseLeases, number, names(leases.map(\.job)), .integers(leases.map(\.term)), .text(node))
        ])
    }

    func all() throws -> [LeasedJob] {
        guard let rows = try pool.ask([PostgresCall(.leases, number)]).first else { return [] }
        return rows.map { LeasedJob(job: rows.text($0, 0), node: rows.text($0, 1), status: rows.optionalBytes($0, 2)) }
    }

    /// Removes leases from the count.
    private func forget(_ jobs: Set<String>) { pool.leases.withLock { $0[database]?.subtract(jobs) } }

    private var number: PostgresValue { .integer(database) }

    private func names(_ jobs: [String]) -> PostgresValue { .byteArrays(jobs.map { Array($0.utf8) }) }

    private func leases(_ rows: PostgresResult) -> [JobLease] {
        rows.map { JobLease(job: rows.text($0, 0), term: rows.integer($0, 1)) }
    }
}
