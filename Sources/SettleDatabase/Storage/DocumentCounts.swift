/// How many documents a database has.
public struct DocumentCounts: Hashable, Sendable {
    /// Documents with a live leaf: CouchDB's `doc_count`.
    public var live: Int
    /// Documents whose leaves are all tombstones: CouchDB's `doc_del_count`.
    public var deleted: Int

    /// Makes counts.
    public init(live: Int = 0, deleted: Int = 0) {
        self.live = live
        self.deleted = deleted
    }
}
