internal import Dispatch
internal import SettlePlatform

/// A pool of read-only connections, each lent to one thread at a time.
///
/// If a thread reads inside another read, it gets the same connection, so that it sees the same state.
final class ReaderPool: Sendable {
    private struct State {
        var idle: [Lent<SQLiteReader>] = []
        var lent: [(thread: ThreadID, reader: Lent<SQLiteReader>)] = []
        var isClosed = false
    }

    private let open: @Sendable () throws -> SQLiteReader
    private let state = Guarded(State())
    private let room: DispatchSemaphore

    init(limit: Int, open: @escaping @Sendable () throws -> SQLiteReader) {
        self.open = open
        room = DispatchSemaphore(value: max(limit, 1))
    }

    /// Lends a reader that sees one state of the database from its first query on; waits until a reader is free.
    func read<Result>(_ body: (SQLiteReader) throws -> Result) throws -> Result {
        let thread = ThreadID.current
        if let own = reader(of: thread) { return try body(own.value) }
        room.wait()
        defer { room.signal() }
        let reader = try borrowIdle(for: thread) ?? borrowNew(for: thread)
        defer { giveBack(reader, from: thread) }
        return try body(reader.value)
    }

    /// Lends a reader that is open and free.
    ///
    /// - Throws: ``NotAtHand`` if all open readers are lent.
    func readIfFree<Result>(_ body: (SQLiteReader) throws -> Result) throws -> Result {
        let thread = ThreadID.current
        if let own = reader(of: thread) { return try body(own.value) }
        guard room.wait(timeout: .now()) == .success else { throw NotAtHand() }
        defer { room.signal() }
        guard let reader = try borrowIdle(for: thread) else { throw NotAtHand() }
        defer { giveBack(reader, from: thread) }
        return try body(reader.value)
    }

    /// Closes the connections that are not lent now, and the lent ones when they are returned.
    func close() {
        let closing = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        withExtendedLifetime(closing) {}
    }

    private func reader(of thread: ThreadID) -> Lent<SQLiteReader>? {
        state.withLock { state in state.lent.first { $0.thread == thread }?.reader }
    }

    private func borrowIdle(for thread: ThreadID) throws -> Lent<SQLiteReader>? {
        try state.withLock { state in
            guard !state.isClosed else { throw Self.closed }
            guard let reader = state.idle.popLast() else { return nil }
            state.lent.append((thread, reader))
            return reader
        }
    }

    private func borrowNew(for thread: ThreadID) throws -> Lent<SQLiteReader> {
        let new: Lent<SQLiteReader>
        do { new = Lent(try open()) } catch {
            // The database may have been closed and deleted since the check above.
            throw state.withLock(\.isClosed) ? Self.closed : error
        }
        try state.withLock { state in
            // Another database may have been created at the same path since the check above.
            guard !state.isClosed else { throw Self.closed }
            state.lent.append((thread, new))
        }
        return new
    }

    private static var closed: DatabaseError { DatabaseError(.closed, "the database was closed") }

    private func giveBack(_ reader: Lent<SQLiteReader>, from thread: ThreadID) {
        let isStale = reader.value.isStale
        state.withLock { state in
            state.lent.removeAll { $0.thread == thread }
            if !state.isClosed, !isStale { state.idle.append(reader) }
        }
    }
}

// MARK: - ThreadID

/// The identity of a thread.
package struct ThreadID: Hashable, Sendable {
    private let number: UInt

    /// The current thread.
    package static var current: ThreadID {
        #if canImport(Darwin)
        ThreadID(number: UInt(bitPattern: pthread_self()))
        #else
        ThreadID(number: UInt(pthread_self()))
        #endif
    }
}
