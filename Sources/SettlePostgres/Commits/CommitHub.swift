internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Notifies the databases of this node of commits by other nodes.
///
///     commit here ─→ bell: NOTIFY at most every 20 ms, in a transaction of its own ─→ other nodes
///     poll, every second: the rows of all databases that are open here ─→ what was missed
///
/// A notification is only a hint: a lost one costs a second. If `LISTEN` fails, the tables are polled every 250 ms.
final class CommitHub: Sendable {
    private struct State {
        /// The engines that are open, by the numbers of their databases. A database has several for a moment if threads
        /// open it at the same time.
        var open: [Int64: [Weak]] = [:]
        /// The states that the next notification announces.
        var rung: [Int64: DatabaseState] = [:]
        /// Whether the next notification asks other nodes to check all databases.
        var ringsAll = false
        /// Whether there may be rows to remove.
        var hasHousework = true
        var isStopped = false
    }

    private struct Weak: Sendable {
        let id: ObjectIdentifier
        weak let engine: PostgresEngine?
    }

    private let pool: PostgresPool
    /// A random name of this process, by which it recognizes its own notifications.
    private let node = SecureRandom.hexadecimal(bytes: 6)
    private let state = Monitor(State())
    /// The time for which commits are collected before a notification, in seconds.
    private static let quiet = 0.02
    /// The number of databases above which a notification names none, and other nodes check all.
    private static let maximumNames = 150
    /// The interval at which the rows are polled.
    static let interval: Duration = .seconds(1)
    /// The polling interval without notifications.
    static let intervalWithoutBell: Duration = .milliseconds(250)

    /// The time for which a round removes rows of deleted databases.
    private static let destruction: Duration = .seconds(20)

    init(_ pool: PostgresPool) { self.pool = pool }

    /// Starts the threads that send and receive notifications.
    func start() throws {
        do {
            try SystemThread.detach { [weak self] in
                while self?.ringOnce() == true {}
            }
            try SystemThread.detach { [weak self] in self?.listen() }
            try SystemThread.detach { [weak self] in
                while self?.keepHouseOnce() == true {}
            }
        } catch { throw DatabaseError(.storage, "the system gives no thread", cause: error) }
    }

    /// Ends the threads.
    func stop() { state.update { $0.isStopped = true } }

    /// Starts to follow the database of an engine.
    func add(_ engine: PostgresEngine) {
        let entry = Weak(id: ObjectIdentifier(engine), engine: engine)
        state.withLock { $0.open[engine.database, default: []].append(entry) }
    }

    /// Stops following the database of one engine, which was closed or released. Other engines of it go on.
    func remove(_ engine: ObjectIdentifier, of database: Int64) {
        state.withLock { state in
            state.open[database]?.removeAll { $0.id == engine }
            if state.open[database]?.isEmpty == true { state.open[database] = nil }
        }
    }

    /// The open engines. No last reference to one may be released while the lock is held, because `remove` locks, too.
    private var engines: [PostgresEngine] {
        state.withLock { $0.open.values.flatMap { $0.compactMap(\.engine) } }
    }

    private func engines(of database: Int64) -> [PostgresEngine] {
        state.withLock { $0.open[database, default: []].compactMap(\.engine) }
    }

    /// Announces a commit of this node to the other nodes soon.
    func ring(_ database: Int64, _ newest: DatabaseState) { state.updateForOne { $0.rung[database] = newest } }

    /// Asks the other nodes to check all their databases soon.
    func ringAll() { state.updateForOne { $0.ringsAll = true } }

    /// The number of this node's waiting writes, in all open databases.
    var waitingWrites: Int { engines.reduce(0) { $0 + $1.waitingWrites } }

    /// Removes rows of deleted databases soon.
    func keepHouse() { state.withLock { $0.hasHousework = true } }

    // MARK: - Ringing

    private func ringOnce() -> Bool {
        let isOpen = state.wait { state -> Bool? in
            if state.isStopped { return false }
            return state.rung.isEmpty && !state.ringsAll ? nil : true
        }
        guard isOpen else { return false }
        usleep(UInt32(Self.quiet * 1_000_000))
        let (rung, isAll) = state.withLock { state in
            defer { (state.rung, state.ringsAll) = ([:], false) }
            return (state.rung, state.ringsAll || state.rung.count > Self.maximumNames)
        }
        let names = rung.map { "\($0.key):\($0.value.sequence):\($0.value.settingsAge):\($0.value.designAge)" }
        let text = isAll ? "\(node) *" : ([node] + names).joined(separator: " ")
        // Polling makes up for a lost notification.
        try? pool.with { _ = try $0.run([PostgresCall(.notify, .text(text))]) }
        return true
    }

    // MARK: - Housekeeping

    /// Removes obsolete rows: at the start, after a deletion, and once a minute.
    private func keepHouseOnce() -> Bool {
        pool.lookAtHosts()
        // The next round goes on with what is left.
        if keepHouse(for: Self.destruction) { keepHouse() }
        for _ in 0..<120 where !isStopped {
            usleep(500_000)
            let isDue = state.withLock { state in
                defer { state.hasHousework = false }
                return state.hasHousework
            }
            if isDue { break }
        }
        return !isStopped
    }

    /// Keeps house in the open databases, then removes rows of deleted databases for some time.
    ///
    /// The open databases are first, because an upload is lost whose pin is not prolonged for ten minutes. If one of
    /// them fails, the next round tries it again.
    ///
    /// - Parameter time: The time for deleted databases; what has begun then is finished.
    /// - Returns: Whether rows of deleted databases are left, and can be removed.
    func keepHouse(for time: Duration) -> Bool {
        for engine in engines where !isStopped { try? engine.keepHouse() }
        let house = Housekeeping(pool: pool)
        let end = ContinuousClock.now + time
        do {
            while !isStopped, ContinuousClock.now < end {
                guard try house.destroyOne(until: end) else { return false }
            }
        } catch {
            // The server can't be reached; a later round tries again.
            return false
        }
        return true
    }

    // MARK: - Listening

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func listen() {
        while !isStopped {
            do {
                let generation = pool.generation
                let connection = try pool.connect()
                let hears = (try? connection.run([PostgresCall(.listen)])) != nil && !connection.isBroken
                try poll(connection)
                // End when the pool has found a newer primary.
                while !isStopped, pool.generation == generation {
                    try wait(connection, ContinuousClock.now + (hears ? Self.interval : Self.intervalWithoutBell))
                    try poll(connection)
                }
            } catch {
                // The server can't be reached. Feeds stay open, and get the missed changes when it is back.
                usleep(300_000)
            }
        }
    }

    /// Receives notifications until a time.
    private func wait(_ connection: PostgresConnection, _ end: ContinuousClock.Instant) throws {
        while !isStopped,
            connection.wait(until: min(end, ContinuousClock.now + .milliseconds(500))) || ContinuousClock.now < end
        {
            for bell in try connection.notifications() {
                let words = bell.split(separator: " ")
                guard words.first.map(String.init) != node else { continue }
                if words.last == "*" { try poll(connection) }
                for word in words.dropFirst() { follow(word) }
            }
        }
    }

    private func follow(_ word: Substring) {
        let numbers = word.split(separator: ":").compactMap { Int64($0) }
        guard numbers.count == 4 else { return }
        let newest = DatabaseState(sequence: numbers[1], settingsAge: numbers[2], designAge: numbers[3])
        for engine in engines(of: numbers[0]) { engine.follow(newest, isForeign: true) }
    }

    /// Reads the rows of all open databases.
    private func poll(_ connection: PostgresConnection) throws {
        var open = Dictionary(grouping: engines, by: \.database)
        guard !open.isEmpty else { return }
        let begin = ContinuousClock.now
        let call = PostgresCall(.follow, .integers(open.keys.sorted()))
        guard let rows = try connection.run([call]).first else { return }
        for row in 0..<rows.count {
            let newest = DatabaseState(
                sequence: rows.integer(row, 1), settingsAge: rows.integer(row, 2), designAge: rows.integer(row, 3))
            for engine in open.removeValue(forKey: rows.integer(row, 0)) ?? [] {
                engine.follow(newest, isForeign: true)
                engine.record(readAt: begin)
            }
        }
        for engine in open.values.joined() { engine.wasDeleted() }
    }
}
