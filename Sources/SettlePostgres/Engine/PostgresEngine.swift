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
    private let queue = WriteQueue(largestBatch: CommitGroup.largestBatch, maximumBytes: CommitGroup.maximumBytes)
    /// The commit that the thread with the turn in `queue` prepares.
    private let group = Guarded(CommitGroup())
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
    /// Called when this engine is closed or released, with its identity: a reference may not outlive `deinit`.
    private let onClose: @Sendable (ObjectIdentifier) -> Void

    /// The maximum length of a document id, because a B-tree entry must fit into a third of a page.
    static let longestID = 2048
    /// The number of times that a closure runs without a lock before it gets one.
    private static let attempts = 3

    init(
        _ database: Int64, _ pool: PostgresPool, _ configuration: PostgresConfiguration, state: DatabaseState,
        ring: @escaping @Sendable (Int64, DatabaseState) -> Void,
        onClose: @escaping @Sendable (ObjectIdentifier) -> Void
    ) {
        (self.database, self.pool, self.configuration) = (database, pool, configuration)
        (self.ring, self.onClose) = (ring, onClose)
        settings = SettingsCache(database, pool)
        tokens = ContentTokens(database, pool)
        storedBlobs = PostgresBlobs(database, pool)
        committer = Committer(database, pool, node: configuration.node)
        followed = FollowedState(state)
    }

    deinit { onClose(ObjectIdentifier(self)) }

    /// The number of this node's writes that wait for their turn.
    var waitingWrites: Int { queue.waitingCount }

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
        return try body(CurrentReader(database, pool, followed, settings))
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        if let inner { return try body(inner) }
        try checkOpen()
        let link = SnapshotLink(database, pool)
        defer { link.end() }
        return try within(SnapshotReader(database, link, settings)) { try body($0) }
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
        if let session { return try session.joined { try body(session) } }
        try checkOpen()
        var touched: [DocumentID] = []
        for _ in 0..<Self.attempts {
            let session = WriteSession(
                database, pool, settings: try settings.values(),
                .optimistic(tokens: tokens) { [followed] in followed.announcedDesignAge })
            var result: Result?
            do {
                // Read the documents that the last attempt has read, all at once.
                try session.prepare(touched, withContent: true)
                result = try within(session) { session in try session.whole { try body(session) } }
            } catch  where session.needsLock || session.isStale {}
            if session.needsLock { break }
            if let result, !session.isStale, try commit(session) { return result }
            touched = Array(session.changes.set.expected.keys)
        }
        return try locked(body)
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        if let session { return try session.joined { try body(session) } }
        try checkOpen()
        return try locked(body)
    }

    /// Commits what an optimistic session has collected; false if another commit was faster.
    private func commit(_ session: WriteSession) throws -> Bool {
        let (set, actions) = (session.changes.set, session.nesting.actions)
        guard !set.isEmpty else {
            for action in actions { action() }
            return true
        }
        let place = CommitGroup.Place(set, actions: actions)
        let join: WriteTurn.Job = { [group] in group.withLock { $0.places.append(place) } }
        try queue.run(WriteTurn(job: join), on: self, bytes: session.changes.bytes, join)
        switch place.outcome {
        case .committed: return true
        case .stale: return false
        case .failed(let error): throw error
        case nil: throw Self.lostTurn
        }
    }

    /// Runs a closure while the row of the database is locked.
    private func locked<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        var result: Result?
        try queue.run(WriteTurn(), on: self, alone: true) {
            result = try committer.locked(settings, followed) { session in
                try within(session) { session in try session.whole { try body(session) } }
            } done: { [ring, database] state in
                ring(database, state)
            }
        }
        guard let result else { throw Self.lostTurn }
        return result
    }

    private static var lostTurn: DatabaseError {
        DatabaseError(.storage, "a write lost its turn; nothing was written")
    }

    // MARK: - Others

    /// Follows a state of the row that was read.
    func follow(_ state: DatabaseState, isForeign: Bool) { followed.follow(state, settings, isForeign: isForeign) }

    /// Notifies the owner of the engine that another node has deleted the database.
    func wasDeleted() { onDeletion.withLock { $0 }?() }

    /// Sets the closure that is called when another node has deleted the database.
    func onDeletion(_ body: @escaping @Sendable () -> Void) { onDeletion.withLock { $0 = body } }

    /// Records the time at which the newest state was read.
    func record(readAt moment: ContinuousClock.Instant) { followed.record(readAt: moment) }

    /// Prolongs the pins of this node, and removes uploads, marks and leases that are no longer needed.
    func keepHouse() throws {
        try storedBlobs.tend()
        let house = Housekeeping(pool: pool)
        while try house.collectUploads(of: database) > 0 {}
        try house.forgetMarks(of: database)
        try house.forgetLeases(of: database)
    }

    func close() {
        let wasOpen = closed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        if wasOpen { onClose(ObjectIdentifier(self)) }
    }
}

// MARK: - Queue

extension PostgresEngine: QueuedStorage {
    func run(_ place: WritePlace, _ body: () throws -> Void) throws {
        if place != .savepoint { group.withLock { $0 = CommitGroup() } }
        do { try body() } catch {
            refuseWaiting(after: [.failed(error)])
            throw error
        }
    }

    /// A transaction begins at the commit of the group, so no closure can end one.
    var hasTransaction: Bool { true }

    func commitTransaction() {
        let places = group.withLock { group in
            defer { group.places = [] }
            return group.places
        }
        let outcomes = committer.commit(places.map(\.set), settings, followed)
        if let state = outcomes.state { ring(database, state) }
        for (place, outcome) in zip(places, outcomes.each) {
            if case .committed = outcome { for action in place.actions { action() } }
            place.outcome = outcome
        }
        refuseWaiting(after: outcomes.each)
    }

    /// Refuses the writers that wait, after a turn that PostgreSQL did not answer for long.
    private func refuseWaiting(after outcomes: [CommitOutcome]) {
        let refuses = group.withLock { group in outcomes.contains { group.refusesWaiting(after: $0) } }
        if refuses { queue.refuseWaiting(CommitGroup.impatient) }
    }

    func rollBackTransaction() { group.withLock { $0.places = [] } }

    /// A pool has the connections.
    func closeConnection() {}
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
        guard !isWriting, followed.fresh == nil else { return }
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
