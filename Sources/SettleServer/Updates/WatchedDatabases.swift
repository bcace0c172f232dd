internal import SettleDatabase

/// The databases whose next commit ``DatabaseUpdates`` waits for, by their names.
///
/// It holds none of them open. Those that are closed are removed when there are twice as many as were open the last time, so a
/// server that has used many databases remembers only about as many as it has open.
struct WatchedDatabases: Sendable {
    struct Watched: Sendable {
        weak let database: Database?
        /// The sequence after which changes are waited for.
        var after: UpdateSequence?
    }

    private(set) var all: [String: Watched] = [:]
    /// With how many the closed ones are removed.
    private var limit = 64

    /// Adds a database, in place of another one of the same name; amortized O(1).
    ///
    /// - Returns: False if it is watched already.
    mutating func add(_ database: Database, _ name: String) -> Bool {
        guard all[name]?.database !== database else { return false }
        all[name] = Watched(database: database)
        if all.count > limit {
            all = all.filter { $0.value.database != nil }
            limit = max(64, 2 * all.count)
        }
        return true
    }

    mutating func remove(_ name: String) { all[name] = nil }
}
