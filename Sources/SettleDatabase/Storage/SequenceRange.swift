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
