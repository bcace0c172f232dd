/// A peer with an address and credentials, which can be stored: at CouchDB's API, or behind Couchbase Mobile's protocol.
protocol AddressedPeer: PeerOperations {
    /// The address, without user and password.
    var address: PeerAddress { get }
    /// The collection there, of Couchbase Mobile's protocol; `nil` for the default one, and for CouchDB's.
    var collection: String? { get }
    /// The credentials.
    var credentials: ReplicationCredentials { get }
    /// Headers sent in addition to those of the protocol.
    var headers: TransportHeaders { get }

    /// Replaces the credentials with other ones of the same user.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` for another user's credentials, and `cancelled` after ``close()``.
    func renew(_ credentials: ReplicationCredentials) throws
}
