internal import Settle
internal import SettleDatabase

/// The store that `settle serve` serves: a folder, or a PostgreSQL.
enum ServedStore {
    /// Makes the store that the settings name.
    ///
    /// - Throws: ``DatabaseError`` for one that can't be used, ``CommandError`` for one that this build does not have.
    static func make(_ settings: ServeSettings, _ options: DatabaseOptions) throws -> any DatabaseStore {
        guard settings.postgres == nil else {
            throw CommandError("unsupported", "this build has no PostgreSQL", status: .failure)
        }
        return try DocumentStore(path: settings.text("data") ?? "data", options: options)
    }
}
