internal import SettleDatabase

/// An index whose files are closed when others are used more, and reopened at its next use.
package protocol FiledIndex: AnyObject, Sendable {
    /// The current users of the index.
    var use: IndexUse { get }

    /// Closes the files. Called only while the index is unused.
    func closeFiles()
}

extension FiledIndex {
    /// Runs a closure while the files are kept open.
    func using<Result>(_ body: () throws -> Result) rethrows -> Result {
        try usingOpened {
            use.openIndexes?.closeOthers()
            return try body()
        }
    }

    /// The same where no file is opened, and so no other has to be closed.
    func usingOpened<Result>(_ body: () throws -> Result) rethrows -> Result {
        use.begin()
        defer { use.end(closeFiles) }
        use.openIndexes?.note(self)
        return try body()
    }

    /// Closes the files, now or after the last user.
    func release() { use.release(closeFiles) }
}
