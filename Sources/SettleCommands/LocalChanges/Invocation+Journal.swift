internal import Settle

extension Invocation {
    /// Opens the database, lends it with its journal to a closure, and closes it.
    ///
    /// - Throws: ``CommandError`` with status `notFound` where there is no journal.
    func withJournal<Result>(_ body: (Database, Journal) throws -> Result) throws -> Result {
        try withDatabase { database in
            guard let journal = database.journal else {
                throw CommandError.notFound(
                    "this database keeps no journal; switch it on with `settle log DB --on`, for operations from then on"
                )
            }
            return try body(database, journal)
        }
    }
}
