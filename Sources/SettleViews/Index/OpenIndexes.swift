internal import SettleDatabase
internal import SettlePlatform

/// The indexes of a database with open files: the most recently used ones, up to a limit.
///
///     used   a c b d     note(c), limit 3     →     b d c, and the files of a are closed
final class OpenIndexes: Sendable {
    private let limit: Int
    /// The database, whose files are open while an index is used.
    private weak let database: Database?
    /// The used indexes, least recently used first.
    private let used = Guarded<[any FiledIndex]>([])

    /// - Parameters:
    ///   - limit: The maximum number of open indexes. An index in use is not closed.
    ///   - database: The database.
    init(limit: Int, of database: Database) {
        self.limit = max(limit, 1)
        self.database = database
    }

    /// Whether this thread uses the indexes for transactions, because it may read changes that are never committed.
    ///
    /// In memory all transactions use them, also before a change: a thread that updates an index keeps it while it
    /// waits for the transaction, which would never end if it waited for the same index.
    var areForTransaction: Bool {
        guard let database else { return false }
        return database.readsUncommitted || database.path == nil && database.isInTransaction
    }

    /// Runs an action after the transaction of this thread is committed; see ``Database/afterCommit(_:)``.
    func afterCommit(_ action: @escaping @Sendable () -> Void) throws { try database?.afterCommit(action) }

    /// Runs a closure while no other process uses the files.
    func whileOpen<Result>(_ body: () throws -> Result) throws -> Result {
        guard let database else { return try body() }
        return try database.whileOpen(body)
    }

    /// Closes the files of all indexes.
    func closeAll() {
        let doomed = used.withLock { used in
            defer { used = [] }
            return used
        }
        for index in doomed { index.release() }
    }

    /// Records the use of an index.
    ///
    /// - Complexity: O(*n*) in the limit.
    func recordUse(_ index: any FiledIndex) {
        used.withLock { used in
            if used.last === index { return }
            used.removeAll { $0 === index }
            used.append(index)
        }
    }

    /// Closes the files of indexes beyond the limit.
    func closeOthers() {
        let doomed = used.withLock { used -> ArraySlice<any FiledIndex> in
            guard used.count > limit else { return [] }
            defer { used.removeFirst(used.count - limit) }
            return used.prefix(used.count - limit)
        }
        for index in doomed { index.release() }
    }

    /// Drops an index whose file is to be removed.
    func forget(_ index: any FiledIndex) { used.withLock { used in used.removeAll { $0 === index } } }
}

/// An index whose files are closed when other indexes are used more recently, and reopened at its next use.
package protocol FiledIndex: AnyObject, Sendable {
    /// The current users of the index.
    var use: IndexUse { get }

    /// Closes the files. Called only while the index is unused, and by its deinitializer, before ``use`` is released.
    func closeFiles()
}

extension FiledIndex {
    /// Runs a closure while the files are kept open.
    func using<Result>(_ body: () throws -> Result) throws -> Result {
        try usingOpened {
            use.openIndexes?.closeOthers()
            return try body()
        }
    }

    /// Does the same without opening a file, so no other index has to be closed.
    func usingOpened<Result>(_ body: () throws -> Result) throws -> Result {
        guard let others = use.openIndexes else { return try inUse(body) }
        return try others.whileOpen {
            try inUse {
                if !use.isDoomed { others.recordUse(self) }
                return try body()
            }
        }
    }

    private func inUse<Result>(_ body: () throws -> Result) rethrows -> Result {
        use.begin()
        defer { use.end(closeFiles) }
        return try body()
    }

    /// Closes the files, now or after the last user.
    func release() { use.release(closeFiles) }
}

// MARK: - IndexUse

/// The number of current users of an index, and whether its files are closed after them.
package final class IndexUse: Sendable {
    private struct State {
        var users = 0
        var isDue = false
    }

    private let state = Guarded(State())
    /// The open indexes of the database; `nil` after it was closed.
    weak let openIndexes: OpenIndexes?
    /// The lock of the folder, as long as the index uses files in it.
    private let lock: FileLock?
    private let doom: Guarded<Bool>
    /// Whether the file may have rows of changes that were undone.
    let hasUndoneRows: Guarded<Bool>
    private let onEnd: @Sendable () -> Void

    init(at place: IndexPlace) {
        (openIndexes, lock, doom, onEnd) = (place.openIndexes, place.lock, place.isDoomed, place.onEnd)
        hasUndoneRows = place.hasUndoneRows
    }

    deinit { onEnd() }

    /// Whether the file is removed when nothing refers to the index any more.
    var isDoomed: Bool { doom.withLock { $0 } }

    /// Counts a user.
    func begin() {
        state.withLock { state in
            state.users += 1
            state.isDue = false
        }
    }

    /// Removes a user, and closes the files after the last one if they are due.
    func end(_ close: () -> Void) {
        state.withLock { state in
            state.users -= 1
            guard state.users == 0, state.isDue else { return }
            state.isDue = false
            close()
        }
    }

    /// Closes the files if they are unused; otherwise marks them as due.
    func release(_ close: () -> Void) {
        state.withLock { state in
            if state.users == 0 { close() } else { state.isDue = true }
        }
    }
}

// MARK: - IndexPlace

/// The location of an index's file, and the open indexes of the database.
package struct IndexPlace: Sendable {
    let path: String
    let openIndexes: OpenIndexes
    /// The lock of the folder, if it is not the database's own.
    let lock: FileLock?
    /// Whether the file is removed when nothing refers to the index any more; changed by its folder.
    let isDoomed: Guarded<Bool>
    /// Whether the file may have rows of changes that were undone; the next update removes all rows first.
    let hasUndoneRows: Guarded<Bool>
    /// Called when nothing refers to the index any more and its files are closed.
    let onEnd: @Sendable () -> Void
}
