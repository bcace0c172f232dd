internal import SettleDatabase

extension PeerAddress {
    /// Makes the peer at the address; nothing is sent before its first call.
    ///
    /// - Parameters:
    ///   - credentials: The credentials; `nil` for those of the address or of ``CredentialStore/shared``.
    ///   - collection: The collection, `scope.collection`, of Couchbase Mobile's protocol; the default one unless given.
    ///   - client: Sends the requests; its options hold for a WebSocket, too.
    ///   - headers: Headers sent in addition to those of the protocol.
    ///   - onWarning: Called before credentials are sent unencrypted to another machine; replications report it unless given.
    /// - Returns: A ``CouchDBPeer`` or a ``MobilePeer``.
    /// - Throws: ``PeerError`` with code `badRequest` if the address names no database, or for a collection of CouchDB's.
    package func peer(
        credentials: ReplicationCredentials? = nil, collection: String? = nil, client: any HTTPTransport,
        headers: TransportHeaders = TransportHeaders(), onWarning: ((String) -> Void)? = nil
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
