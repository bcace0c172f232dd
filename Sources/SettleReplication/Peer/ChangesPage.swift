/// A page of a peer's changes, in sequence order.
public struct ChangesPage: Sendable, Hashable {
    /// The changed documents, including those that may have left the filter.
    public var changes: [ChangedDocument]
    /// The position up to which the page is complete: that of the last document, or later if the documents after it did
    /// not pass the filter.
    public var last: PeerSequence
    /// How many changes remain after this page, if the peer reports it; with a filter an upper bound.
    public var pending: Int?
    /// How many documents a filter of this process rejected.
    public var filtered: Int

    /// Creates a page.
    public init(changes: [ChangedDocument], last: PeerSequence, pending: Int? = nil, filtered: Int = 0) {
        self.changes = changes
        self.last = last
        self.pending = pending
        self.filtered = filtered
    }
}
