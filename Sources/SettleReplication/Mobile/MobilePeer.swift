package import SettleCore
package import SettleDatabase
public import SettleHTTP
internal import SettleMobile
internal import SettlePlatform

/// A database at a server of Couchbase Mobile's protocol: Sync Gateway, a peer of Couchbase Lite, or Settle.
///
///     let gateway = try MobilePeer("wss://anna:secret@gateway.example/notes")
///     try await OneWayReplicator(.push(database, to: gateway)).run()
///
/// The protocol replicates each document's current revision; conflicts stay local. A revision that would become a
/// branch is refused with ``PeerError/Code/conflict`` until the conflict is settled here, for example by a pull
/// with a conflict policy. Then the result is sent as a child of the server's revision. Design documents are not
/// sent.
///
/// The contents of a document's attachments are in memory while the document is sent or received; each may have at
/// most 20 MiB.
public final class MobilePeer: Peer, AddressedPeer {
    /// A connection with a subscription; each subscription has its own connection.
    struct Feed: Sendable {
        let connection: MobileConnection
        let subscription: MobileSubscription
        /// The filter and the options of the subscription.
        let key: BLIPMessage
        /// The position after the changes that were returned.
        var position: PeerSequence
        /// Whether all changes that existed at the start of the subscription were returned.
        var isOver = false
    }

    struct State: Sendable {
        var opening: Task<MobileConnection, any Error>?
        /// Whether `opening` has connected.
        var isOpen = false
        var feeds: [Feed] = []
        /// Whether the server finds blobs in the members of a document, as Couchbase Lite's peers do.
        var findsBlobs = false
        var isClosed = false
    }

    /// The address, without user and password.
    let address: PeerAddress
    let collection: String?
    let headers: HTTPHeaders
    let client: any HTTPTransport
    /// The HTTP API at the same address, which has the login.
    private let login: CouchDBConnection
    let opener: MobileOpener
    /// The maximum size of the attachments in memory, in bytes; a larger single revision is sent alone.
    package let maximumContentBytes: Int
    /// The warning that credentials are sent unencrypted to another machine, unless `onWarning` gets it.
    package let warning: String?
    let state: Guarded<State>

    /// Creates a peer; nothing is sent before the first call.
    ///
    /// - Parameters:
    ///   - address: The address of the database: `ws://host:4984/database` or `wss://…`, with or without user and
    ///     password.
    ///   - collection: The collection, `scope.collection`; `nil`, the default, for the default collection.
    ///   - credentials: The credentials; `nil` for the user and the password of the address or, if it has none, those of
    ///     ``CredentialStore/shared`` for the server. A session of Sync Gateway is a ``ReplicationCredentials/cookie(_:)``.
    ///   - options: Certificates and proxy.
    ///   - onWarning: Called before credentials are sent unencrypted to another machine. By default, replications
    ///     with the peer call their database's ``DatabaseOptions/warn``, which writes to standard error.
    /// - Throws: ``PeerError`` with code `badRequest` for another address.
    public convenience init(
        _ address: String, collection: String? = nil, credentials: ReplicationCredentials? = nil,
        options: TransportOptions = TransportOptions(), onWarning: ((String) -> Void)? = nil
    ) throws {
        let given: PeerAddress
        do { given = try PeerAddress(address) } catch {
            throw PeerError(.badRequest, error.message, status: 400, cause: error)
        }
        try self.init(
            given, collection: collection, credentials: credentials, client: DefaultTransport(options),
            onWarning: onWarning)
    }

    /// Creates a peer; see ``init(_:collection:credentials:options:onWarning:)``.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - collection: The collection.
    ///   - credentials: The credentials.
    ///   - client: Logs in if a session is needed; its options apply to WebSockets too.
    ///   - headers: Headers sent in addition to those of the protocol; they replace headers of the same name.
    ///   - opener: Opens connections.
    ///   - maximumContentBytes: The maximum size of the attachments that are sent at the same time.
    ///   - onWarning: Called before credentials are sent unencrypted.
    /// - Throws: ``PeerError`` with code `badRequest` for an address of another protocol, or without a database.
    package init(
        _ address: PeerAddress, collection: String? = nil, credentials: ReplicationCredentials? = nil,
        client: any HTTPTransport, headers: HTTPHeaders = HTTPHeaders(), opener: MobileOpener = .socket,
        maximumContentBytes: Int = 64 << 20, onWarning: ((String) -> Void)? = nil
    ) throws {
        guard address.isWebSocket else {
            throw PeerError(.badRequest, "an address of Couchbase Mobile begins with ws:// or wss://", status: 400)
        }
        guard address.url.databaseName != nil else {
            throw PeerError(.badRequest, "\(address) names a server and no database", status: 400)
        }
        let client = HeaderClient(client, headers, for: address.url)
        var warning: String?
        login = CouchDBConnection(database: address.url, client: client, credentials: credentials) { text in
            if let onWarning { onWarning(text) } else { warning = text }
        }
        self.warning = warning
        state = Guarded(State())
        (self.address, self.collection) = (address.withoutCredentials, collection)
        (self.client, self.headers, self.opener) = (client, headers, opener)
        self.maximumContentBytes = maximumContentBytes
    }

    /// The credentials.
    var credentials: ReplicationCredentials { login.credentials }

    /// Replaces the token or password. Open connections stay open; the next one uses the new credentials.
    ///
    /// - Parameter credentials: The new credentials, of the same user.
    /// - Throws: ``PeerError`` with code `badRequest` for another user's credentials, which would belong to another
    ///   replication; with `cancelled` after ``close()``.
    public func renew(_ credentials: ReplicationCredentials) throws {
        try state.withLock { state in
            guard !state.isClosed else { throw closed }
            try credentials.checkUser(of: login.credentials)
            login.renew(credentials)
            // A connection that is not open yet may be refused because of the old credentials.
            if !state.isOpen { state.opening = nil }
        }
    }

    var closed: PeerError { PeerError(.cancelled, "the peer \(name) is closed") }

    /// The address without user and password, and the collection if it is not the default one.
    public var name: String { "\(address)" + (collection.map { "#\($0)" } ?? "") }

    /// `nil`: the database is at a server.
    package var database: Database? { nil }

    /// Whether the server is on another machine.
    package var needsNetwork: Bool { !address.url.isLoopback }

    /// The address in one canonical spelling, the user without the password, and the collection (SEMANTICS 134).
    package func identity() async throws -> String {
        address.text(user: credentials.user) + "#\(collection ?? "")"
    }

    /// Opens the connection. The server reports its last sequence only with changes, so it is unknown here.
    public func connect() async throws -> PeerInfo {
        _ = try await connection()
        return PeerInfo(lastSequence: PeerSequence(.null))
    }

    /// Fails: only the server's own tools create databases.
    public func create() async throws {
        do { _ = try await connection() } catch let error as PeerError where error.code == .notFound {
            throw PeerError(
                .notFound, "\(error.message); create it with the tools of the server", status: error.status,
                cause: error)
        }
    }

    /// Does nothing: a server keeps no merge bases for clients.
    package func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws {}

    /// How a replication reaches the peer.
    public var link: PeerLink { PeerLink(self) }

    /// Closes the connections.
    public func close() async {
        let (opening, feeds) = state.withLock { state in
            state.isClosed = true
            defer { (state.opening, state.feeds) = (nil, []) }
            return (state.opening, state.feeds)
        }
        for feed in feeds { feed.connection.close() }
        if let opening { try? await opening.value.close() }
    }
}

// MARK: - Connections

extension MobilePeer {
    /// The connection for everything except subscriptions; it is opened again if it was lost.
    func connection() async throws -> MobileConnection {
        let opening = try task(replacing: nil)
        let connection = try await self.connection(of: opening)
        return connection.isOpen ? connection : try await self.connection(of: task(replacing: opening))
    }

    /// The connection that a task opens. One that fails is not kept, so that the next call connects again.
    private func connection(of opening: Task<MobileConnection, any Error>) async throws -> MobileConnection {
        do {
            let connection = try await opening.value
            let isClosed = state.withLock { state in
                if state.opening == opening { state.isOpen = true }
                return state.isClosed
            }
            guard !isClosed else {
                // `close()` closes only the newest connection, if that is open.
                connection.close()
                throw closed
            }
            return connection
        } catch {
            state.withLock { if $0.opening == opening { $0.opening = nil } }
            throw error
        }
    }

    private func task(replacing old: Task<MobileConnection, any Error>?) throws -> Task<MobileConnection, any Error> {
        try state.withLock { state in
            guard !state.isClosed else { throw closed }
            if let opening = state.opening, opening != old { return opening }
            let opening = Task { try await self.open() }
            (state.opening, state.isOpen) = (opening, false)
            return opening
        }
    }

    /// Opens a connection. If the server refuses that, it is tried once more with a new session or token, or with
    /// credentials that have replaced the refused ones.
    func open() async throws -> MobileConnection {
        let place = address.url.appending("_blipsync")
        var isAgain = false
        while true {
            do {
                let authorized = try await login.authorize(HTTPRequest("GET", place))
                var request = authorized.request
                request.headers.merge(headers)
                do {
                    return try await MobileConnection.open(request, client.options, opener, collection: collection)
                } catch let error as PeerError where error.status == 401 {
                    guard !isAgain, login.hasOthers(than: authorized, for: nil) else {
                        throw refused(error, authorized.authorizer.tried(at: place))
                    }
                    isAgain = true
                }
            } catch { throw PeerError(error, at: name) }
        }
    }

    private func refused(_ error: PeerError, _ tried: String) -> PeerError {
        PeerError(
            .unauthorized,
            "\(name) refuses \(tried); give a user and a password, or a token, that may do this",
            status: 401, cause: error.cause)
    }
}

extension MobilePeer {
    /// Reads a checkpoint, which the server stores for its client.
    package func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        do {
            let answer = try await connection().ask("getCheckpoint", ["client": id.checkpoint])
            return PeerLocalDocument(
                revision: answer.properties["rev"] ?? "", body: try JSONValue(utf8: answer.body))
        } catch let error as PeerError where error.status == 404 { return nil } catch {
            throw PeerError(error, at: name)
        }
    }

    /// Stores a checkpoint.
    package func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        let answer = try await connection().ask(
            "setCheckpoint", ["client": id.checkpoint, "rev": revision ?? ""], body: body.utf8)
        return answer.properties["rev"] ?? ""
    }
}

extension DocumentID {
    /// The name of the checkpoint in a local document's id.
    fileprivate var checkpoint: String { String(string.dropFirst("_local/".count)) }
}
