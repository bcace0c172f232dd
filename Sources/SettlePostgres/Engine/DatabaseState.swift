internal import SettleDatabase
internal import SettlePlatform

/// The row of a database. Every node has to know it before it uses cached values.
struct DatabaseState: Sendable, Hashable {
    /// The newest sequence.
    var sequence: Int64
    /// The newest token that was given to a content.
    var token: Int64
    /// Increased by each commit that changes a setting.
    var settingsAge: Int64
    /// Increased by each commit that changes a design document.
    var designAge: Int64

    /// Creates a state from a notification or from polling. It has no token, which only the locked row needs.
    init(sequence: Int64, settingsAge: Int64, designAge: Int64) {
        (self.sequence, token, self.settingsAge, self.designAge) = (sequence, 0, settingsAge, designAge)
    }

    /// Reads the row.
    ///
    /// - Throws: ``DatabaseError`` with code `closed` if the result has no row, because the database was deleted.
    init(_ result: PostgresResult) throws {
        guard result.count > 0 else { throw DatabaseError(.closed, "the database was deleted") }
        (sequence, token) = (result.integer(0, 0), result.integer(0, 1))
        (settingsAge, designAge) = (result.integer(0, 2), result.integer(0, 3))
    }
}

/// Sends queries to PostgreSQL.
protocol PostgresLink {
    /// Sends queries in one round trip.
    ///
    /// - Throws: ``DatabaseError``.
    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult]
}

extension PostgresPool: PostgresLink {}

/// A connection whose queries all see one snapshot, starting with the first one. The state of the database comes with
/// that one.
final class SnapshotLink: PostgresLink {
    private let database: Int64
    private let pool: PostgresPool
    private var lent: (connection: Lent<PostgresConnection>, generation: Int)?
    private var row: PostgresResult?

    init(_ database: Int64, _ pool: PostgresPool) { (self.database, self.pool) = (database, pool) }

    /// The state of the database in the snapshot.
    var state: DatabaseState {
        get throws {
            if row == nil { _ = try ask([]) }
            guard let row else { throw DatabaseError(.storage, "PostgreSQL gave no result") }
            return try DatabaseState(row)
        }
    }

    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        do {
            if let lent { return try lent.connection.value.run(calls) }
            do { return try begin(calls) } catch let failure as PostgresFailure where failure.endsConnection {
                // An idle connection may have broken long ago. Nothing was read yet, so the snapshot begins on another.
                end()
                return try begin(calls)
            }
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Begins the transaction in the round trip of the first queries.
    private func begin(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        let taken = try pool.borrow()
        lent = taken
        let begin = [
            PostgresCall(.beginSnapshot), PostgresCall(.allowIdle), PostgresCall(.state, .integer(database)),
        ]
        let results = try taken.connection.value.run(begin + calls)
        row = results[begin.count - 1]
        return Array(results.dropFirst(begin.count))
    }

    /// Ends the transaction, without waiting for the result: the next use of the connection reads it.
    func end() {
        guard let lent else { return }
        self.lent = nil
        lent.connection.value.abandonTransaction()
        pool.giveBack(lent.connection, lent.generation)
    }
}

/// A connection in a transaction.
final class ConnectionLink: PostgresLink {
    let connection: PostgresConnection
    /// The failure of a statement, because of which the transaction can't be committed.
    private(set) var failure: DatabaseError?

    init(_ connection: PostgresConnection) { self.connection = connection }

    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        if let failure { throw failure }
        do { return try connection.run(calls) } catch let refusal as PostgresFailure {
            failure = refusal.error
            throw refusal.error
        }
    }

    /// Undoes what was done since the last savepoint, and a failure since then.
    func undoPart() throws {
        do {
            _ = try connection.run([PostgresCall(.rollbackToSavepoint), PostgresCall(.releaseSavepoint)])
            failure = nil
        } catch let refusal as PostgresFailure {
            failure = refusal.error
            throw refusal.error
        }
    }
}

// MARK: - FollowedState

/// The state of a database as this node knows it, and the listener that is notified of changes.
///
/// Commits of this node and of other nodes arrive in any order; the state never goes back.
final class FollowedState: Sendable {
    private struct State {
        var newest: DatabaseState
        var readAt: ContinuousClock.Instant?
        /// The age of design documents of which the listener was notified.
        var announcedDesignAge: Int64
        var listener: (@Sendable (CommitNotice) -> Void)?
    }

    private let state: Guarded<State>
    /// Held while the listener is notified, so that notices come in the order of commits.
    private let announcing = Guarded(())

    init(_ newest: DatabaseState) {
        state = Guarded(State(newest: newest, announcedDesignAge: newest.designAge))
    }

    func listen(_ notify: @escaping @Sendable (CommitNotice) -> Void) { state.withLock { $0.listener = notify } }

    /// The age of the design documents that observers know. They are notified before this changes, so a write is
    /// never validated by functions that are older than this age.
    var announcedDesignAge: Int64 { state.withLock { $0.announcedDesignAge } }

    /// The state, if it was read after the start of this thread's request.
    var fresh: DatabaseState? {
        let (newest, moment) = state.withLock { ($0.newest, $0.readAt) }
        guard let moment, Freshness.accepts(readAt: moment) else { return nil }
        return newest
    }

    /// Records that the newest state was read by a query that was sent at `moment`.
    func record(readAt moment: ContinuousClock.Instant) {
        state.withLock { $0.readAt = max($0.readAt ?? moment, moment) }
    }

    /// Advances to a state, and notifies the listener if something has changed or the commit is this node's.
    func follow(_ next: DatabaseState, _ settings: SettingsCache, isForeign: Bool) {
        announcing.withLock { _ in
            let (notice, listener) = state.withLock { state -> (CommitNotice?, (@Sendable (CommitNotice) -> Void)?) in
                let old = state.newest
                let isNewer =
                    next.sequence > old.sequence || next.settingsAge > old.settingsAge || next.designAge > old.designAge
                guard isNewer || !isForeign else { return (nil, nil) }
                state.newest.sequence = max(old.sequence, next.sequence)
                state.newest.settingsAge = max(old.settingsAge, next.settingsAge)
                state.newest.designAge = max(old.designAge, next.designAge)
                return (
                    CommitNotice(
                        sequence: UpdateSequence(state.newest.sequence), changesDesign: next.designAge > old.designAge,
                        changesSettings: isForeign && next.settingsAge > old.settingsAge, isForeign: isForeign,
                        changesDocuments: next.sequence > old.sequence), state.listener
                )
            }
            settings.expect(next.settingsAge)
            guard let notice else { return }
            listener?(notice)
            state.withLock { $0.announcedDesignAge = max($0.announcedDesignAge, next.designAge) }
        }
    }
}

// MARK: - SettingsCache

/// The settings of a database at an age, so that a write need not read them. The write is committed only if the
/// settings still have that age.
final class SettingsCache: Sendable {
    /// All settings at one age.
    struct Values: Sendable {
        let age: Int64
        let values: [String: String]
    }

    private let database: Int64
    private let pool: PostgresPool
    private let known = Guarded<Values?>(nil)

    init(_ database: Int64, _ pool: PostgresPool) { (self.database, self.pool) = (database, pool) }

    /// The cached settings, or newly read ones.
    func values() throws -> Values {
        if let known = known.withLock({ $0 }) { return known }
        return try read(pool)
    }

    /// The settings at an age, which the caller has read from the locked row.
    func values(at age: Int64, _ link: any PostgresLink) throws -> Values {
        if let known = known.withLock({ $0 }), known.age == age { return known }
        return try read(link)
    }

    /// Drops settings older than an age.
    func expect(_ age: Int64) {
        known.withLock { if let values = $0, values.age < age { $0 = nil } }
    }

    private func read(_ link: any PostgresLink) throws -> Values {
        guard let rows = try link.ask([PostgresCall(.settings, .integer(database))]).first, rows.count > 0 else {
            throw DatabaseError(.closed, "the database was deleted")
        }
        var values: [String: String] = [:]
        for row in 0..<rows.count where !rows.isNull(row, 1) { values[rows.text(row, 1)] = rows.text(row, 2) }
        let read = Values(age: rows.integer(0, 0), values: values)
        known.withLock { known in
            if (known?.age ?? 0) <= read.age { known = read }
        }
        return read
    }
}
