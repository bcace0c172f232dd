internal import SettleDatabase
internal import SettlePlatform

/// The row of a database: what every node has to know before it uses what it remembers.
struct DatabaseState: Sendable, Hashable {
    /// The newest sequence.
    var sequence: Int64
    /// The newest token of a content that was given out.
    var token: Int64
    /// Raised by each commit that changes a setting.
    var settingsAge: Int64
    /// Raised by each commit that changes a design document.
    var designAge: Int64

    /// A state that a bell or a poll has told, without the token, which only the locked row needs.
    init(sequence: Int64, settingsAge: Int64, designAge: Int64) {
        (self.sequence, token, self.settingsAge, self.designAge) = (sequence, 0, settingsAge, designAge)
    }

    /// Reads the row.
    ///
    /// - Throws: ``DatabaseError`` with code `closed` when the result has no row, because the database was deleted.
    init(_ result: PostgresResult) throws {
        guard result.count > 0 else { throw DatabaseError(.closed, "the database was deleted") }
        (sequence, token) = (result.integer(0, 0), result.integer(0, 1))
        (settingsAge, designAge) = (result.integer(0, 2), result.integer(0, 3))
    }
}

/// Sends questions to PostgreSQL.
protocol PostgresLink {
    /// Sends questions together.
    ///
    /// - Throws: ``DatabaseError``.
    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult]
}

extension PostgresPool: PostgresLink {}

/// A connection whose questions see one state, from the first one on.
final class SnapshotLink: PostgresLink {
    private let pool: PostgresPool
    private var lent: (connection: Lent<PostgresConnection>, generation: Int)?

    init(_ pool: PostgresPool) { self.pool = pool }

    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        do {
            if let lent { return try lent.connection.value.run(calls) }
            let taken = try pool.take()
            lent = taken
            // The transaction begins in the round trip of the first question.
            let begin = [PostgresCall(.beginSnapshot), PostgresCall(.allowIdle)]
            return Array(try taken.connection.value.run(begin + calls).dropFirst(begin.count))
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Ends the transaction. Nobody waits for that: the next use of the connection does.
    func end() {
        guard let lent else { return }
        self.lent = nil
        lent.connection.value.abandonTransaction()
        pool.giveBack(lent.connection, lent.generation)
    }
}
