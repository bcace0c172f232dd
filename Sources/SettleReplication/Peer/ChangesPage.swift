/// Some of a peer's changes, in the order of their sequences.
public struct ChangesPage: Sendable, Hashable {
    /// The documents that were changed, also those that may have left the filter.
    public var changes: [ChangedDocument]
    /// The position up to which the page tells everything: that of the last document, or beyond it when those after it
    /// did not pass the filter.
    public var last: PeerSequence
    /// How many changes are left after this page, where the peer says so; with a filter an upper bound.
    public var pending: Int?
    /// How many documents a filter of this process refused.
    public var filtered: Int

    /// Makes a page.
    public init(changes: [ChangedDocument], last: PeerSequence, pending: Int? = nil, filtered: Int = 0) {
        self.changes = changes
        self.last = last
        self.pending = pending
        self.filtered = filtered
    }
}
