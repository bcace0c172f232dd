internal import SettleCore
internal import SettleDatabase

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A database that takes part in a replication: a ``LocalPeer`` on this machine, a ``CouchDBPeer`` at CouchDB's HTTP API, or a
/// ``MobilePeer`` at the WebSocket of Couchbase Mobile.
///
/// Its calls throw ``PeerError``; ``PeerError/isTransient`` says whether the same call may succeed later. The
/// protocol is sealed: only the peers of this package can create a ``PeerLink``.
public protocol Peer: Sendable {
    /// The name of the peer in messages: its path, or its URL without credentials.
    var name: String { get }

    /// Contacts the peer and verifies that it is a usable database.
    ///
    /// - Throws: ``PeerError`` with code `notFound` if the database does not exist, `unauthorized`, or `unreachable`.
    func connect() async throws -> PeerInfo

    /// Creates the database unless it exists.
    func create() async throws

    /// Closes connections. The owner of the peer calls it when no replication needs the peer any longer.
    /// Replications don't call it, because several may share the peer.
    func close() async

    /// The link through which a replication calls the peer.
    var link: PeerLink { get }
}

/// The link through which a replication calls a ``Peer``. Apps only pass it on, together with the peer.
public struct PeerLink: Sendable {
    package let operations: any PeerOperations

    package init(_ operations: any PeerOperations) {
        self.operations = operations
    }
}

extension Peer {
    /// The calls of a replication on the peer.
    package var operations: any PeerOperations { link.operations }
}

/// A peer's information about itself.
public struct PeerInfo: Sendable, Hashable {
    /// The name of the product, `CouchDB` or `Settle`, if reported.
    public var product: String?
    /// Its version, if reported.
    public var version: String?
    /// The name of this instance of the database at this server: it changes if the database is deleted and created
    /// again.
    public var instance: String?
    /// The position of the newest change.
    public var lastSequence: PeerSequence
    /// The server's time, if reported.
    public var serverTime: Date?
    /// Whether the database had no document, not even a deleted one.
    package var isEmpty = false

    /// Creates the information.
    public init(
        product: String? = nil, version: String? = nil, instance: String? = nil, lastSequence: PeerSequence
    ) {
        self.product = product
        self.version = version
        self.instance = instance
        self.lastSequence = lastSequence
    }
}
