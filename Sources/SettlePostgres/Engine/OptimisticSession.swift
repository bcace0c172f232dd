internal import SettleDatabase

/// A write without a lock; see ``WriteSession``.
final class OptimisticSession: WriteSession {
    /// Whether the closure asked what can't be compared later, so that it has to run again in a locked session.
    private(set) var needsLock = false
    /// Whether it is known already that it can't be committed.
    private(set) var isStale = false
    private let tokens: ContentTokens
    private let designAge: () -> Int64

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - database: The number of the database.
    ///   - link: Where questions go.
    ///   - settings: The settings as they were read last.
    ///   - tokens: Gives tokens of contents.
    ///   - designAge: The age of design documents that observers were notified of.
    init(
        _ database: Int64, _ link: any PostgresLink, settings: SettingsCache.Values, tokens: ContentTokens,
        designAge: @escaping () -> Int64
    ) {
        (self.tokens, self.designAge) = (tokens, designAge)
        super.init(database, link, settings: settings)
        // Sequences are given at the commit. Until then changes have places above all of them.
        changes.sequence = 1 << 62
    }

    override func prepareForScan() throws { try goOnLocked() }

    override func prepareForRemoval() throws { try goOnLocked() }

    override func require(_ lease: JobLease) throws { try goOnLocked() }

    override func requireCurrentDesign() throws { changes.set.designAge = designAge() }

    override func newToken() throws -> UInt64 { try tokens.next() }

    override func noteStale() { isStale = true }

    override func changed() throws {
        if changes.bytes > Self.mostBytes { try goOnLocked() }
    }

    /// Ends this run of the closure.
    private func goOnLocked() throws {
        needsLock = true
        throw DatabaseError(.storage, "the write goes on with the lock of its database")
    }
}
