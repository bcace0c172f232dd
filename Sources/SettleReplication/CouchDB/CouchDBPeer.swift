package import SettleCore
package import SettleDatabase
public import SettleHTTP
internal import SettlePlatform

/// A database at a server with CouchDB's HTTP API: CouchDB, Settle, or another server that speaks the replication
/// protocol.
///
///     let remote = try CouchDBPeer(HTTPURL("https://anna:secret@couch.example/groceries"))
///     let info = try await remote.connect()
///
/// Responses are read as they arrive, so the memory depends on the caller's limits, not on the amount that a server
/// sends. If a server does not support `_bulk_get` or large requests, the peer remembers that for its lifetime.
public final class CouchDBPeer: Peer, AddressedPeer {
    /// The properties of the server that the peer has learned.
    struct Learnt: Sendable {
        /// Whether the server has said that it is Settle.
        var isSettle = false
        var lacksBulkGet = false
        /// The maximum size of the documents or revisions in one request, in bytes.
        var requestBytes: Int
        var idleLimit = IdleLimit()
        /// The average size of recent revisions in bytes; 0 before the first.
        var revisionBytes = 0
        /// The revisions that came with changes.
        var carried = CarriedRevisions()

        /// The smallest request size that is learned from refusals.
        private static let leastBytes = 64 << 10

        /// Records that the server has refused a request of this size as too large.
        mutating func recordRefusal(of bytes: Int) {
            requestBytes = min(requestBytes, max(Self.leastBytes, bytes / 2))
        }
    }

    /// The address of the database, without user and password.
    public let url: HTTPURL
    /// The options for requests.
    let options: CouchDBPeerOptions
    let learnt: Guarded<Learnt>
    let now: @Sendable () -> ContinuousClock.Instant
    /// The warning that credentials go over plain HTTP to another machine, unless the caller allows that.
    package let warning: String?
    private let state: Guarded<State>

    private struct State {
        var credentials: ReplicationCredentials
        /// `nil` after the peer was closed.
        var connection: CouchDBConnection?
    }

    /// Creates a peer; nothing is sent before the first call.
    ///
    /// - Parameters:
    ///   - url: The address of the database, with or without user and password.
    ///   - credentials: The credentials; `nil` for the user and the password of the address or, if it has none, those
    ///     of ``CredentialStore/shared`` for the server.
    ///   - client: Sends the requests; by default the peer creates its own.
    ///   - options: The options for requests.
    ///   - onWarning: Called before credentials are sent unencrypted to another machine. By default, replications
    ///     and sessions with the peer call their database's ``DatabaseOptions/warn``, which writes to standard
    ///     error.
    /// - Throws: ``PeerError`` with code `badRequest` if the address names no database.
    public convenience init(
        _ url: HTTPURL, credentials: ReplicationCredentials? = nil, client: any HTTPTransport = DefaultTransport(),
        options: CouchDBPeerOptions = CouchDBPeerOptions(), onWarning: ((String) -> Void)? = nil
    ) throws {
        try self.init(
            url, credentials: credentials, client: client, options: options, now: { ContinuousClock.now },
            onWarning: onWarning)
    }

    init(
        _ url: HTTPURL, credentials: ReplicationCredentials?, client: any HTTPTransport, options: CouchDBPeerOptions,
        now: @escaping @Sendable () -> ContinuousClock.Instant, onWarning: ((String) -> Void)? = nil
    ) throws {
        guard url.databaseName != nil else {
            throw PeerError(
                .badRequest, "\(url) names a server and no database; give the database's name behind a slash")
        }
        let client = HeaderClient(client, options.headers, for: url)
        var warning: String?
        let connection = CouchDBConnection(database: url, client: client, credentials: credentials) { text in
            if let onWarning { onWarning(text) } else { warning = text }
        }
        self.warning = warning
        state = Guarded(State(credentials: connection.credentials, connection: connection))
        self.url = connection.url
        self.options = options
        self.now = now
        learnt = Guarded(Learnt(requestBytes: options.requestBytes))
    }

    /// The address, marked as CouchDB's protocol.
    var address: PeerAddress { PeerAddress(url) }

    /// `nil`: CouchDB has no collections.
    var collection: String? { nil }

    /// The headers sent with each request.
    var headers: HTTPHeaders { options.headers }

    /// The credentials.
    var credentials: ReplicationCredentials { state.withLock(\.credentials) }

    /// Replaces the token or password from the next request on, even for a running replication. So expired
    /// credentials need not end it, and its checkpoint stays valid (SEMANTICS 138).
    ///
    /// - Parameter credentials: The new credentials, of the same user.
    /// - Throws: ``PeerError`` with code `badRequest` for another user's credentials, which would belong to another
    ///   replication; with `cancelled` after ``close()``.
    public func renew(_ credentials: ReplicationCredentials) throws {
        try state.withLock { state in
            guard let connection = state.connection else { throw closed }
            try credentials.checkUser(of: state.credentials)
            state.credentials = credentials
            connection.renew(credentials)
        }
    }

    private var closed: PeerError { PeerError(.cancelled, "the peer \(name) is closed") }

    /// The address without user and password.
    public var name: String { url.description }

    /// `nil`: the database is at a server.
    package var database: Database? { nil }

    /// Whether the server is on another machine.
    package var needsNetwork: Bool { !url.isLoopback }

    /// Whether the server is Settle.
    package var keepsForgottenVersions: Bool { learnt.withLock(\.isSettle) }

    /// The address in one canonical spelling and the user, without the password (SEMANTICS 134).
    package func identity() async throws -> String {
        address.text(user: credentials.user)
    }

    /// The calls to the database.
    ///
    /// - Throws: ``PeerError`` with code `cancelled` after ``close()``.
    func calls() throws -> PeerCalls {
        guard let connection = state.withLock(\.connection) else { throw closed }
        return PeerCalls(connection)
    }

    /// Does nothing: a server keeps its own bases.
    package func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws {}

    /// How a replication reaches the peer.
    public var link: PeerLink { PeerLink(self) }

    /// Releases the client. Its connections close after the running calls, unless another peer shares the client.
    public func close() async { state.withLock { $0.connection = nil } }
}

extension ReplicationCredentials {
    /// The user's name; `nil` if it is unknown.
    var user: String? {
        switch kind {
        case .basic(let user, _), .session(let user, _), .proxy(let user, _, _): user
        case .none, .bearer, .fixedBearer, .oauth1, .cookie, .stored: nil
        }
    }

    /// Checks that these credentials may replace the old ones.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` for another user's credentials.
    func checkUser(of old: ReplicationCredentials) throws(PeerError) {
        guard user == old.user else {
            throw PeerError(.badRequest, "\(self) is another user than \(old); make another peer for that one")
        }
    }
}

extension CouchDBPeer {
    /// The function of the design document that a filter names, or the view's map function for the filter `_view`;
    /// `nil` if it does not exist or may not be read, which the changes feed then reports.
    package func filterCode(_ filter: ReplicationFilter) async throws -> String? {
        guard case .named(let name, let parameters) = filter else { return nil }
        let isView = name == "_view"
        let parts = (isView ? parameters["view"]?.string ?? "" : name).split(separator: "/", maxSplits: 1)
        guard parts.count == 2, !parts[0].hasPrefix("_") else { return nil }
        let design: JSONValue
        do {
            design = try await calls().json("GET", .document(DocumentID(unchecked: "_design/\(parts[0])")))
        } catch let error as PeerError where [401, 403, 404].contains(error.status) { return nil }
        let place = String(parts[1])
        let code = isView ? design["views"]?[place]?["map"]?.string : design["filters"]?[place]?.string
        return code.map { String($0.drop(while: \.isWhitespace)) }
    }
}

// MARK: - CouchDBPeerOptions

/// The options for the requests of a ``CouchDBPeer``.
public struct CouchDBPeerOptions: Sendable {
    /// The maximum size of the documents in one request, in bytes, unless a single document is larger; 4 MiB by
    /// default.
    public var requestBytes = 4 << 20
    /// The size up to which an attachment is fetched and sent inline, together with other data, in bytes; 64 KiB by
    /// default. Larger attachments are streamed.
    public var inlineAttachmentBytes: Int64 = 64 << 10
    /// Headers sent with each request in addition to those of the protocol; empty by default. They replace headers
    /// of the same name.
    public var headers = HTTPHeaders()
    /// The maximum number of concurrent requests for single documents; 4 by default.
    public var requestsAtOnce = 4
    /// The maximum size of a fetched revision without its attachments, in bytes; 64 MiB by default.
    public var largestRevision = 64 << 20

    /// Creates options with the defaults.
    public init() {}
}

// MARK: - IdleLimit

/// The time that a connection may be silent before an intermediary closes it, as far as the peer has learned.
///
///     heartbeat every 30 s ── cut after 20 s ─→ every 10 s ── cut after 9 s ─→ every 4.5 s …
struct IdleLimit: Sendable {
    /// The shortest heartbeat interval. A connection that is closed after a shorter silence teaches nothing.
    static let shortest = Duration.seconds(1)

    private var learnt: Duration?

    /// The heartbeat interval to request, given the caller's preferred one.
    func heartbeat(_ wanted: Duration) -> Duration { max(Self.shortest, min(learnt ?? wanted, wanted)) }

    /// Records that a connection was closed after a silence.
    ///
    /// - Returns: Whether the interval has become shorter; then the closing is not a failure.
    mutating func recordCut(after silence: Duration, asked heartbeat: Duration) -> Bool {
        guard silence >= Self.shortest, heartbeat > Self.shortest else { return false }
        learnt = max(Self.shortest, min(silence, heartbeat) / 2)
        return true
    }
}

// MARK: - Local Documents

extension CouchDBPeer {
    /// A local document; see ``Peer/localDocument(_:)``.
    package func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        let calls = try calls()
        do {
            let document = try await calls.json("GET", .document(id))
            guard let members = document.object, let revision = document["_rev"]?.string else {
                throw PeerError(WireFault("a local document has no _rev"), at: calls.place(.document(id)))
            }
            let body = members.filter { !$0.name.hasPrefix("_") }.map { ($0.name, $0.value) }
            return PeerLocalDocument(revision: revision, body: .object(JSONObject(body)))
        } catch let error as PeerError where error.status == 404 && !error.isAboutDatabase { return nil }
    }

    /// Writes a local document; see ``Peer/saveLocalDocument(_:body:revision:)``.
    package func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        let calls = try calls()
        var members: [(String, JSONValue)] = [("_id", .string(id.string))]
        if let revision { members.append(("_rev", .string(revision))) }
        members += (body.object ?? JSONObject()).filter { !$0.name.hasPrefix("_") }.map { ($0.name, $0.value) }
        let answer = try await calls.json("PUT", .document(id), json: JSONValue.object(JSONObject(members)).utf8)
        guard let written = answer["rev"]?.string else {
            throw PeerError(
                WireFault("a local document was written, but the answer has no rev"), at: calls.place(.document(id)))
        }
        return written
    }
}

extension PeerError {
    /// Whether a status 404 means that the database is missing, and not something in it.
    var isAboutDatabase: Bool {
        guard let answer = cause as? CouchDBError, answer.status == 404 else { return false }
        let reason = answer.reason.lowercased()
        return reason == "no_db_file" || reason.hasPrefix("database does not exist")
            || reason.contains("no such database")
    }
}
