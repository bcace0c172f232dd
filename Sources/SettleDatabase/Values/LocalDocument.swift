public import SettleCore

/// A document that stays in this database: it never replicates and no feed shows it (SEMANTICS 203).
///
/// Replicators store their checkpoints in them. A local document has no tree, only a counter of its writes: the revision
/// `0-N`.
public struct LocalDocument: Sendable, Hashable {
    /// The id, which starts with `_local/`.
    public let id: DocumentID
    /// How often the document was written: the N of its revision `0-N`.
    public let revisionNumber: Int64
    /// The members.
    public let body: DocumentBody

    /// Creates a local document.
    public init(id: DocumentID, revisionNumber: Int64, body: DocumentBody) {
        self.id = id
        self.revisionNumber = revisionNumber
        self.body = body
    }

    /// The revision in CouchDB's form, `0-N`.
    public var revision: String { "0-\(revisionNumber)" }
}
