extension Database {
    /// Waits a tenth of a second if what has failed will work later: the database is suspended, or another process keeps its
    /// turn.
    ///
    /// - Parameter error: Why it failed.
    /// - Returns: Whether to try again; `false` if the database was closed or the task was cancelled.
    /// - Throws: The error, if it does not pass.
    package func waitsOut(_ error: DatabaseError) async throws -> Bool {
        switch error.code {
        case .closed: return false
        case .suspended, .inUse:
            try? await Task.sleep(for: .milliseconds(100))
            return !Task.isCancelled
        default: throw error
        }
    }
}
