extension DocumentStore {
    /// Suspends all databases of the store that this process has open; see ``Database/suspend()``. Apps call it when the
    /// system is about to suspend them.
    ///
    /// - Throws: The first error; the other databases are suspended all the same.
    public func suspend() throws { try forEachOpen { try $0.suspend() } }

    /// Resumes all databases of the store; see ``Database/resume()``.
    ///
    /// - Throws: The first error; the other databases are resumed all the same.
    public func resume() throws { try forEachOpen { try $0.resume() } }

    private func forEachOpen(_ body: (Database) throws -> Void) throws {
        var failure: (any Error)?
        for database in DatabaseRegistry.shared.databases(in: path) {
            do { try body(database) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
