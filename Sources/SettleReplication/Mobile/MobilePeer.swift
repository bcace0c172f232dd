public import SettleCore
public import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// A database behind Couchbase Mobile's protocol: of Sync Gateway, of a peer of Couchbase Lite, or of Settle itself.
///
///     let gateway = try MobilePeer("wss://anna:secret@gateway.example/notes")
///     try await OneWayReplicator(.push(database, to: gateway)).run()
///
/// The protocol replicates each document's current revision: conflicts stay here. A revision that would become a branch is
/// refused with ``PeerError/Code/conflict`` until the conflict is settled here, which a pull with a conflict policy does;
/// then what was settled is sent as a child of the server's revision. Design documents are not sent.
///
/// A document with attachments carries their contents in memory, at most 20 MiB each.
public final class MobilePeer: Peer {
    /// What a connection is for: a subscription fills its own.
    struct Feed: Sendable {
        let connection: MobileConnection
        let subscription: MobileSubscription
        /// The filter and the options of the subscription.
        let key: BLIPMessage
        /// The position after the changes that were handed out.
        var position: PeerSequence
        /// Whether the end of what there was at its begin was handed out.
        var isOver = false
    }

    struct State: Sendable {
        var opening: Task<MobileConnection, any Error>?
        var feeds: [Feed] = []
        /// Whether the server finds blobs among the members of a document, as Couchbase Lite's peers do.
        var findsBlobs = false
        var isClosed = false
    }

    /// The address of the WebSocket's server and database, with `http` for `ws`, and without user and password.
    let url: HTTPURL
    private let collection: String?
    private let options: TransportOptions
    private let authorizer: Authorizer
    let state = Guarded(State())

    /// Creates a peer; nothing is sent before the first call.
    ///
    /// - Parameters:
    ///   - address: The address of the database: `ws://host:4984/database` or `wss://…`, with user and password or without.
    ///   - collection: The collection, `scope.collection`; the default collection unless given.
    ///   - credentials: The credentials; `nil` for the user and the password of the address or, if it has none, those of
    ///     ``CredentialStore/shared`` for the server. A session of Sync Gateway is a ``ReplicationCredentials/cookie(_:)``.
    ///   - options: Certificates and proxy.
    ///   - onWarning: Called before credentials are sent unencrypted to another machine; writes to standard error unless
    ///     given.
    /// - Throws: ``PeerError`` with code `badRequest` for another address.
    public init(
        _ address: String, collection: String? = nil, credentials: ReplicationCredentials? = nil,
        options: TransportOptions = TransportOptions(), onWarning: (String) -> Void = { DatabaseOptions().warn($0) }
    ) throws {
        let given = try Self.url(of: address)
        guard given.databaseName != nil else {
            throw PeerError(.badRequest, "\(Self.name(of: given)) names a server and no database", status: 400)
        }
        // The login is that of the HTTP API at the same address.
        let connection = CouchDBConnection(
            database: given, client: DefaultTransport(options), credentials: credentials, onWarning: onWarning)
        (url, self.collection, self.options) = (connection.url, collection, options)
        authorizer = connection.authorizer
    }

    /// Whether an address is one of this protocol.
    public static func isAddress(_ text: String) -> Bool {
        ["ws://", "wss://"].contains { text.prefix($0.count).lowercased() == $0 }
    }

    /// The address as one of HTTP, whose rules are the same but for the scheme.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` for another address.
    package static func url(of address: String) throws(PeerError) -> HTTPURL {
        guard isAddress(address) else {
            throw PeerError(.badRequest, "an address of Couchbase Mobile begins with ws:// or wss://", status: 400)
        }
        do { return try HTTPURL("http" + address.dropFirst(2)) } catch {
            throw PeerError(.badRequest, error.message, status: 400, cause: error)
        }
    }

    private static func name(of url: HTTPURL) -> String { "ws" + url.description.dropFirst(4) }

    /// The address without user and password, and the collection if it is not the default one.
    public var name: String { Self.name(of: url) + (collection.map { "#\($0)" } ?? "") }

    /// `nil`: the database is elsewhere.
    public var database: Database? { nil }

    /// Whether the server is on another machine.
    public var needsNetwork: Bool { !url.isLoopback }

    /// The address in one spelling, the user without the password, and the collection (SEMANTICS 134).
    public func identity() async throws -> String {
        let user = authorizer.credentials.user.map { "\(PercentCoding.encode($0))@" } ?? ""
        return "\(url.scheme == .http ? "ws" : "wss")://\(user)\(url.authority)\(url.path)#\(collection ?? "")"
    }

    /// Opens the connection. What changed last is not known before it is asked for.
    public func connect() async throws -> PeerInfo {
        _ = try await connection()
        return PeerInfo(lastSequence: PeerSequence(.null))
    }

    /// Fails: databases are made by the server's own tools.
    public func create() async throws {
        do { _ = try await connection() } catch let error as PeerError where error.code == .notFound {
            throw PeerError(
                .notFound, "\(error.message); create it with the tools of the server", status: error.status,
                cause: error)
        }
    }

    /// Does nothing: a server keeps no bases for others.
    public func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws {}

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

    // MARK: - Connections

    /// The connection for all but subscriptions; a lost one is opened anew.
    func connection() async throws -> MobileConnection {
        let opening = try task(replacing: nil)
        do {
            let connection = try await opening.value
            return connection.isOpen ? connection : try await task(replacing: opening).value
        } catch {
            state.withLock { if $0.opening == opening { $0.opening = nil } }
            throw error
        }
    }

    private func task(replacing old: Task<MobileConnection, any Error>?) throws -> Task<MobileConnection, any Error> {
        try state.withLock { state in
            guard !state.isClosed else { throw PeerError(.cancelled, "the peer \(name) is closed") }
            if let opening = state.opening, opening != old { return opening }
            let opening = Task { try await self.open() }
            state.opening = opening
            return opening
        }
    }

    /// Opens a connection. A session or a token that has expired is replaced once.
    func open() async throws -> MobileConnection {
        let address = url.appending("_blipsync")
        var (request, isAgain) = (TransportRequest("GET", address), false)
        while true {
            do {
                let secret = try await authorizer.authorize(&request)
                do { return try await MobileConnection.open(request, options, collection: collection) } catch let error
                    as PeerError where error.status == 401
                {
                    guard let secret, !isAgain else { throw refused(error, at: address) }
                    authorizer.forget(secret)
                    isAgain = true
                }
            } catch { throw PeerError(error, at: name) }
        }
    }

    private func refused(_ error: PeerError, at address: HTTPURL) -> PeerError {
        PeerError(
            .unauthorized,
            "\(name) refuses \(authorizer.tried(at: address)); give a user and a password, or a token, that may do this",
            status: 401, cause: error.cause)
    }
}

extension MobilePeer {
    /// A checkpoint that the server keeps for its clients.
    public func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        do {
            let answer = try await connection().ask("getCheckpoint", ["client": id.checkpoint])
            return PeerLocalDocument(
                revision: answer.properties["rev"] ?? "", body: try JSONValue(utf8: answer.body))
        } catch let error as PeerError where error.status == 404 { return nil } catch {
            throw PeerError(error, at: name)
        }
    }

    /// Stores a checkpoint.
    public func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        let answer = try await connection().ask(
            "setCheckpoint", ["client": id.checkpoint, "rev": revision ?? ""], body: body.utf8)
        return answer.properties["rev"] ?? ""
    }
}

extension DocumentID {
    /// The name of the checkpoint that a local document is.
    fileprivate var checkpoint: String { String(string.dropFirst("_local/".count)) }
}
