internal import SettleDatabase
internal import SettlePlatform

/// Tokens of contents that this node has reserved, so that a write knows them before it is committed.
///
/// A reservation is used for a minute, so the order of tokens is that of time but for a minute; compaction by age relies on that.
final class ContentTokens: Sendable {
    private struct State {
        var next: Int64 = 0
        var last: Int64 = -1
        var end = ContinuousClock.now
        /// The number of sequences reserved next time: few for a database that is seldom edited.
        var count: Int64 = 16
    }

    private let database: Int64
    private let pool: PostgresPool
    private let state = Guarded(State())
    private static let most: Int64 = 1024

    init(_ database: Int64, _ pool: PostgresPool) { (self.database, self.pool) = (database, pool) }

    /// A token that nobody else gets.
    func next() throws -> UInt64 {
        try state.withLock { state in
            if state.next > state.last || state.end < .now { try reserve(&state) }
            defer { state.next += 1 }
            return UInt64(state.next)
        }
    }

    private func reserve(_ state: inout State) throws {
        let call = PostgresCall(.reserveTokens, .integer(database), .integer(state.count))
        // Not repeated after a failure: tokens that are lost are not missed.
        let results = try pool.runOnce([call])
        guard let result = results.first, result.count > 0 else {
            throw DatabaseError(.closed, "the database was deleted")
        }
        state.last = result.integer(0, 0)
        state.next = state.last - state.count + 1
        state.end = .now + .seconds(60)
        state.count = min(state.count * 4, Self.most)
    }
}
