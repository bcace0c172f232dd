internal import SettleDatabase

extension SQLiteConnection {
    /// Runs a closure in a transaction, which is rolled back when it throws.
    func transact(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}
