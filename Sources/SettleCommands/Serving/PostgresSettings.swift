internal import SettlePlatform
import SettlePostgres

/// The settings of `settle serve` for databases in a PostgreSQL.
struct PostgresSettings {
    /// The connection string, without a password.
    let address: String
    /// The file with the password on its first line.
    let passwordFile: String?
    /// The file with the key that encrypts secrets.
    let secretsKeyFile: String?
    /// The maximum number of connections.
    let connections: Int
    /// The folder of indexes.
    let indexFolder: String?
    /// The name of this node.
    let node: String

    /// Settings that have no effect for a folder.
    private static let others = [
        "postgres_password_file", "postgres_secrets_key_file", "postgres_connections", "index_dir", "node",
    ]
    /// Parameters of a connection string that are secrets. Other parameters that end with these words are secrets,
    /// too.
    private static let secrets = ["password", "secret", "scram_client_key", "scram_server_key"]

    /// Reads the settings; `nil` if a folder is served.
    ///
    /// - Parameter values: All settings that were given. The name of the node is added to them.
    /// - Throws: ``CommandError`` for settings that exclude each other or require another one, and for a connection
    ///   string with a password, which the message does not contain.
    init?(_ values: inout [String: ServeSettings.Value]) throws {
        guard let address = values["postgres"] else {
            guard let stray = Self.others.first(where: { values[$0] != nil }) else { return nil }
            throw Self.problem("\(Self.origin(stray, values)) needs --postgres", [values[stray]])
        }
        let name = Self.origin("postgres", values)
        if let data = values["data"] {
            throw Self.problem(
                "\(Self.origin("data", values)) and \(name) exclude each other: the databases are in a folder, or in a PostgreSQL",
                [data, address])
        }
        guard !address.text.isEmpty else { throw Self.problem("\(name) needs a connection string", [address]) }
        guard !Self.hasPassword(address.text) else {
            throw Self.problem(
                "\(name) must have no password, as others may read it: put it into a file, and name that by --postgres-password-file",
                [address])
        }
        if values["node"]?.text.isEmpty ?? true {
            values["node"] = ServeSettings.Value(text: Self.hostName, source: .standard)
        }
        self.address = address.text
        passwordFile = values["postgres_password_file"]?.text
        secretsKeyFile = values["postgres_secrets_key_file"]?.text
        connections = values["postgres_connections"].flatMap { Int($0.text) } ?? 16
        indexFolder = values["index_dir"]?.text
        node = values["node"]?.text ?? Self.hostName
    }

    /// Whether a connection string contains a secret, or may contain one: `postgres://anna:secret@db/settle`,
    /// `password=secret`.
    static func hasPassword(_ text: String) -> Bool {
        if let mark = text.firstRange(of: "://") {
            let place = text[mark.upperBound...].prefix { $0 != "?" }
            if let end = place.lastIndex(of: "@"), place[..<end].contains(":") { return true }
        }
        let plain = PercentCoding.decode(Substring(text), plusIsBlank: false).lowercased().filter { !$0.isWhitespace }
        return secrets.contains { plain.contains($0 + "=") }
    }

    private static func origin(_ name: String, _ values: [String: ServeSettings.Value]) -> String {
        guard let setting = ServeSetting.all.first(where: { $0.name == name }), let value = values[name] else {
            return name
        }
        return value.source == .file ? "`\(name)`" : value.source.shown(of: setting)
    }

    /// The error for a setting. If all values are from the file, it is an error of the file.
    private static func problem(_ text: String, _ values: [ServeSettings.Value?]) -> CommandError {
        values.allSatisfy { $0?.source == .file }
            ? CommandError.invalid("the configuration: \(text)") : CommandError.usage(text, verb: "serve")
    }

    private static var hostName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0, bytes[0] != 0 else { return "settle" }
        return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

// MARK: - PostgresOptions

/// The options of the commands that work on databases in a PostgreSQL.
enum PostgresOptions {
    static let options = [
        Option("--postgres", value: "ADDRESS", "the PostgreSQL; a connection string without a password"),
        Option("--postgres-password-file", value: "FILE", "a file with its password on the first line"),
    ]

    /// Reads the address of the PostgreSQL; `nil` without `--postgres`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - verb: The name of the command, for messages.
    /// - Returns: The configuration of the connection.
    /// - Throws: ``CommandError`` for a connection string with a password, which the message does not contain;
    ///   ``DatabaseError``.
    static func configuration(_ arguments: Arguments, verb: String) throws -> PostgresConfiguration? {
        guard let address = arguments.text("--postgres") else { return nil }
        guard !PostgresSettings.hasPassword(address) else {
            throw CommandError.usage(
                "--postgres must have no password, as others may read it: name a file by --postgres-password-file",
                verb: verb)
        }
        return try PostgresConfiguration(address, passwordFile: arguments.text("--postgres-password-file"))
    }

    /// Reads the address of the PostgreSQL, for a command that requires it.
    ///
    /// - Throws: ``CommandError`` also without `--postgres`.
    static func required(_ arguments: Arguments, verb: String) throws -> PostgresConfiguration {
        guard let configuration = try configuration(arguments, verb: verb) else {
            throw CommandError.usage("--postgres is missing", verb: verb)
        }
        return configuration
    }
}
