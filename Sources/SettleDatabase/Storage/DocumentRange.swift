public import SettleCore

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
