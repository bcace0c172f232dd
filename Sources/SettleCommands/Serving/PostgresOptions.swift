import SettlePostgres

/// The options of the commands that work on the databases in a PostgreSQL.
enum PostgresOptions {
    static let options = [
        Option("--postgres", value: "ADDRESS", "the PostgreSQL; a connection string without a password"),
        Option("--postgres-password-file", value: "FILE", "a file with its password on the first line"),
    ]

    /// Reads where the PostgreSQL is; `nil` without `--postgres`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - verb: The name of the command, for messages.
    /// - Returns: Where the PostgreSQL is.
    /// - Throws: ``CommandError`` for a connection string with a password, which is not repeated; ``DatabaseError``.
    static func configuration(_ arguments: Arguments, verb: String) throws -> PostgresConfiguration? {
        guard let address = arguments.text("--postgres") else { return nil }
        guard !PostgresSettings.hasPassword(address) else {
            throw CommandError.usage(
                "--postgres must have no password, as others may read it: name a file by --postgres-password-file",
                verb: verb)
        }
        return try PostgresConfiguration(address, passwordFile: arguments.text("--postgres-password-file"))
    }

    /// Reads where the PostgreSQL is, for a command that needs one.
    ///
    /// - Throws: ``CommandError`` without `--postgres`, too.
    static func required(_ arguments: Arguments, verb: String) throws -> PostgresConfiguration {
        guard let configuration = try configuration(arguments, verb: verb) else {
            throw CommandError.usage("--postgres is missing", verb: verb)
        }
        return configuration
    }
}
