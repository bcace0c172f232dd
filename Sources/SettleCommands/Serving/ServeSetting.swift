internal import SettleServer

/// A setting of `settle serve`: an option, an environment variable, and a member of the configuration file.
struct ServeSetting: Sendable {
    /// The kind of a value.
    enum Kind: Sendable {
        case text
        /// An integer in a range.
        case count(ClosedRange<Int>)
        /// One of some words.
        case choice([String])
    }

    /// Its name in the configuration file, from which the variable and the option are derived.
    let name: String
    let kind: Kind
    /// The default; `nil` if there is none.
    let standard: String?
    /// Its description, in one line.
    let help: String
    /// The placeholder of the value in the help; `nil` if there is no option for the setting.
    let value: String?
    /// Other spellings of the option.
    let aliases: [String]
    /// Whether the configuration file may contain it.
    let isInFile: Bool
    /// Whether the value is secret and not printed.
    let isSecret: Bool

    init(
        _ name: String, _ kind: Kind = .text, standard: String? = nil, value: String? = nil, aliases: [String] = [],
        isInFile: Bool = true, isSecret: Bool = false, _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.standard = standard
        self.help = help
        self.value = value
        self.aliases = aliases
        self.isInFile = isInFile
        self.isSecret = isSecret
    }

    /// The environment variable: `SETTLE_TLS_CERT`.
    var variable: String { "SETTLE_" + name.uppercased() }

    /// The option: `--tls-cert`.
    var flag: String { "--" + String(name.map { $0 == "_" ? "-" : $0 }) }

    /// The option for the parser, if any.
    var option: Option? {
        guard let value else { return nil }
        let rest = standard.map { " (default \($0))" } ?? ""
        return Option(flag, value: value, aliases: aliases, help + rest)
    }

    /// All settings, in the order in which they are printed.
    static let all = [
        ServeSetting(
            "data", standard: "data", value: "DIR", aliases: ["--dir"],
            "the folder of the databases; created if missing"),
        ServeSetting(
            "host", standard: "127.0.0.1", value: "ADDRESS", aliases: ["--bind"], "the address to listen on"),
        ServeSetting(
            "port", .count(0...65_535), standard: "5984", value: "N", "the port to listen on, 0 for a free one"),
        ServeSetting(
            "postgres", value: "ADDRESS",
            "serve the databases in this PostgreSQL, not a folder; a connection string without a password"),
        ServeSetting(
            "postgres_password_file", value: "FILE", "a file with the password for --postgres on its first line"),
        ServeSetting(
            "postgres_secrets_key_file", value: "FILE",
            "a file with the key that encrypts the server's secrets in PostgreSQL"),
        ServeSetting("index_dir", value: "DIR", "the folder of the indexes with --postgres; may be lost"),
        ServeSetting("node", value: "NAME", "the name of this server with --postgres; by default the host's"),
        ServeSetting("admin", value: "NAME[:PASSWORD]", "set the password of this administrator"),
        ServeSetting("admin_password", isInFile: false, isSecret: true, "the administrator's password"),
        ServeSetting("admin_password_file", value: "FILE", "a file with the password on its first line"),
        ServeSetting("config", value: "FILE", isInFile: false, "the configuration file, see docs/OPERATION.md"),
        ServeSetting(
            "preset", .choice(ServerPreset.allCases.map(\.rawValue)), value: "NAME",
            "the settings that an app expects; obsidian for Obsidian's LiveSync"),
        ServeSetting("tls_cert", value: "FILE", "serve over TLS with the certificate in this file (PEM)"),
        ServeSetting("tls_key", value: "FILE", "the certificate's private key (PEM)"),
        ServeSetting(
            "log_format", .choice(["text", "json"]), standard: "text", value: "FORMAT",
            "the format of the logs, text or json"),
        ServeSetting(
            "access_log", standard: "off", value: "FILE",
            "log each request to a file, to standard output for -, or off"),
        ServeSetting(
            "console", .choice(["on", "off"]), standard: "on", value: "on|off",
            "whether /_utils/ shows the console in a browser"),
        ServeSetting(
            "text_indexes", .choice(["on", "off"]), standard: "off", value: "on|off",
            "whether _index creates text indexes, or answers 503 like a stock CouchDB"),
        ServeSetting(
            "decode_plus_to_space", .choice(["on", "off"]), standard: "on", value: "on|off",
            "whether a + in the path of a request is a space, as CouchDB's setting of this name"),
        ServeSetting(
            "postgres_connections", .count(1...10_000), standard: "16", value: "N",
            "maximum number of connections to PostgreSQL"),
        ServeSetting("connections", .count(1...1_000_000), standard: "10000", "maximum number of connections"),
        ServeSetting(
            "idle_timeout", .count(1...86_400), standard: "60",
            "seconds without progress until a connection is closed"),
        ServeSetting(
            "stop_timeout", .count(0...86_400), standard: "10",
            "maximum seconds that stopping takes; requests have 90 % of it"),
        ServeSetting(
            "scrub_days", .count(0...36_500), standard: "7",
            "days between two reads of all that is stored, which look for damage; 0 for none"),
        ServeSetting("open_databases", .count(1...1_000_000), standard: "500", "maximum number of open databases"),
        ServeSetting(
            "open_indexes", .count(1...1_000_000), standard: "16",
            "maximum number of open indexes per database"),
        ServeSetting("document_size", .count(1...1 << 30), standard: "8000000", "maximum bytes of a document's body"),
        ServeSetting("body_size", .count(1...1 << 32), standard: "67108864", "maximum bytes of a body in memory"),
        ServeSetting("upload_size", .count(1...1 << 50), standard: "4294967296", "maximum bytes of a streamed body"),
        ServeSetting("bulk_docs", .count(1...1 << 30), standard: "10000", "maximum documents that one request writes"),
        ServeSetting("bulk_get", .count(1...1 << 30), standard: "10000", "maximum documents that one request gets"),
        ServeSetting(
            "query_seconds", .count(1...86_400), standard: "60", "maximum seconds of a processor that one query takes"),
        ServeSetting(
            "websocket_memory", .count(1 << 20...1 << 40), standard: "268435456",
            "maximum bytes of the messages of all WebSocket connections"),
    ]
}
