internal import CPostgres
internal import SettleDatabase
internal import SettlePlatform

/// A connection to a server, by libpq. One thread at a time uses it.
///
/// Statements are sent in pipelines: any number of calls take one round trip. Each statement is prepared at its
/// first use.
///
///     run([a, b, c])     Parse a · Bind a · Execute · Bind b · Execute · …· Sync ──→
///                        ←── results of a, b, c
///
/// Values are always bound and never part of the text. The texts are those of ``PostgresStatement``.
final class PostgresConnection {
    private let handle: OpaquePointer
    private var names: [PostgresStatement: String] = [:]
    /// The beginning of the names of prepared statements. It is random: behind a pooler, the session may have had
    /// another client, whose statements must not be run.
    private let prefix = "s\(SecureRandom.hexadecimal(bytes: 6))_"
    /// The number of names that prepared statements have used.
    private var lastName = 0
    /// The statements that the pipeline being sent prepares.
    private var fresh: [PostgresStatement] = []
    /// The number of sent calls whose results were not read yet.
    private var owed = 0
    private let notices: UnsafeMutablePointer<Int>
    /// Whether the connection must not be used again.
    private(set) var isBroken = false

    /// The maximum time to wait for an answer.
    private static let patience: Duration = .seconds(30)
    /// The same for statements that PostgreSQL may run for ten minutes.
    static let longPatience: Duration = .seconds(610)

    /// Connects with libpq's parameters.
    ///
    /// - Throws: ``PostgresFailure/broken(_:)`` with libpq's message, which contains no password.
    init(_ parameters: [(String, String)]) throws {
        notices = .allocate(capacity: 1)
        notices.initialize(to: 0)
        let names = parameters.map { strdup($0.0) } + [nil]
        let values = parameters.map { strdup($0.1) } + [nil]
        defer { for text in names + values { free(text) } }
        let opened = names.withUnsafeBufferPointer { names in
            values.withUnsafeBufferPointer { values in
                names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
                    values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
                        PQconnectdbParams(names.baseAddress, values.baseAddress, 0)
                    }
                }
            }
        }
        guard let opened else {
            notices.deallocate()
            throw PostgresFailure.broken("libpq is out of memory")
        }
        handle = opened
        // From here on `deinit` closes the connection, even if this throws.
        guard PQstatus(handle) == CONNECTION_OK else { throw PostgresFailure.broken(Self.message(handle)) }
        PQsetNoticeReceiver(handle, { counter, _ in counter?.assumingMemoryBound(to: Int.self).pointee += 1 }, notices)
        guard PQenterPipelineMode(handle) == 1 else { throw PostgresFailure.broken(Self.message(handle)) }
    }

    deinit {
        PQfinish(handle)
        notices.deallocate()
    }

    /// The number of warnings that the server has sent.
    var warnings: Int { notices.pointee }

    /// The descriptor of the socket, on which notifications arrive.
    var socket: Int32 { PQsocket(handle) }

    /// The id of the server's process, as reported at the start of the connection. A pooler reports another one.
    var announcedProcess: Int64 { Int64(PQbackendPID(handle)) }

    /// Sends calls together and returns their results.
    ///
    /// - Throws: ``PostgresFailure``. If a call is refused, the calls after it were not run.
    func run(_ calls: [PostgresCall], within limit: Duration? = nil) throws -> [PostgresResult] {
        try running(within: limit ?? Self.limit(of: calls)) { for call in calls { try send(call) } }
    }

    /// The maximum time to wait for the results of calls that are sent together.
    static func limit(of calls: [PostgresCall]) -> Duration {
        calls.contains { $0.statement == .allowLong } ? longPatience : patience
    }

    /// Sends a pipeline and reads its results.
    private func running(within limit: Duration, _ send: () throws -> Void) throws -> [PostgresResult] {
        let deadline = ContinuousClock.now + limit
        try guarding {
            try drain(until: deadline)
            try send()
            guard PQpipelineSync(handle) == 1 else { throw broken() }
        }
        var failure: PostgresFailure?
        var results: [PostgresResult] = []
        try guarding {
            // A call that is prepared has two results; the result of the preparation is skipped.
            for _ in 0..<pending { try receive(until: deadline, &results, &failure) }
            pending = 0
            try receiveSync(until: deadline)
        }
        if let failure { try fail(failure) }
        fresh = []
        return results
    }

    /// After a failed pipeline, drops statements that may not have been prepared.
    private func fail(_ failure: PostgresFailure) throws {
        for statement in fresh { names[statement] = nil }
        fresh = []
        if failure.endsConnection { isBroken = true }
        throw failure
    }

    /// Sends a call without waiting for its result, which the next use of the connection reads.
    func post(_ call: PostgresCall) throws {
        try guarding {
            try drain(until: ContinuousClock.now + Self.patience)
            try send(call)
            guard PQpipelineSync(handle) == 1 else { throw broken() }
            (owed, pending) = (pending, 0)
        }
    }

    /// Runs an SQL text of the migration, which has no parameters.
    @discardableResult
    func runText(_ text: String) throws -> [PostgresResult] {
        try running(within: .seconds(600)) {
            guard PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1) == 1 else { throw broken() }
            pending += 1
            preparations.append(false)
        }
    }

    /// Quotes a name for an SQL text.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for a name that is invalid in PostgreSQL.
    func identifier(_ name: String) throws -> String {
        guard let quoted = PQescapeIdentifier(handle, name, name.utf8.count) else {
            throw DatabaseError(.invalid, "\"\(name)\" is not the name of a role")
        }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }

    /// Rolls back an open transaction. The next use of the connection waits for the result.
    func abandonTransaction() {
        guard !isBroken else { return }
        try? post(PostgresCall(.rollback))
    }

    /// Reads received bytes, and returns the payloads that other sessions have sent by `NOTIFY`.
    func notifications() throws -> [String] {
        guard PQconsumeInput(handle) == 1 else { throw broken() }
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }

    // MARK: - Sending

    /// The number of results of the pipeline being sent.
    private var pending = 0
    /// Which of these results belong to preparations.
    private var preparations: Queue<Bool> = Queue()

    private func send(_ call: PostgresCall) throws {
        let name = try prepared(call.statement)
        let encoded = call.values.map(\.encoded)
        // One block of memory for all values, so that each has a stable address until they are sent.
        var block: [UInt8] = []
        block.reserveCapacity(encoded.reduce(1) { $0 + ($1?.count ?? 0) })
        var places: [(offset: Int, length: Int)?] = []
        for value in encoded {
            places.append(value.map { (block.count, $0.count) })
            if let value { block += value }
        }
        block.append(0)
        let isSent = block.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = places.map { place in place.flatMap { place in start.map { $0 + place.offset } } }
            let lengths = places.map { Int32($0?.length ?? 0) }
            let formats = [Int32](repeating: 1, count: places.count)
            return PQsendQueryPrepared(handle, name, Int32(places.count), values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw broken() }
        pending += 1
        preparations.append(false)
    }

    private func prepared(_ statement: PostgresStatement) throws -> String {
        if let name = names[statement] { return name }
        lastName += 1
        let name = "\(prefix)\(lastName)"
        guard PQsendPrepare(handle, name, statement.text, 0, nil) == 1 else { throw broken() }
        names[statement] = name
        fresh.append(statement)
        pending += 1
        preparations.append(true)
        return name
    }

    // MARK: - Receiving

    /// Reads results that were not awaited.
    private func drain(until deadline: ContinuousClock.Instant) throws {
        guard owed > 0 else { return }
        var (results, failure) = ([PostgresResult](), PostgresFailure?.none)
        while owed > 0 {
            try receive(until: deadline, &results, &failure)
            owed -= 1
        }
        try receiveSync(until: deadline)
        if let failure { try fail(failure) }
        fresh = []
    }

    private func receive(
        until deadline: ContinuousClock.Instant, _ results: inout [PostgresResult], _ failure: inout PostgresFailure?
    ) throws {
        let isPreparation = preparations.popFirst() ?? false
        guard let result = try next(until: deadline) else { throw broken() }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            if isPreparation { PQclear(result) } else { results.append(PostgresResult(result)) }
        default:
            if failure == nil, PQresultStatus(result) != PGRES_PIPELINE_ABORTED { failure = PostgresFailure(result) }
            PQclear(result)
        }
        // The end of this call's results.
        while let more = try next(until: deadline) { PQclear(more) }
    }

    private func receiveSync(until deadline: ContinuousClock.Instant) throws {
        guard let result = try next(until: deadline) else { throw broken() }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw broken() }
    }

    private func next(until deadline: ContinuousClock.Instant) throws -> OpaquePointer? {
        while PQisBusy(handle) != 0 {
            guard wait(until: deadline) else { throw PostgresFailure.broken("no answer came in time") }
            guard PQconsumeInput(handle) == 1 else { throw broken() }
        }
        return PQgetResult(handle)
    }

    /// Waits until the server has sent something; returns false after the deadline.
    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { return false }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let milliseconds = Int32(min(left.inSeconds * 1000 + 1, 3_600_000))
            if poll(&entry, 1, milliseconds) > 0 { return true }
        }
    }

    private func guarding(_ body: () throws -> Void) throws {
        guard !isBroken else { throw PostgresFailure.broken("it was broken before") }
        do { try body() } catch {
            isBroken = true
            throw error
        }
    }

    private func broken() -> PostgresFailure {
        isBroken = true
        return .broken(Self.message(handle))
    }

    private static func message(_ handle: OpaquePointer) -> String {
        String(cString: PQerrorMessage(handle)).split(separator: "\n").joined(separator: " ")
    }
}
