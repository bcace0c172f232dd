internal import SettleHTTP
internal import SettleReplication
public import SettleScripting

/// The options of a server: its address, limits, and security.
public struct ServerOptions: Sendable {
    /// The address to listen on; the loopback address by default.
    public var host = "127.0.0.1"
    /// The port, 0 for any that is free; 5984 by default.
    public var port = 5984
    /// The maximum number of concurrent connections; 10,000 by default.
    public var connectionLimit = 10_000
    /// The time without progress after which a connection is closed, in whole seconds; 60 seconds by default. Waiting feeds are
    /// exempt.
    public var idleTimeout: Duration = .seconds(60)
    /// The largest body that is kept in memory, in bytes; 64 MiB by default. Attachments are streamed.
    public var largestBody = 64 << 20
    /// The largest body of a document, in bytes; 8,000,000 by default, as in CouchDB.
    public var largestDocument = 8_000_000
    /// The maximum number of documents that one request may write; 10,000 by default.
    public var bulkDocuments = 10_000
    /// The maximum number of documents that one request may get by `_bulk_get`; 10,000 by default.
    public var bulkGets = 10_000
    /// The processor time that one query may use; 60 seconds by default.
    public var queryTime: Duration = .seconds(60)
    /// The memory for the messages of all WebSocket connections, in bytes; 256 MiB by default. One account may use
    /// a quarter of it.
    public var webSocketMemory = 256 << 20
    /// The largest body of any request, in bytes; 4 GiB by default.
    public var largestUpload: Int64 = 4 << 30
    /// The number of databases that are kept open at the same time; 500 by default.
    public var openDatabases = 500
    /// The time that stopping may take; 10 seconds by default. Requests may use nine tenths of it to finish; then
    /// their connections are closed.
    public var stopTimeout: Duration = .seconds(10)
    /// The time between two scrubs of a database; seven days by default. A scrub reads all stored data slowly and
    /// compares it with its checksums. With `nil` there are no scrubs.
    public var scrubInterval: Duration? = .seconds(7 * 86_400)
    /// The options of logins and rights.
    public var security = SecurityOptions()
    /// The workers that run the functions of design documents; `nil` by default. Without workers the server offers
    /// no views, filters and update functions, and refuses to write to databases that have validation functions.
    public var scripts: ScriptOptions?
    /// Whether `POST /{db}/_index` creates indexes of type `text`; `false` by default, because a stock CouchDB
    /// answers 503. Text indexes in design documents always exist, and answer `$text`.
    public var makesTextIndexes = false
    /// Whether a plus in the path of a request means a space; `true` by default, as in CouchDB.
    public var decodesPlusToSpace = true
    /// Serves the web console under `/_utils/`; `true` by default. The console has no rights beyond those of its user.
    public var hasConsole = true
    /// The options and limits of the replicator.
    public var replicator = ReplicatorOptions()
    /// The TLS certificate. If set, the server accepts only TLS; `nil` by default.
    public var certificate: Certificate?
    /// The log of the server; `nil` by default. Its creator closes it.
    public var log: ServerLog?
    /// The name of the program in the header `Server`, after CouchDB's version, and in the `vendor` of `GET /`.
    public var productName = "Settle"
    /// The CouchDB version that `GET /` reports: the one this server is compatible with.
    public var compatibleVersion = "3.5.0"

    /// The maximum number of steps of one query's selector; they take a few seconds.
    var querySteps = 1_000_000_000

    /// The time between two checks of the rights to what is open.
    var accessCheckInterval = Duration.seconds(2)

    /// The time between two searches for replicator databases that other nodes of a shared store have created.
    var replicatorCheckInterval = Duration.seconds(60)

    /// Whether documents are stored without any validation: no validation function runs, and design documents may
    /// have any form. Used when the caller has opened the database in this process and is trusted.
    var trustsWriters = false

    /// The header `Server`: `CouchDB/3.5.0 (Settle/1.0.0)`. Clients look there for the features they may use.
    var serverHeader: String { "CouchDB/\(compatibleVersion) (\(productName)/\(ProductVersion.current))" }

    /// Makes options with the defaults.
    public init() {}
}

// MARK: - ServerPreset

/// Settings for an app that expects a server of a certain kind.
///
/// A preset replaces only defaults: values in a configuration take precedence.
public enum ServerPreset: String, CaseIterable, Sendable {
    /// Obsidian with its plug-in Self-hosted LiveSync. The app's pages may use the server from every kind of
    /// device, every request is authenticated, and documents may be as large as the plug-in requires. The plug-in's
    /// check of the server's set-up, which reads and writes the configuration, passes.
    case obsidian

    /// The options of authentication and access.
    public var security: SecurityOptions {
        var options = SecurityOptions()
        switch self {
        case .obsidian:
            options.anonymousAccess = .nowhere
            options.challenge = "Basic realm=\"couchdb\""
            var pages = CrossOriginOptions(origins: ["app://obsidian.md", "capacitor://localhost", "http://localhost"])
            pages.allowsCredentials = true
            options.crossOrigin = pages
            options.allowsLiveSettings = true
        }
        return options
    }

    /// The largest body of a document, in bytes.
    public var largestDocument: Int {
        switch self {
        case .obsidian: 50_000_000
        }
    }
}
