internal import SettleDatabase
package import SettleHTTP
internal import SettlePlatform

/// The address of a database at another server. Its scheme selects the protocol.
///
///     https://anna@couch.example/notes      http, https: CouchDB's
///     wss://anna@gateway.example/notes      ws, wss: Couchbase Mobile's, over a WebSocket
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, with `http` for `ws` and `https` for `wss`. All other rules are the same.
    package let url: HTTPURL
    /// Whether the protocol is Couchbase Mobile's.
    package let isWebSocket: Bool

    /// Parses an address.
    ///
    /// - Throws: ``TransportError`` with code `badURL`. Its message does not repeat the address, which may contain a password.
    package init(_ text: String) throws(TransportError) {
        isWebSocket = ["ws://", "wss://"].contains { text.prefix($0.count).lowercased() == $0 }
        url = try HTTPURLReader.read(
            isWebSocket ? "http" + text.dropFirst(2) : text, keepsLastSlash: false,
            schemes: "http:// or https://, or ws:// or wss://")
    }

    /// Creates an address of CouchDB's protocol.
    package init(_ url: HTTPURL) { self.init(url, isWebSocket: false) }

    private init(_ url: HTTPURL, isWebSocket: Bool) { (self.url, self.isWebSocket) = (url, isWebSocket) }

    /// The address without user and password.
    package var withoutCredentials: PeerAddress { PeerAddress(url.withoutCredentials, isWebSocket: isWebSocket) }

    /// The address without user and password.
    package var description: String { isWebSocket ? "ws" + url.description.dropFirst("http".count) : url.description }

    /// The address with a user's name, but without a password; `nil` leaves the name out.
    package func text(user: String?) -> String {
        guard let user else { return description }
        let scheme = isWebSocket ? url.scheme == .http ? "ws" : "wss" : url.scheme.rawValue
        return "\(scheme)://\(PercentCoding.encode(user))@\(url.authority)\(url.path)"
    }
}

// MARK: - AddressedPeer

/// A peer with an address and credentials, which can be stored: at CouchDB's API, or with Couchbase Mobile's protocol.
protocol AddressedPeer: PeerOperations {
    /// The address, without user and password.
    var address: PeerAddress { get }
    /// The collection of Couchbase Mobile's protocol; `nil` for the default one, and for CouchDB's protocol.
    var collection: String? { get }
    /// The credentials.
    var credentials: ReplicationCredentials { get }
    /// Headers sent in addition to those of the protocol.
    var headers: HTTPHeaders { get }

    /// Replaces the credentials by new ones of the same user.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` for another user's credentials, and `cancelled` after ``close()``.
    func renew(_ credentials: ReplicationCredentials) throws
}

// MARK: - Peer

extension PeerAddress {
    /// Creates the peer of this address. Nothing is sent before its first call.
    ///
    /// - Parameters:
    ///   - credentials: The credentials; `nil` for those of the address or of ``CredentialStore/shared``.
    ///   - collection: The collection of Couchbase Mobile's protocol, `scope.collection`; `nil`, the default, for
    ///     the default collection.
    ///   - client: Sends the requests. Its options apply to WebSockets too.
    ///   - headers: Headers sent in addition to those of the protocol.
    ///   - onWarning: Called before credentials are sent unencrypted to another machine; by default replications
    ///     report that.
    /// - Returns: A ``CouchDBPeer`` or a ``MobilePeer``.
    /// - Throws: ``PeerError`` with code `badRequest` if the address names no database, or if a collection is given
    ///   for CouchDB's protocol.
    package func peer(
        credentials: ReplicationCredentials? = nil, collection: String? = nil, client: any HTTPTransport,
        headers: HTTPHeaders = HTTPHeaders(), onWarning: ((String) -> Void)? = nil
    ) throws -> any PeerOperations {
        if isWebSocket {
            return try MobilePeer(
                self, collection: collection, credentials: credentials, client: client, headers: headers,
                onWarning: onWarning)
        }
        guard collection == nil else {
            throw PeerError(.badRequest, "a collection needs an address with ws:// or wss://, not \(self)", status: 400)
        }
        var options = CouchDBPeerOptions()
        options.headers = headers
        return try CouchDBPeer(
            url, credentials: credentials, client: client, options: options, onWarning: onWarning)
    }
}
