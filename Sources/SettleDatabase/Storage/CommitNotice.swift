/// What a storage engine says about commits that became visible, its own or those of another process.
public struct CommitNotice: Sendable, Hashable {
    /// The position of the newest change.
    public var sequence: UpdateSequence
    /// Whether a design document may have changed that this process did not write.
    public var changesDesign: Bool
    /// Whether a setting may have changed that this process did not set.
    public var changesSettings: Bool

    /// Creates a notice.
    public init(sequence: UpdateSequence, changesDesign: Bool = false, changesSettings: Bool = false) {
        (self.sequence, self.changesDesign, self.changesSettings) = (sequence, changesDesign, changesSettings)
    }
}
