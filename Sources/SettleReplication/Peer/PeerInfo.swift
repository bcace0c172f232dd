/// What a peer reports about itself.
public struct PeerInfo: Sendable, Hashable {
    /// The product, `CouchDB` or `Settle`, if reported.
    public var product: String?
    /// Its version, if reported.
    public var version: String?
    /// The name of this instance of the database at this server: it changes if the database is deleted and created
    /// again.
    public var instance: String?
    /// The position of the newest change.
    public var lastSequence: PeerSequence
    /// The server's time, in milliseconds since 1970, if reported.
    public var serverTime: Int64?

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
