internal import SettleDatabase
internal import SettlePlatform

/// Makes the tables, or brings them up to this version, as the role that owns them.
///
///     try PostgresMigration.run(PostgresConfiguration("host=db dbname=settle user=settle_owner …"), appRole: "settle_app")
///
/// Everything happens in one transaction: a migration that fails changes nothing. Servers may run meanwhile.
public enum PostgresMigration {
    /// What a migration did.
    public struct Report: Sendable, Hashable {
        /// The version before; `nil` where there were no tables.
        public let before: Int64?
        /// The version now.
        public let now: Int64
        /// The random id of the cluster's tables, by which nodes tell two clusters apart.
        public let cluster: String
        /// Settings of storage that this server does not have; it works without them.
        public let skipped: [String]
    }

    /// Makes or migrates the tables, and grants a server's role what it needs.
    ///
    /// - Parameters:
    ///   - configuration: Where the cluster is, and the owner's role.
    ///   - appRole: The role of the servers, which must be there; `nil` grants nothing.
    /// - Returns: What was done.
    /// - Throws: ``DatabaseError`` with code `unavailable`, `newerFormat`, or `storage` when the role may not make tables.
    public static func run(_ configuration: PostgresConfiguration, appRole: String? = nil) throws -> Report {
        do {
            let connection = try PostgresConnection(try configuration.connectionParameters())
            return try run(connection, appRole)
        } catch let failure as PostgresFailure { throw failure.error }
    }

    private static func run(_ connection: PostgresConnection, _ appRole: String?) throws -> Report {
        _ = try connection.run([PostgresCall(.setUp)])
        let before = try version(connection)
        if let before, before > PostgresSchema.version {
            throw DatabaseError(
                .newerFormat,
                "the schema has version \(before), and this program knows \(PostgresSchema.version): use a newer program"
            )
        }
        var skipped: [String] = []
        if before == nil {
            let cluster = SecureRandom.hexadecimal()
            _ = try connection.run([PostgresCall(.begin)])
            for text in PostgresSchema.first { try connection.runText(text) }
            try connection.runText(
                "INSERT INTO settle.format (number, cluster) VALUES (\(PostgresSchema.version), '\(cluster)')")
            _ = try connection.run([PostgresCall(.commit)])
            for text in PostgresSchema.tuning {
                do { try connection.runText(text) } catch PostgresFailure.refused { skipped.append(text) }
            }
        }
        if let before, before < PostgresSchema.version {
            try connection.runText("UPDATE settle.format SET number = \(PostgresSchema.version)")
        }
        if let appRole { try grant(appRole, connection) }
        let format = try connection.run([PostgresCall(.format)])[0]
        return Report(before: before, now: format.integer(0, 0), cluster: format.text(0, 1), skipped: skipped)
    }

    private static func version(_ connection: PostgresConnection) throws -> Int64? {
        do { return try connection.run([PostgresCall(.format)])[0].integer(0, 0) } catch PostgresFailure.refused(
            let state, _) where ["42P01", "3F000"].contains(state)
        { return nil }
    }

    /// Grants a role what a server needs: to read and change rows, and nothing else.
    private static func grant(_ role: String, _ connection: PostgresConnection) throws {
        let name = try connection.identifier(role)
        try connection.runText("GRANT USAGE ON SCHEMA settle TO \(name)")
        for table in PostgresSchema.tables {
            let rights = table == "format" ? "SELECT" : "SELECT, INSERT, UPDATE, DELETE"
            try connection.runText("GRANT \(rights) ON settle.\(table) TO \(name)")
        }
    }
}
