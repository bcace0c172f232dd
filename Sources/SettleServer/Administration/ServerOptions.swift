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
    /// The largest body that is taken into memory, in bytes; 64 MiB by default. Attachments are streamed.
    public var largestBody = 64 << 20
    /// The largest body of a document, in bytes; 8,000,000 by default, as in CouchDB.
    public var largestDocument = 8_000_000
    /// The maximum number of documents that one request may write; 10,000 by default.
    public var bulkDocuments = 10_000
    /// The maximum number of documents that one request may get by `_bulk_get`; 10,000 by default.
    public var bulkGets = 10_000
    /// The time of a processor that one query may take; 60 seconds by default.
    public var queryTime: Duration = .seconds(60)
    /// The memory for the messages of all WebSocket connections, in bytes; 256 MiB by default. One account gets a quarter.
    public var webSocketMemory = 256 << 20
    /// The largest body at all, in bytes; 4 GiB by default.
    public var largestUpload: Int64 = 4 << 30
    /// The number of databases that are kept open at the same time; 500 by default.
    public var openDatabases = 500
    /// The time that stopping may take; 10 seconds by default. Requests have nine tenths of it to finish, then they are cut off.
    public var stopTimeout: Duration = .seconds(10)
    /// The time between two scrubs of a database, which read all that is stored slowly and compare it with its checksums; seven days
    /// by default, and `nil` for none.
    public var scrubInterval: Duration? = .seconds(7 * 86_400)
    /// The options of logins and rights.
    public var security = SecurityOptions()
    /// The workers that run the functions of design documents. With `nil`, the default, views, filters and update functions
    /// are not offered, and databases with validation functions can't be written to.
    public var scripts: ScriptOptions?
    /// Whether `POST /{db}/_index` makes indexes of type `text`; not by default, as a stock CouchDB answers 503. Those of design
    /// documents are there in any case, and answer `$text`.
    public var makesTextIndexes = false
    /// Whether a plus in the path of a request stands for a space, as in CouchDB by default; `true` by default.
    public var decodesPlusToSpace = true
    /// Serves the web console under `/_utils/`; `true` by default. The console has no rights beyond those of its user.
    public var hasConsole = true
    /// The options and limits of its replicator.
    public var replicator = ReplicatorOptions()
    /// The TLS certificate. If set, the server accepts only TLS; `nil` by default.
    public var certificate: Certificate?
    /// The log of the server; `nil` by default. Its creator closes it.
    public var log: ServerLog?
    /// The name of the program, in the header `Server` after CouchDB's version, and as the root's `vendor`.
    public var productName = "Settle"
    /// The CouchDB version that `GET /` reports: the one this server is compatible with.
    public var compatibleVersion = "3.5.0"

    /// The steps of a selector that one query may take, a few seconds' worth.
    var querySteps = 1_000_000_000

    /// Whether what is written is stored as it is: no validation function is asked, and design documents may have any form. So a
    /// program writes that has the database open itself.
    var trustsWriters = false

    /// The header `Server`: `CouchDB/3.5.0 (Settle/1.0.0)`, for clients that look there for what they may use.
    var serverHeader: String { "CouchDB/\(compatibleVersion) (\(productName)/\(ProductVersion.current))" }

    /// Makes options with the defaults.
    public init() {}
}

// MARK: - ServerPreset

/// Settings for an app that expects a server of a certain kind.
///
/// A preset replaces defaults only: what a configuration sets counts.
public enum ServerPreset: String, CaseIterable, Sendable {
    /// Obsidian with its plug-in Self-hosted LiveSync: pages of the app may use the server, on each kind of device, every
    /// request is authenticated, and documents may be as large as the plug-in demands. Its check of the server's set-up, which
    /// reads and writes the configuration, passes.
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
