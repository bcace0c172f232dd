internal import SettleDatabase
internal import SettlePlatform

/// The tables, as docs/POSTGRES.md describes them. Only the owner's role creates them.
///
/// Each step migrates the schema from one version to the next, and programs of the previous version can still run
/// with it. So nodes can be replaced one by one.
enum PostgresSchema {
    /// The version that this program reads and writes.
    ///
    /// Version 2 has the tables of version 1, but rows have checksums in `tree` and `attachments`, which a program
    /// of version 1 can't read.
    static let version: Int64 = 2

    /// The SQL texts that create the tables.
    static let first: [String] = [
        "CREATE SCHEMA IF NOT EXISTS settle",
        "CREATE TABLE settle.format (number bigint NOT NULL, cluster text NOT NULL)",
        "CREATE TABLE settle.names (name text COLLATE \"C\" PRIMARY KEY, database_id bigint NOT NULL)",
        """
        CREATE TABLE settle.databases (
            database_id bigint PRIMARY KEY, name text NOT NULL, state smallint NOT NULL,
            last_sequence bigint NOT NULL DEFAULT 0, last_token bigint NOT NULL DEFAULT 1,
            settings_age bigint NOT NULL DEFAULT 0, design_age bigint NOT NULL DEFAULT 0)
        """,
        """
        CREATE TABLE settle.documents (
            database_id bigint NOT NULL, id bytea NOT NULL, sequence bigint NOT NULL, edition bigint NOT NULL,
            flags smallint NOT NULL, tree bytea NOT NULL, attachments bytea, body bytea NOT NULL,
            PRIMARY KEY (database_id, id))
        """,
        "CREATE UNIQUE INDEX documents_by_sequence ON settle.documents (database_id, sequence)",
        "CREATE INDEX documents_by_flags ON settle.documents (database_id, flags, id) WHERE flags > 0",
        """
        CREATE TABLE settle.tallies (
            database_id bigint NOT NULL, level smallint NOT NULL, bucket bigint NOT NULL, plain bigint NOT NULL,
            deleted bigint NOT NULL, conflicted bigint NOT NULL, contested bigint NOT NULL,
            PRIMARY KEY (database_id, level, bucket))
        """,
        """
        CREATE TABLE settle.contents (
            database_id bigint NOT NULL, token bigint NOT NULL, attachments bytea, body bytea NOT NULL,
            PRIMARY KEY (database_id, token))
        """,
        """
        CREATE TABLE settle.records (
            database_id bigint NOT NULL, kind smallint NOT NULL, key bytea NOT NULL, number bigint NOT NULL, value bytea,
            PRIMARY KEY (database_id, kind, key))
        """,
        "CREATE INDEX expirations_by_time ON settle.records (database_id, number, key) WHERE kind = 3",
        """
        CREATE TABLE settle.blobs (
            database_id bigint NOT NULL, digest bytea NOT NULL, md5 bytea NOT NULL, length bigint NOT NULL, upload bytea,
            content bytea, PRIMARY KEY (database_id, digest))
        """,
        """
        CREATE TABLE settle.chunks (
            database_id bigint NOT NULL, upload bytea NOT NULL, number bigint NOT NULL, bytes bytea NOT NULL,
            PRIMARY KEY (database_id, upload, number))
        """,
        """
        CREATE TABLE settle.uploads (
            database_id bigint NOT NULL, upload bytea NOT NULL, until timestamptz NOT NULL,
            PRIMARY KEY (database_id, upload))
        """,
        """
        CREATE TABLE settle.leases (
            database_id bigint NOT NULL, job bytea NOT NULL, node text NOT NULL, term bigint NOT NULL,
            until timestamptz NOT NULL, status bytea, PRIMARY KEY (database_id, job))
        """,
        """
        CREATE TABLE settle.marks (
            database_id bigint NOT NULL, node text NOT NULL, number bigint NOT NULL, at timestamptz NOT NULL,
            PRIMARY KEY (database_id, node))
        """,
        "CREATE TABLE settle.server (name text PRIMARY KEY, value bytea NOT NULL, version bigint NOT NULL)",
    ]

    /// Storage settings that databases derived from PostgreSQL lack. Each may fail without harm.
    static let tuning: [String] = [
        "ALTER TABLE settle.documents ALTER COLUMN body SET COMPRESSION lz4",
        "ALTER TABLE settle.contents ALTER COLUMN body SET COMPRESSION lz4",
        "ALTER TABLE settle.chunks ALTER COLUMN bytes SET STORAGE EXTERNAL",
        """
        ALTER TABLE settle.databases SET (fillfactor = 10, autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_threshold = 200)
        """,
        "ALTER TABLE settle.tallies SET (fillfactor = 50)",
        "ALTER TABLE settle.marks SET (fillfactor = 20)",
    ]

    /// The tables on which a server's role needs rights.
    static let tables = [
        "format", "names", "databases", "documents", "tallies", "contents", "records", "blobs", "chunks", "uploads",
        "leases", "marks", "server",
    ]
}

// MARK: - PostgresMigration

/// Creates the tables, or migrates them to this version, as the role that owns them.
///
///     try PostgresMigration.run(PostgresConfiguration("host=db dbname=settle user=settle_owner …"), appRole: "settle_app")
///
/// Tables and rights change in one transaction: a migration that fails changes nothing. Servers may be running
/// meanwhile.
public enum PostgresMigration {
    /// The result of a migration.
    public struct Report: Sendable, Hashable {
        /// The previous version; `nil` if there were no tables.
        public let before: Int64?
        /// The current version.
        public let now: Int64
        /// The random id of the cluster's tables, by which nodes distinguish clusters.
        public let cluster: String
        /// The storage settings that this server does not support. It works without them.
        public let skipped: [String]
    }

    /// Creates or migrates the tables, and grants a server's role the rights it needs.
    ///
    /// - Parameters:
    ///   - configuration: The cluster, and the owner's role.
    ///   - appRole: The role of the servers, which must exist; `nil` grants nothing.
    /// - Returns: The result.
    /// - Throws: ``DatabaseError`` with code `unavailable`, `newerFormat`, or `storage` if the role may not create
    ///   tables.
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
        // If one of the statements fails, the connection ends, and the transaction with it.
        _ = try connection.run([PostgresCall(.begin)])
        if before == nil {
            let cluster = SecureRandom.hexadecimal()
            for text in PostgresSchema.first { try connection.runText(text) }
            try connection.runText(
                "INSERT INTO settle.format (number, cluster) VALUES (\(PostgresSchema.version), '\(cluster)')")
        } else if before != PostgresSchema.version {
            try connection.runText("UPDATE settle.format SET number = \(PostgresSchema.version)")
        }
        if let appRole { try grant(appRole, connection) }
        _ = try connection.run([PostgresCall(.commit)])
        var skipped: [String] = []
        for text in before == nil ? PostgresSchema.tuning : [] {
            do { try connection.runText(text) } catch PostgresFailure.refused { skipped.append(text) }
        }
        let format = try connection.run([PostgresCall(.format)])[0]
        return Report(before: before, now: format.integer(0, 0), cluster: format.text(0, 1), skipped: skipped)
    }

    private static func version(_ connection: PostgresConnection) throws -> Int64? {
        do { return try connection.run([PostgresCall(.format)])[0].integer(0, 0) } catch PostgresFailure.refused(
            let state, _) where ["42P01", "3F000"].contains(state)
        { return nil }
    }

    /// Grants a role only what a server needs: to read and change rows.
    private static func grant(_ role: String, _ connection: PostgresConnection) throws {
        let name = try connection.identifier(role)
        try connection.runText("GRANT USAGE ON SCHEMA settle TO \(name)")
        for table in PostgresSchema.tables {
            let rights = table == "format" ? "SELECT" : "SELECT, INSERT, UPDATE, DELETE"
            try connection.runText("GRANT \(rights) ON settle.\(table) TO \(name)")
        }
    }
}
