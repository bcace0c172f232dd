internal import Dispatch

/// A few connections that only read, lent to one thread at a time.
///
/// A thread that reads within a read gets the connection it already has, so that it goes on seeing the same state.
///
/// Unchecked: `idle` and `lent` are guarded by `lock`; a lent reader is used by its one thread only.
final class ReaderPool: @unchecked Sendable {
    private let open: @Sendable () throws -> SQLiteReader
    private let lock = Guarded(())
    private let room: DispatchSemaphore
    private var idle: [SQLiteReader] = []
    private var lent: [(thread: ThreadID, reader: SQLiteReader)] = []
    private var isClosed = false

    init(limit: Int, open: @escaping @Sendable () throws -> SQLiteReader) {
        self.open = open
        room = DispatchSemaphore(value: max(limit, 1))
    }

    /// Lends a reader that sees one state of the database from its first question on.
    func read<Result>(_ body: (SQLiteReader) throws -> Result) throws -> Result {
        let thread = ThreadID.current
        let own = lock.withLock { _ in lent.first { $0.thread == thread }?.reader }
        if let own { return try body(own) }
        room.wait()
        defer { room.signal() }
        let reader = try take(for: thread)
        defer { giveBack(reader, from: thread) }
        return try body(reader)
    }

    /// Closes the connections that are not lent, and the others as they come back.
    func close() {
        let closing = lock.withLock { _ in
            isClosed = true
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(closing) {}
    }

    private func take(for thread: ThreadID) throws -> SQLiteReader {
        let reader = try lock.withLock { _ -> SQLiteReader? in
            guard !isClosed else { throw DatabaseError(.closed, "the database was closed") }
            return idle.popLast()
        }
        let taken = try reader ?? open()
        lock.withLock { _ in lent.append((thread, taken)) }
        return taken
    }

    private func giveBack(_ reader: SQLiteReader, from thread: ThreadID) {
        lock.withLock { _ in
            lent.removeAll { $0.thread == thread }
            if !isClosed { idle.append(reader) }
        }
    }
}
