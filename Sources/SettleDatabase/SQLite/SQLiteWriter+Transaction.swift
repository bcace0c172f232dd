extension SQLiteWriter {
    /// Begins a transaction.
    func begin() throws {
        try connection.statement(.begin).run()
        hasBegun = true
        undone = nil
    }

    /// Commits the open transaction.
    ///
    /// - Throws: ``DatabaseError`` of the storage; the caller rolls back then.
    func commit() throws {
        try checkTransaction()
        try sealCounts()
        try connection.statement(.commit).run()
        hasBegun = false
    }

    /// Undoes the transaction, if SQLite has not done so already.
    func rollBack() {
        if connection.isInTransaction { try? connection.statement(.rollback).run() }
        hasBegun = false
        forget()
        forgetCommitActions(after: 0)
    }

    /// Throws when SQLite has undone the transaction.
    private func checkTransaction() throws {
        guard !connection.isInTransaction else { return }
        throw undone ?? DatabaseError(.diskFull, "the storage undid the transaction this write was a part of; retry")
    }

    /// Runs a closure as all there is in the transaction so far.
    func whole<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        doomed = nil
        let result = try body(self)
        if let doomed { throw doomed }
        try checkTransaction()
        return result
    }

    /// Runs a closure that shares the fate of the write around it: if it fails half way, that one can't succeed.
    func joined<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        try checkTransaction()
        let before = changes
        do { return try body(self) } catch {
            if changes != before, doomed == nil { doomed = error }
            throw error
        }
    }

    func part<Result>(_ body: () throws -> Result) throws -> Result {
        let outer = doomed
        doomed = nil
        defer { doomed = outer }
        let (actions, before) = (commitActions.count, changes)
        try checkTransaction()
        try connection.statement(.savepoint).run()
        do {
            let result = try whole { _ in try body() }
            try connection.statement(.release).run()
            return result
        } catch {
            if connection.isInTransaction { undoPart() }
            if !connection.isInTransaction, undone == nil { undone = error }
            forget()
            forgetCommitActions(after: actions)
            changes = before
            throw error
        }
    }

    private func undoPart() {
        do {
            try connection.statement(.rollbackToSavepoint).run()
            try connection.statement(.release).run()
        } catch {
            // A savepoint that can't be undone alone takes the whole transaction with it.
            try? connection.statement(.rollback).run()
        }
    }
}
