/// What a peer says of itself when it is reached.
public struct PeerInfo: Sendable, Hashable {
    /// The product, `CouchDB` or `Settle`, where it is told.
    public var product: String?
    /// Its version, where it is told.
    public var version: String?
    /// The name of this very server and database: another after the database was deleted and made anew.
    public var instance: String?
    /// The position of the newest change.
    public var lastSequence: PeerSequence
    /// The time by the server's clock, in milliseconds since 1970, where it is told.
    public var serverTime: Int64?

    /// Makes the information.
    public init(
        product: String? = nil, version: String? = nil, instance: String? = nil, lastSequence: PeerSequence
    ) {
        self.product = product
        self.version = version
        self.instance = instance
        self.lastSequence = lastSequence
    }
}
