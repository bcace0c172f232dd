internal import SettleDatabase
internal import SettlePlatform

/// The connections of a node, lent to one thread at a time.
///
/// A connection that broke is not used again, and those that were idle then are closed as well: after a failover they lead to
/// the old primary. All connections lead to one cluster, which the first one has told, and to its newest primary: a promotion
/// begins a timeline, and a server of an older one is passed over.
final class PostgresPool: Sendable {
    private struct State {
        var idle: [Lent<PostgresConnection>] = []
        var count = 0
        /// Raised when a connection breaks; connections of older generations are closed when they come back.
        var generation = 0
        var cluster: String?
        /// The newest timeline that a connection has told, in hexadecimal digits.
        var timeline = ""
        var isClosed = false
    }

    private let configuration: PostgresConfiguration
    private let state = Monitor(State())
    /// For how many seconds a thread waits for a free connection.
    private static let patience = 2.0

    init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    /// Lends a connection to a closure.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` when none is free or the server can't be reached; what the closure throws.
    func with<Result>(_ body: (PostgresConnection) throws -> Result) throws -> Result {
        let (connection, generation) = try take()
        defer { giveBack(connection, generation) }
        return try body(connection.value)
    }

    /// Asks questions that change nothing; once more on another connection if that breaks.
    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        do { return try with { try $0.run(calls) } } catch let failure as PostgresFailure {
            guard failure.endsConnection else { throw failure.error }
            do { return try with { try $0.run(calls) } } catch let failure as PostgresFailure { throw failure.error }
        }
    }

    /// Runs statements once, without a second attempt: what they changed before the answer was lost may be there.
    ///
    /// - Throws: ``DatabaseError``.
    func runOnce(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        try with { connection in
            do { return try connection.run(calls) } catch let failure as PostgresFailure { throw failure.error }
        }
    }

    /// Takes a connection, which the caller gives back.
    func take() throws -> (connection: Lent<PostgresConnection>, generation: Int) {
        let taken = state.wait(seconds: Self.patience) { [limit = configuration.connections] state -> Taken? in
            if state.isClosed { return .closed }
            if let idle = state.idle.popLast() { return .open(idle, state.generation) }
            guard state.count < limit else { return nil }
            state.count += 1
            return .new(state.generation)
        }
        switch taken {
        case nil:
            throw DatabaseError(
                .unavailable, "all \(configuration.connections) connections to PostgreSQL are in use; try again")
        case .closed: throw DatabaseError(.closed, "the connections to PostgreSQL were closed")
        case .open(let connection, let generation): return (connection, generation)
        case .new(let generation):
            do { return (Lent(try connect()), generation) } catch {
                state.update { $0.count -= 1 }
                throw error
            }
        }
    }

    func giveBack(_ connection: Lent<PostgresConnection>, _ generation: Int) {
        let isBroken = connection.value.isBroken
        let closing = state.updateForOne { state -> [Lent<PostgresConnection>] in
            guard isBroken || state.isClosed || generation != state.generation else {
                state.idle.append(connection)
                return []
            }
            state.count -= 1
            guard isBroken, generation == state.generation else { return [] }
            state.generation += 1
            state.count -= state.idle.count
            defer { state.idle = [] }
            return state.idle
        }
        withExtendedLifetime(closing) {}
    }

    /// Makes a connection beside those that are lent, as feeds use one.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` when the server can't be reached or refuses; `invalid` for another
    ///   cluster; `newerFormat`, or `storage` for a schema that is not there.
    func connect() throws -> PostgresConnection {
        for passed in 0..<configuration.hosts {
            if let connection = try connect(passing: passed) { return connection }
        }
        throw DatabaseError(
            .unavailable,
            """
            \(configuration.place) leads to a primary that was replaced: another server was promoted since, and this one must \
            not accept connections
            """)
    }

    /// Makes a connection; `nil` if it leads to a primary that was replaced.
    private func connect(passing passed: Int) throws -> PostgresConnection? {
        let parameters = try configuration.connectionParameters(passing: passed)
        let connection: PostgresConnection
        do { connection = try PostgresConnection(parameters) } catch let failure as PostgresFailure {
            guard case .broken(let reason) = failure else { throw failure.error }
            throw DatabaseError(.unavailable, "can't connect to PostgreSQL at \(configuration.place): \(reason)")
        }
        do {
            let results = try connection.run([PostgresCall(.setUp), PostgresCall(.format)])
            try check(results[1])
            return isNewest(results[1].text(0, 2)) ? connection : nil
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Checks the version of the tables, and that all connections lead to one cluster.
    func check(_ format: PostgresResult) throws {
        guard format.count == 1 else {
            throw DatabaseError(.storage, "the table settle.format is damaged: it has \(format.count) rows")
        }
        let (number, cluster) = (format.integer(0, 0), format.text(0, 1))
        guard number == PostgresSchema.version else {
            throw DatabaseError(
                number > PostgresSchema.version ? .newerFormat : .storage,
                """
                the schema in PostgreSQL has version \(number), and this program needs \(PostgresSchema.version): \
                \(number > PostgresSchema.version ? "use a newer program" : "run `settle postgres migrate`")
                """)
        }
        let known = state.withLock { state -> String in
            if state.cluster == nil { state.cluster = cluster }
            return state.cluster ?? cluster
        }
        guard known == cluster else {
            throw DatabaseError(
                .invalid,
                """
                \(configuration.place) leads to two different clusters, \(known) and \(cluster): the hosts of the \
                connection string must be a primary and its standbys
                """)
        }
    }

    /// Whether no newer timeline is known.
    private func isNewest(_ timeline: String) -> Bool {
        state.withLock { state in
            state.timeline = max(state.timeline, timeline)
            return state.timeline == timeline
        }
    }

    /// Closes all connections; those that are lent when they come back.
    func close() {
        let closing = state.update { state -> [Lent<PostgresConnection>] in
            state.isClosed = true
            state.count -= state.idle.count
            defer { state.idle = [] }
            return state.idle
        }
        withExtendedLifetime(closing) {}
    }

    private enum Taken {
        case open(Lent<PostgresConnection>, Int)
        case new(Int)
        case closed
    }
}
