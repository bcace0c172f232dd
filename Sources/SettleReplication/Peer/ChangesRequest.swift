/// Which changes of a peer to read.
public struct ChangesRequest: Sendable {
    /// The position after which to begin.
    public var since: PeerSequence
    /// How many documents at the most, at least 1.
    public var limit: Int
    /// How long to wait if there are none; `nil` not to wait.
    public var wait: Duration?
    /// How often the peer should give a sign of life while it waits, so that no proxy on the way takes the connection for
    /// dead.
    public var heartbeat: Duration = .seconds(30)
    /// Which documents take part.
    public var filter: ReplicationFilter

    /// Makes a request.
    public init(
        since: PeerSequence = .start, limit: Int = 500, wait: Duration? = nil, filter: ReplicationFilter = .all
    ) {
        self.since = since
        self.limit = limit
        self.wait = wait
        self.filter = filter
    }
}
