internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Commits to one database. If the answer to a commit is lost, finds out whether the commit succeeded.
///
/// Each commit writes a *mark*: the number of this engine's last commit. A commit whose answer was lost has succeeded
/// exactly if the mark has its number. Before the mark is read, an extra commit locks the database's row, so it
/// waits for a commit that is still in line. When that extra commit is acknowledged, the standby has it and
/// everything before it.
///
/// An engine has at most one commit at a time, and finds out its outcome before the next one. Another engine of the
/// database, for example after it was closed and opened again, has a mark of its own.
final class Committer: Sendable {
    private let database: Int64
    private let pool: PostgresPool
    /// The name of this node in leases.
    private let node: String
    private let marks: CommitMarks
    /// The maximum time of a commit, and the maximum time to find out afterwards whether it succeeded.
    private static let patience: Duration = .seconds(5)
    private static let retries = 5

    init(_ database: Int64, _ pool: PostgresPool, node: String) {
        (self.database, self.pool, self.node) = (database, pool, node)
        marks = CommitMarks(node: node)
    }

    /// The outcomes of committing a group.
    struct Outcomes {
        var each: [CommitOutcome]
        /// The state after the commit; `nil` if nothing was committed.
        var state: DatabaseState?
    }

    // MARK: - A group of change sets

    /// Commits the change sets that are not stale.
    func commit(_ sets: [ChangeSet], _ settings: SettingsCache, _ followed: FollowedState) -> Outcomes {
        do {
            var attempt = 0
            while true {
                do {
                    let outcomes = try pool.with { connection in
                        do { return try commit(sets, connection, settings, followed) } catch {
                            connection.abandonTransaction()
                            throw error
                        }
                    }
                    if let state = outcomes.state { followed.follow(state, settings, isForeign: false) }
                    return outcomes
                } catch let failure as PostgresFailure {
                    // An idle connection may have broken long ago; in that case nothing was sent on it.
                    attempt += 1
                    guard failure.isTransient ? attempt <= Self.retries : failure.endsConnection && attempt == 1 else {
                        throw failure.error
                    }
                }
            }
        } catch { return Outcomes(each: sets.map { _ in .failed(error) }, state: nil) }
    }

    private func commit(
        _ sets: [ChangeSet], _ connection: PostgresConnection, _ settings: SettingsCache, _ followed: FollowedState
    ) throws -> Outcomes {
        let comparison = Comparison(sets, database)
        let results = try connection.run([PostgresCall(.begin), lock] + comparison.calls, within: Self.patience * 2)
        var state = try lockedState(results[1])
        followed.follow(state, settings, isForeign: true)
        var outcomes = try comparison.outcomes(state, Array(results.dropFirst(2)))
        var (merged, touched) = (ChangeSet(), ChangeSet.Touched())
        for index in sets.indices {
            guard case .committed = outcomes[index] else { continue }
            if sets[index].depends(on: touched) {
                outcomes[index] = .stale
            } else {
                merged.merge(sets[index])
                touched.insert(sets[index])
            }
        }
        guard !merged.isEmpty else {
            connection.abandonTransaction()
            return Outcomes(each: outcomes, state: nil)
        }
        var tallies = Tallies()
        let calls = try merged.calls(database, &state, &tallies)
        let mark = marks.next()
        try finish(
            calls + (tallies.call(database).map { [$0] } ?? []) + [advance(to: state), self.mark(mark)], connection,
            mark)
        return Outcomes(each: outcomes, state: state)
    }

    // MARK: - A locked session

    /// Locks the row of the database, runs a closure, and commits.
    func locked<Result>(
        _ settings: SettingsCache, _ followed: FollowedState, _ body: (WriteSession) throws -> Result,
        done: (DatabaseState) -> Void
    ) throws -> Result {
        var attempt = 0
        while true {
            do {
                return try pool.with { connection in
                    let results = try connection.run([PostgresCall(.begin), lock], within: Self.patience * 2)
                    return try locked(connection, results[1], settings, followed, body, done)
                }
            } catch let failure as PostgresFailure {
                // Only the lock can fail in this way, before the closure has run.
                attempt += 1
                guard failure.isTransient ? attempt <= Self.retries : failure.endsConnection && attempt == 1 else {
                    throw failure.error
                }
            }
        }
    }

    private func locked<Result>(
        _ connection: PostgresConnection, _ row: PostgresResult, _ settings: SettingsCache, _ followed: FollowedState,
        _ body: (WriteSession) throws -> Result, _ done: (DatabaseState) -> Void
    ) throws -> Result {
        do {
            let state = try lockedState(row)
            followed.follow(state, settings, isForeign: true)
            let link = ConnectionLink(connection)
            let session = WriteSession(
                database, link, settings: try settings.values(at: state.settingsAge, link),
                .locked(LockedRow(state, link, node: node)))
            let result = try body(session)
            try session.checkUploads()
            let calls = try session.dequeueCalls()
            guard let end = session.row, !calls.isEmpty || end.hasSent || end.state != end.start else {
                connection.abandonTransaction()
                for action in session.nesting.actions { action() }
                return result
            }
            if let failure = link.failure { throw failure }
            let mark = marks.next()
            do { try finish(calls + [advance(to: end.state), self.mark(mark)], connection, mark) } catch let failure
                as PostgresFailure
            { throw failure.error }
            followed.follow(end.state, settings, isForeign: false)
            done(end.state)
            for action in session.nesting.actions { action() }
            return result
        } catch {
            connection.abandonTransaction()
            if let failure = error as? PostgresFailure { throw failure.error }
            throw error
        }
    }

    // MARK: - The end of a commit

    /// Sends the last statements and the commit.
    ///
    /// - Throws: ``PostgresFailure`` if nothing was committed; ``DatabaseError`` with code `unavailable` if that is
    ///   unknown.
    private func finish(_ calls: [PostgresCall], _ connection: PostgresConnection, _ mark: Int64) throws {
        let warnings = connection.warnings
        do {
            let results = try connection.run(calls + [PostgresCall(.commit)], within: Self.patience)
            guard results.last?.tag == "COMMIT" else {
                throw PostgresFailure.refused(state: "40000", message: "the transaction was rolled back")
            }
            // A warning may mean that the commit did not wait for the standby.
            if connection.warnings == warnings { return pool.recordWrite(isAnswered: true) }
        } catch PostgresFailure.broken {}
        pool.recordWrite(isAnswered: false)
        guard try isCommitted(mark) else {
            throw PostgresFailure.broken("the commit was not done; nothing was written")
        }
    }

    /// Whether the commit with a mark exists and is durable.
    private func isCommitted(_ mark: Int64) throws -> Bool {
        let deadline = ContinuousClock.now + Self.patience
        var last: (any Error)?
        while ContinuousClock.now < deadline {
            do {
                return try pool.with { connection in
                    let warnings = connection.warnings
                    let results = try connection.run(
                        [
                            PostgresCall(.begin), PostgresCall(.waitInLine, .integer(database)),
                            PostgresCall(.findMark, .integer(database), .text(marks.name)), PostgresCall(.commit),
                        ], within: max(deadline - .now, .milliseconds(100)))
                    guard results[3].tag == "COMMIT", connection.warnings == warnings else {
                        throw PostgresFailure.broken("the standby was not waited for")
                    }
                    return results[2].count > 0 && results[2].integer(0, 0) >= mark
                }
            } catch {
                last = error
                usleep(100_000)
            }
        }
        throw DatabaseError(
            .unavailable,
            """
            PostgreSQL has not said in time whether a commit is there: it may have been written. Writing the same again is \
            safe
            """, cause: last)
    }

    /// Reads the locked row of the database, and checks that this program supports the version of the tables.
    private func lockedState(_ row: PostgresResult) throws -> DatabaseState {
        let state = try DatabaseState(row)
        try pool.check(version: row.integer(0, 4))
        return state
    }

    private var lock: PostgresCall { PostgresCall(.lock, .integer(database)) }

    private func advance(to state: DatabaseState) -> PostgresCall {
        PostgresCall(
            .advance, .integer(database), .integer(state.sequence), .integer(state.token), .integer(state.settingsAge),
            .integer(state.designAge))
    }

    private func mark(_ number: Int64) -> PostgresCall {
        PostgresCall(.mark, .integer(database), .text(marks.name), .integer(number))
    }
}

/// The marks of one engine: each commit writes the next number under the engine's name.
private final class CommitMarks: Sendable {
    /// A name that no other engine has, in this process or another one.
    let name: String
    private let last = Guarded<Int64>(0)

    init(node: String) { name = node + "-" + SecureRandom.hexadecimal(bytes: 6) }

    /// The number of the next commit.
    func next() -> Int64 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
