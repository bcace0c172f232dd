public import SettleCore

/// Which documents are read or counted, and in which order.
///
/// An engine answers each with an index. ``StorageReader/count(_:)`` is the only way to a number of documents.
public enum DocumentScan: Sendable {
    /// All documents of a range, deleted ones included, in the order of their ids' bytes.
    case documents(DocumentRange)
    /// Documents of a range that have a live leaf, in the order of their ids' bytes.
    case live(DocumentRange)
    /// Documents of a range whose leaves are all tombstones, in the order of their ids' bytes.
    case deleted(DocumentRange)
    /// Documents of a range in a conflict of one kind, in the order of their ids' bytes.
    case conflicted(ConflictKind, DocumentRange)
    /// Documents in the order of their last changes.
    case changes(SequenceRange)
}

/// A part of the documents by their ids, compared byte by byte.
public struct DocumentRange: Sendable {
    /// The lowest id, itself included, or `nil` for no bound.
    public var from: DocumentID?
    /// The id behind which the range begins, or `nil`; together with `from` the stricter one counts.
    public var after: DocumentID?
    /// The highest id, itself included, or `nil` for no bound.
    public var through: DocumentID?
    /// The id before which the range ends, or `nil`.
    public var before: DocumentID?
    /// Whether the highest comes first.
    public var descending: Bool

    /// Makes a range.
    public init(
        from: DocumentID? = nil, after: DocumentID? = nil, through: DocumentID? = nil, before: DocumentID? = nil,
        descending: Bool = false
    ) {
        self.from = from
        self.after = after
        self.through = through
        self.before = before
        self.descending = descending
    }
}

/// A part of the order of changes.
public struct SequenceRange: Sendable {
    /// Changes after this one…
    public var after: UpdateSequence
    /// …up to this one.
    public var through: UpdateSequence
    /// Whether the newest comes first.
    public var descending: Bool

    /// Makes a range.
    public init(after: UpdateSequence = 0, through: UpdateSequence = UpdateSequence(.max), descending: Bool = false) {
        self.after = after
        self.through = through
        self.descending = descending
    }
}

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

extension StorageReader {
    /// Documents in the order of their last changes; see ``records(_:limit:withContent:)``.
    public func records(changedIn range: SequenceRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try records(.changes(range), limit: limit, withContent: withContent)
    }

    /// Documents in the order of their ids' bytes, deleted ones included; see ``records(_:limit:withContent:)``.
    public func records(in range: DocumentRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try records(.documents(range), limit: limit, withContent: withContent)
    }

    /// How many documents a range has.
    public func counts(in range: DocumentRange = DocumentRange()) throws -> DocumentCounts {
        DocumentCounts(live: try count(.live(range)), deleted: try count(.deleted(range)))
    }
}
