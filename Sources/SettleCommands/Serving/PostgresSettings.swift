internal import SettlePlatform
import SettlePostgres

/// The settings of `settle serve` for databases in a PostgreSQL.
struct PostgresSettings {
    /// The connection string, which has no password.
    let address: String
    /// The file with the password on its first line.
    let passwordFile: String?
    /// The file with the key that encrypts secrets.
    let secretsKeyFile: String?
    /// The number of connections at most.
    let connections: Int
    /// The folder of indexes.
    let indexFolder: String?
    /// The name of this node.
    let node: String

    /// Settings without a meaning where a folder is served.
    private static let others = [
        "postgres_password_file", "postgres_secrets_key_file", "postgres_connections", "index_dir", "node",
    ]
    /// Parameters of a connection string that are secrets; others end in the same words.
    private static let secrets = ["password", "secret", "scram_client_key", "scram_server_key"]

    /// Reads them; `nil` if a folder is served.
    ///
    /// - Parameter values: All settings that were given, to which the name of the node is added.
    /// - Throws: ``CommandError`` for settings that exclude each other or lack another one, and for a connection string with a
    ///   password, which is not repeated.
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

    /// Whether a connection string has a secret in it, or may have one: `postgres://anna:secret@db/settle`, `password=secret`.
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

    /// The error of a setting: that of a file, if all values are from there.
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
