internal import SettleDatabase
internal import SettlePlatform

/// Removes unreferenced rows in small steps: rows of deleted databases, and uploads that no document uses.
///
/// Every node does this. Each step is a transaction that finds its work under a lock, so several nodes don't
/// interfere.
struct Housekeeping: Sendable {
    let pool: PostgresPool

    /// Removes the rows of one deleted database, or some of them if there is no time for all; the next call goes on.
    ///
    /// - Parameter end: The time after which no further step begins.
    /// - Returns: False if no database is left to remove.
    /// - Throws: ``DatabaseError`` if the server can't be asked.
    func destroyOne(until end: ContinuousClock.Instant) throws -> Bool {
        guard let rows = try pool.ask([PostgresCall(.doomed)]).first, rows.count > 0 else { return false }
        let number = rows.integer(0, 0)
        // The pins are first: without them a writer that does not know of the deletion yet can add no more chunks.
        _ = try run(PostgresCall(.destroy(.uploads), .integer(number)))
        for statement in [PostgresStatement.destroyDocuments, .destroyContents, .destroyChunks] {
            while try run(PostgresCall(statement, .integer(number))) > 0 {
                if ContinuousClock.now >= end { return true }
            }
        }
        for table in PostgresStatement.Table.allCases {
            _ = try run(PostgresCall(.destroy(table), .integer(number)))
        }
        return true
    }

    /// Removes the chunks of some expired uploads of a database.
    ///
    /// - Returns: The number of uploads that were removed.
    func collectUploads(of database: Int64) throws -> Int {
        try pool.with { connection in
            do {
                let old = try connection.run([PostgresCall(.begin), PostgresCall(.oldUploads, .integer(database))])[1]
                let uploads = old.map { old.bytes($0, 0) }
                guard !uploads.isEmpty else {
                    connection.abandonTransaction()
                    return 0
                }
                _ = try connection.run([
                    PostgresCall(.dropChunks, .integer(database), .byteArrays(uploads)),
                    PostgresCall(.dropUploads, .integer(database), .byteArrays(uploads)), PostgresCall(.commit),
                ])
                return uploads.count
            } catch let failure as PostgresFailure {
                connection.abandonTransaction()
                throw failure.error
            }
        }
    }

    /// Removes the marks that were not written for a day.
    func forgetMarks(of database: Int64) throws { _ = try run(PostgresCall(.removeMarks, .integer(database))) }

    /// Removes the leases that have ended a day ago. Until then they count the terms of their jobs.
    func forgetLeases(of database: Int64) throws { _ = try run(PostgresCall(.forgetLeases, .integer(database))) }

    private func run(_ call: PostgresCall) throws -> Int { try pool.runOnce([call])[0].changed }
}
