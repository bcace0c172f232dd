public import SettleCore

/// A page of a peer's changes, in sequence order.
package struct ChangesPage: Sendable, Hashable {
    /// The changed documents, including those that may have left the filter.
    package var changes: [ChangedDocument]
    /// The position up to which the page is complete: that of the last document, or later if the documents after it did
    /// not pass the filter.
    package var last: PeerSequence
    /// The number of changes after this page, if the peer reports it; with a filter an upper bound.
    package var pending: Int?
    /// The number of documents that a filter of this process rejected.
    package var filtered: Int

    /// Creates a page. Peers may claim any number of pending changes, so it is bounded for arithmetic.
    package init(changes: [ChangedDocument], last: PeerSequence, pending: Int? = nil, filtered: Int = 0) {
        self.changes = changes
        self.last = last
        self.pending = pending.map { min(max($0, 0), 1 << 40) }
        self.filtered = filtered
    }
}

// MARK: - ChangesRequest

/// A request for changes of a peer.
package struct ChangesRequest: Sendable {
    /// The position to start after.
    package var since: PeerSequence
    /// The maximum number of documents, at least 1.
    package var limit: Int
    /// The time to wait for the next change if nothing has changed; `nil` to return immediately.
    package var wait: Duration?
    /// The interval at which the peer should send a heartbeat while it waits, so that no proxy closes the connection as idle.
    package var heartbeat: Duration = .seconds(30)
    /// The filter of documents.
    package var filter: ReplicationFilter
    /// Whether most of the changed revisions will be fetched, so that a peer may read short ones together with the changes.
    package var wantsContents = false

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

// MARK: - ChangedDocument

/// A document that was changed at a peer.
package struct ChangedDocument: Sendable, Hashable {
    /// The position of its last change.
    package var sequence: PeerSequence
    /// The document's id.
    package var id: DocumentID
    /// Its leaves, starting with the peer's own winner.
    package var leaves: [RevisionID]
    /// Whether the peer's own winner is a tombstone (SEMANTICS K2).
    package var isDeleted: Bool
    /// Whether it does not pass the filter, but an earlier revision may have. Then it is not replicated, and only
    /// reported if the target has it (SEMANTICS 132).
    package var mayHaveLeft = false

    /// Creates a change.
    package init(sequence: PeerSequence, id: DocumentID, leaves: [RevisionID], isDeleted: Bool = false) {
        self.sequence = sequence
        self.id = id
        self.leaves = leaves
        self.isDeleted = isDeleted
    }
}

// MARK: - PeerSequence

/// A position in a peer's changes.
///
/// It is opaque: a number, a string or an array, which is returned to the peer unchanged (SEMANTICS 204). Positions
/// are compared only for equality.
public struct PeerSequence: Sendable, Hashable, CustomStringConvertible {
    /// The position as JSON.
    public let json: JSONValue

    /// Creates a position from a peer's JSON.
    public init(_ json: JSONValue) { self.json = json }

    /// Before the first change.
    public static let start = PeerSequence(0)

    /// Whether this is the position before the first change, which CouchDB writes as 0 or `"0"`.
    public var isStart: Bool { json == 0 || json == "0" }

    /// The number at the start of the position, with which CouchDB and Settle count changes; `nil` if there is
    /// none.
    ///
    /// In a cluster it does not order changes. A number that has become smaller shows that the database was
    /// replaced.
    public var number: Int64? {
        switch json {
        case .number: json.int.map(Int64.init)
        case .string(let text): Int64(text.prefix { $0 != "-" })
        default: nil
        }
    }

    /// The position as written in a URL: a string unchanged, anything else as JSON.
    public var description: String { json.string ?? json.description }
}
