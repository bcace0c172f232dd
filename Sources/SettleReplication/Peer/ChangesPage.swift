/// A page of a peer's changes, in sequence order.
package struct ChangesPage: Sendable, Hashable {
    /// The changed documents, including those that may have left the filter.
    package var changes: [ChangedDocument]
    /// The position up to which the page is complete: that of the last document, or later if the documents after it did
    /// not pass the filter.
    package var last: PeerSequence
    /// How many changes remain after this page, if the peer reports it; with a filter an upper bound.
    package var pending: Int?
    /// How many documents a filter of this process rejected.
    package var filtered: Int

    /// Creates a page.
    package init(changes: [ChangedDocument], last: PeerSequence, pending: Int? = nil, filtered: Int = 0) {
        self.changes = changes
        self.last = last
        self.pending = pending
        self.filtered = filtered
    }
}
