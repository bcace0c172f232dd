/// Which changes of a peer to read.
public struct ChangesRequest: Sendable {
    /// The position to start after.
    public var since: PeerSequence
    /// The maximum number of documents, at least 1.
    public var limit: Int
    /// How long to wait if there are none; `nil` to return immediately.
    public var wait: Duration?
    /// How often the peer should send a heartbeat while it waits, so that no proxy closes the connection as idle.
    public var heartbeat: Duration = .seconds(30)
    /// Which documents take part.
    public var filter: ReplicationFilter

    /// Creates a request.
    public init(
        since: PeerSequence = .start, limit: Int = 500, wait: Duration? = nil, filter: ReplicationFilter = .all
    ) {
        self.since = since
        self.limit = limit
        self.wait = wait
        self.filter = filter
    }
}
