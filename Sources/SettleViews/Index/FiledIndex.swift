internal import SettleDatabase

/// An index whose files are closed while others are used more, and opened again when it is next asked.
package protocol FiledIndex: AnyObject, Sendable {
    /// Who uses it now.
    var use: IndexUse { get }

    /// Closes the files. It is called while nobody uses the index.
    func closeFiles()
}

extension FiledIndex {
    /// Runs a closure during which the files are not closed.
    func using<Result>(_ body: () throws -> Result) rethrows -> Result {
        use.begin()
        defer { use.end(closeFiles) }
        use.openIndexes?.note(self)
        return try body()
    }

    /// Closes the files, now or when the last user has ended.
    func release() { use.release(closeFiles) }
}
