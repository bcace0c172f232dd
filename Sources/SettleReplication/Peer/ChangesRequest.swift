/// Which changes of a peer to read.
package struct ChangesRequest: Sendable {
    /// The position to start after.
    package var since: PeerSequence
    /// The maximum number of documents, at least 1.
    package var limit: Int
    /// How long to wait if there are none; `nil` to return immediately.
    package var wait: Duration?
    /// How often the peer should send a heartbeat while it waits, so that no proxy closes the connection as idle.
    package var heartbeat: Duration = .seconds(30)
    /// Which documents take part.
    package var filter: ReplicationFilter

    /// Creates a request.
    package init(
        since: PeerSequence = .start, limit: Int = 500, wait: Duration? = nil, filter: ReplicationFilter = .all
    ) {
        self.since = since
        self.limit = limit
        self.wait = wait
        self.filter = filter
    }
}
