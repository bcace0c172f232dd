internal import SettleDatabase
internal import SettlePlatform

/// A write without a lock; see ``WriteSession``.
final class OptimisticSession: WriteSession {
    /// Whether the closure has asked a question that can't be compared later, so that it has to run again in a
    /// locked session.
    private(set) var needsLock = false
    /// Whether the write is known to be stale, so that it can't be committed.
    private(set) var isStale = false
    private let tokens: ContentTokens
    private let designAge: () -> Int64

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - database: The number of the database.
    ///   - link: Sends queries.
    ///   - settings: The cached settings.
    ///   - tokens: Gives tokens of contents.
    ///   - designAge: Returns the age of design documents of which observers were notified.
    init(
        _ database: Int64, _ link: any PostgresLink, settings: SettingsCache.Values, tokens: ContentTokens,
        designAge: @escaping () -> Int64
    ) {
        (self.tokens, self.designAge) = (tokens, designAge)
        super.init(database, link, settings: settings)
        // Sequences are assigned at the commit. Until then, changes have placeholders above all sequences.
        changes.sequence = 1 << 62
    }

    override func prepareForScan() throws { try goOnLocked() }

    override func prepareForRemoval() throws { try goOnLocked() }

    override func putContent(_ content: RevisionContent, at token: UInt64) throws { try goOnLocked() }

    override func require(_ lease: JobLease) throws { try goOnLocked() }

    override func requireCurrentDesign() throws { changes.set.designAge = designAge() }

    override func newToken() throws -> UInt64 { try tokens.next() }

    override func markStale() { isStale = true }

    override func changed() throws {
        if changes.bytes > Self.maximumBytes { try goOnLocked() }
    }

    /// Ends this run of the closure; it runs again with a lock.
    private func goOnLocked() throws {
        needsLock = true
        throw DatabaseError(.storage, "the write goes on with the lock of its database")
    }
}

// MARK: - ContentTokens

/// The tokens for contents that this node has reserved, so that a write knows them before it is committed.
///
/// A reservation is used for a minute, so tokens are in the order of time except within a minute. Compaction by age
/// relies on that.
final class ContentTokens: Sendable {
    private struct State {
        var next: Int64 = 0
        var last: Int64 = -1
        var end = ContinuousClock.now
        /// The number of tokens to reserve next: few for a database that is seldom edited.
        var count: Int64 = 16
    }

    private let database: Int64
    private let pool: PostgresPool
    private let state = Guarded(State())
    private static let most: Int64 = 1024

    init(_ database: Int64, _ pool: PostgresPool) { (self.database, self.pool) = (database, pool) }

    /// A token that nobody else gets.
    func next() throws -> UInt64 {
        try state.withLock { state in
            if state.next > state.last || state.end < .now { try reserve(&state) }
            defer { state.next += 1 }
            return UInt64(state.next)
        }
    }

    private func reserve(_ state: inout State) throws {
        let call = PostgresCall(.reserveTokens, .integer(database), .integer(state.count))
        // Not repeated after a failure: unused tokens do no harm.
        let results = try pool.runOnce([call])
        guard let result = results.first, result.count > 0 else {
            throw DatabaseError(.closed, "the database was deleted")
        }
        state.last = result.integer(0, 0)
        state.next = state.last - state.count + 1
        state.end = .now + .seconds(60)
        state.count = min(state.count * 4, Self.most)
    }
}
