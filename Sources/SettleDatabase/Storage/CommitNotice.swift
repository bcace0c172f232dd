/// What a storage engine says about commits that became visible, its own or those of another process.
public struct CommitNotice: Sendable, Hashable {
    /// The position of the newest change.
    public var sequence: UpdateSequence
    /// Whether a design document may have changed that this process did not write.
    public var changesDesign: Bool
    /// Whether a setting may have changed that this process did not set.
    public var changesSettings: Bool
    /// Whether all these commits are of other processes.
    public var isForeign: Bool
    /// Whether a document may have been changed or removed; false for commits of settings and other side records alone.
    public var changesDocuments: Bool

    /// Creates a notice.
    public init(
        sequence: UpdateSequence, changesDesign: Bool = false, changesSettings: Bool = false, isForeign: Bool = false,
        changesDocuments: Bool = true
    ) {
        (self.sequence, self.isForeign) = (sequence, isForeign)
        (self.changesDesign, self.changesSettings) = (changesDesign, changesSettings)
        self.changesDocuments = changesDocuments
    }
}
