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
    /// The default; `nil` for none.
    let standard: String?
    /// Its description, in one line.
    let help: String
    /// The placeholder of the value in the help; `nil` without an option of its own.
    let value: String?
    /// Other spellings of the option.
    let aliases: [String]
    /// Whether the configuration file may have it.
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
            "the folder of the databases; made if there is none"),
        ServeSetting(
            "host", standard: "127.0.0.1", value: "ADDRESS", aliases: ["--bind"], "the address to listen on"),
        ServeSetting(
            "port", .count(0...65_535), standard: "5984", value: "N", "the port to listen on, 0 for any that is free"),
        ServeSetting("admin", value: "NAME[:PASSWORD]", "set the password of this administrator, then serve"),
        ServeSetting("admin_password", isInFile: false, isSecret: true, "the administrator's password"),
        ServeSetting("admin_password_file", value: "FILE", "the file the password is in, on its first line"),
        ServeSetting("config", value: "FILE", isInFile: false, "a file with all settings: docs/OPERATION.md has them"),
        ServeSetting("tls_cert", value: "FILE", "speak TLS with the certificate of this file, in PEM"),
        ServeSetting("tls_key", value: "FILE", "the certificate's private key, in PEM"),
        ServeSetting(
            "log_format", .choice(["text", "json"]), standard: "text", value: "FORMAT",
            "how logs are written, as text or json"),
        ServeSetting(
            "access_log", standard: "off", value: "FILE",
            "a line for each request: into a file, to standard output for -, or off"),
        ServeSetting(
            "text_indexes", .choice(["on", "off"]), standard: "off", value: "on|off",
            "whether _index makes indexes of type text, or answers 503 as a stock CouchDB"),
        ServeSetting("connections", .count(1...1_000_000), standard: "10000", "connections at the same time"),
        ServeSetting(
            "idle_timeout", .count(1...86_400), standard: "60", "seconds without progress until one is closed"),
        ServeSetting("stop_timeout", .count(0...86_400), standard: "10", "seconds requests have to finish at the end"),
        ServeSetting("open_databases", .count(1...1_000_000), standard: "500", "databases that are kept open"),
        ServeSetting(
            "open_indexes", .count(1...1_000_000), standard: "16",
            "indexes of views and queries that each database keeps open"),
        ServeSetting("document_size", .count(1...1 << 30), standard: "8000000", "bytes of a document's body"),
        ServeSetting("body_size", .count(1...1 << 32), standard: "67108864", "bytes of a body taken into memory"),
        ServeSetting("upload_size", .count(1...1 << 50), standard: "4294967296", "bytes of a body at all"),
    ]
}
