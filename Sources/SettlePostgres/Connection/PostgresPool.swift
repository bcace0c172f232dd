internal import SettleDatabase
internal import SettlePlatform

/// The connections of a node. Each is lent to one thread at a time.
///
/// After a connection has broken, it is not used again, and the idle connections are closed too: after a failover
/// they are connected to the old primary. All connections must lead to the cluster that the first one has reported,
/// and to its newest primary. A promotion starts a new timeline, and servers of an older timeline are skipped.
final class PostgresPool: Sendable {
    private struct State {
        var idle: [Lent<PostgresConnection>] = []
        var count = 0
        /// Increased when a connection breaks. Connections of older generations are closed when they are returned.
        var generation = 0
        var cluster: String?
        /// The newest timeline that a connection has reported, in hexadecimal digits.
        var timeline = ""
        var isClosed = false
        /// After a failed attempt to connect: the end of the pause before the next one, and the error.
        var pause: (end: ContinuousClock.Instant, error: any Error)?
        var counts = Counts()
    }

    /// Counts for monitoring.
    struct Counts: Sendable {
        /// The number of threads that wait for a connection.
        var waiting = 0
        /// The number of times that a thread had to wait.
        var waits = 0
        /// The number of times that no connection became free in time.
        var refusals = 0
        /// The number of connections that were opened.
        var opened = 0
        /// The number of failed attempts to connect.
        var failures = 0
    }

    private let configuration: PostgresConfiguration
    private let state = Monitor(State())
    /// Whether the last write got no answer.
    private let isDoubtful = Guarded(false)
    /// The jobs whose leases this node holds, by database.
    let leases = Guarded<[Int64: Set<String>]>([:])
    /// The time that a thread waits for a free connection.
    private static let patience: Duration = .seconds(2)
    /// The maximum wait if a part of the response was already sent.
    private static let longPatience: Duration = .seconds(30)
    /// The pause after a failed attempt to connect.
    private static let pause: Duration = .milliseconds(250)

    init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    /// Lends a connection to a closure.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` if no connection is free or the server can't be reached;
    ///   errors of the closure.
    func with<Result>(_ body: (PostgresConnection) throws -> Result) throws -> Result {
        let (connection, generation) = try borrow()
        defer { giveBack(connection, generation) }
        return try body(connection.value)
    }

    /// Sends queries that change nothing. If the connection breaks, they are sent again once, on another
    /// connection.
    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        do { return try with { try $0.run(calls) } } catch let failure as PostgresFailure {
            guard failure.endsConnection else { throw failure.error }
            do { return try with { try $0.run(calls) } } catch let failure as PostgresFailure { throw failure.error }
        }
    }

    /// Runs statements once, without a second attempt: if the answer is lost, they may have been executed.
    ///
    /// - Throws: ``DatabaseError``.
    func runOnce(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        try with { connection in
            do { return try connection.run(calls) } catch let failure as PostgresFailure { throw failure.error }
        }
    }

    /// Borrows a connection, which the caller must give back.
    ///
    /// While PostgreSQL refuses further connections, for example because of `max_connections`, the thread waits for
    /// one of the node's own.
    func borrow() throws -> (connection: Lent<PostgresConnection>, generation: Int) {
        let end = ContinuousClock.now + (StartedAnswer.isUnderWay ? Self.longPatience : Self.patience)
        var hasWaited = false
        defer { if hasWaited { state.withLock { $0.counts.waiting -= 1 } } }
        while true {
            switch state.update({ [limit = configuration.connections] in next(&$0, limit) }) {
            case .open(let connection, let generation): return (connection, generation)
            case .closed: throw DatabaseError(.closed, "the connections to PostgreSQL were closed")
            case .failed(let error): throw error
            case .new(let generation): if let connection = try open() { return (connection, generation) }
            case .none: break
            }
            if !hasWaited {
                hasWaited = true
                state.withLock { ($0.counts.waits, $0.counts.waiting) = ($0.counts.waits + 1, $0.counts.waiting + 1) }
            }
            guard ContinuousClock.now < end else { throw refusal() }
            // Nothing announces the end of a pause, so check again after a while.
            let left = min(end - .now, Self.pause).inSeconds
            _ = state.wait(seconds: left) { !$0.idle.isEmpty || $0.isClosed ? true : nil }
        }
    }

    private func next(_ state: inout State, _ limit: Int) -> Taken? {
        if state.isClosed { return .closed }
        if let idle = state.idle.popLast() { return .open(idle, state.generation) }
        guard state.count < limit else { return nil }
        if let pause = state.pause {
            if pause.end > .now { return state.count > 0 ? nil : .failed(pause.error) }
            // Only one of the waiting threads tries to connect.
            state.pause = (.now + Self.pause, pause.error)
        }
        state.count += 1
        return .new(state.generation)
    }

    /// Opens a connection; `nil` if that failed and one of the node's own may become free.
    private func open() throws -> Lent<PostgresConnection>? {
        do {
            let connection = Lent(try connect())
            state.withLock { ($0.pause, $0.counts.opened) = (nil, $0.counts.opened + 1) }
            return connection
        } catch {
            let hasOthers = state.update { state in
                state.count -= 1
                state.counts.failures += 1
                state.pause = (.now + Self.pause, error)
                return state.count > 0
            }
            guard hasOthers, (error as? DatabaseError)?.code == .unavailable else { throw error }
            return nil
        }
    }

    private func refusal() -> DatabaseError {
        let (count, pause) = state.update { state in
            state.counts.refusals += 1
            return (state.count, state.pause.map { "\($0.error)" })
        }
        let reason =
            count < configuration.connections ? pause.map { ", and PostgreSQL gives no more: \($0)" } ?? "" : ""
        return DatabaseError(.unavailable, "all \(count) connections to PostgreSQL are in use\(reason); try again")
    }

    /// The numbers of lent and idle connections, and the counts.
    var load: (lent: Int, idle: Int, counts: Counts) {
        state.withLock { ($0.count - $0.idle.count, $0.idle.count, $0.counts) }
    }

    /// A number that increases when open connections must not be used again.
    var generation: Int { state.withLock { $0.generation } }

    // MARK: - Writes without an answer

    /// Records whether a write was answered.
    func recordWrite(isAnswered: Bool) { isDoubtful.withLock { $0 = !isAnswered } }

    /// Checks that the server answers writes. If the last one was not answered, sends one that changes nothing.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable`.
    func checkWrites() throws {
        guard isDoubtful.withLock({ $0 }) else { return }
        do {
            // On a separate connection, because a connection can't be used after a query without an answer.
            let connection = try connect()
            let warnings = connection.warnings
            _ = try connection.run([PostgresCall(.probe)], within: Self.patience)
            guard connection.warnings == warnings else {
                throw PostgresFailure.broken("the standby was not waited for")
            }
        } catch let failure as PostgresFailure {
            throw DatabaseError(.unavailable, "PostgreSQL does not answer writes", cause: failure.error)
        }
        isDoubtful.withLock { $0 = false }
    }

    // MARK: - Connecting

    /// Checks that a pooler, if there is one, is in session mode.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for a pooler that lends a session for only one transaction.
    func checkPooler() throws {
        func process(_ connection: PostgresConnection) throws -> Int64 {
            try connection.run([PostgresCall(.process)], within: Self.patience)[0].integer(0, 0)
        }
        do {
            let connection = try connect()
            let before = try process(connection)
            guard before != connection.announcedProcess else { return }
            // In transaction mode the session is free now: another client gets it, and keeps it during its
            // transaction.
            let other = try connect()
            _ = try other.run([PostgresCall(.begin), PostgresCall(.process)], within: Self.patience)
            guard try process(connection) == before else { throw DatabaseError(.invalid, PostgresFailure.poolerAdvice) }
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Asks every server in the connection string for its timeline, so that a replaced primary is skipped even if
    /// it is listed first. Each has a few seconds to answer, and a server that does not answer doesn't delay the
    /// others.
    func lookAtHosts() {
        guard configuration.hosts > 1 else { return }
        let found = Monitor<[String]>([])
        // A listed host may now belong to another cluster, whose timelines mean nothing here.
        let cluster = state.withLock(\.cluster)
        let configuration = configuration
        for host in 0..<configuration.hosts {
            do {
                try SystemThread.detach {
                    let timeline = Self.timeline(of: host, configuration, in: cluster)
                    found.update { $0.append(timeline) }
                }
            } catch { found.update { $0.append("") } }
        }
        let newest = found.wait(seconds: 6) { $0.count == configuration.hosts ? $0.max() : nil }
        raise(newest ?? found.withLock { $0.max() ?? "" })
    }

    /// The timeline of one server; empty if it does not answer, is a standby, or belongs to another than the known
    /// cluster.
    private static func timeline(
        of host: Int, _ configuration: PostgresConfiguration, in cluster: String?
    ) -> String {
        guard let parameters = try? configuration.connectionParameters(only: host),
            let connection = try? PostgresConnection(parameters),
            let results = try? connection.run([PostgresCall(.setUp), PostgresCall(.format)], within: Self.patience)
        else { return "" }
        return cluster.map { $0 == results[1].text(0, 1) } ?? true ? results[1].text(0, 2) : ""
    }

    /// Stops using connections of older timelines.
    func raise(_ timeline: String) {
        let closing = state.update { state -> [Lent<PostgresConnection>] in
            guard timeline > state.timeline else { return [] }
            let isFirst = state.timeline.isEmpty
            state.timeline = timeline
            guard !isFirst else { return [] }
            state.generation += 1
            state.count -= state.idle.count
            defer { state.idle = [] }
            return state.idle
        }
        withExtendedLifetime(closing) {}
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

    /// Opens a connection in addition to those of the pool, for example for notifications.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` if the server can't be reached or refuses; `invalid` for
    ///   another cluster; `newerFormat`; `storage` if the schema is missing.
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

    /// Opens a connection; `nil` if it leads to a primary that was replaced.
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
            return adopt(timeline: results[1].text(0, 2)) ? connection : nil
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Checks the version of the tables, and that all connections lead to the same cluster.
    func check(_ format: PostgresResult) throws {
        guard format.count == 1 else {
            throw DatabaseError(.storage, "the table settle.format is damaged: it has \(format.count) rows")
        }
        let (number, cluster) = (format.integer(0, 0), format.text(0, 1))
        try check(version: number)
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

    /// Checks the version of the tables.
    ///
    /// - Throws: ``DatabaseError`` with code `newerFormat`, or `storage` for older ones.
    func check(version: Int64) throws {
        guard version != PostgresSchema.version else { return }
        let isNewer = version > PostgresSchema.version
        throw DatabaseError(
            isNewer ? .newerFormat : .storage,
            """
            the schema in PostgreSQL has version \(version), and this program needs \(PostgresSchema.version): \
            \(isNewer ? "use a newer program" : "run `settle postgres migrate`")
            """)
    }

    /// Records a connection's timeline. If it is newer than the known one, connections with an older timeline are no
    /// longer used.
    ///
    /// - Returns: Whether the timeline is the newest one known.
    func adopt(timeline: String) -> Bool {
        raise(timeline)
        return state.withLock { $0.timeline == timeline }
    }

    /// Closes all connections; lent ones are closed when they are returned.
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
        case failed(any Error)
        case closed
    }
}
