/// What ``Database/verify(progress:)`` found.
public struct VerificationReport: Sendable, Hashable {
    /// How many documents were looked at.
    public var documents = 0
    /// How many revisions their trees hold.
    public var revisions = 0
    /// How many contents of revisions were read and checked.
    public var contents = 0
    /// How many contents of attachments were read and checked.
    public var blobs = 0
    /// What is wrong, one line each, the first thousand; empty for a sound database.
    public internal(set) var problems: [String] = []

    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }

    mutating func report(_ problem: String) {
        if problems.count < 1000 { problems.append(problem) }
    }
}
