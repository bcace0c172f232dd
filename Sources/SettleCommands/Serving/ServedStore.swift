internal import Settle
internal import SettleDatabase
internal import SettlePostgres

/// The store that `settle serve` serves: a folder, or a PostgreSQL.
enum ServedStore {
    /// Makes the store that the settings name.
    ///
    /// - Throws: ``DatabaseError`` for one that can't be used, ``CommandError`` for a key file without a key.
    static func make(_ settings: ServeSettings, _ options: DatabaseOptions) throws -> any DatabaseStore {
        guard let postgres = settings.postgres else {
            return try DocumentStore(path: settings.text("data") ?? "data", options: options)
        }
        var configuration = try PostgresConfiguration(
            postgres.address, passwordFile: postgres.passwordFile, node: postgres.node)
        configuration.connections = postgres.connections
        var options = options
        options.indexFolder = postgres.indexFolder
        return try PostgresStore(configuration, options: options) { record in
            try postgres.secretsKeyFile.map { try SealedRecord(record, keyFile: $0) } ?? record
        }
    }
}
