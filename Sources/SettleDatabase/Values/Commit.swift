/// A commit of a database since it was opened.
package struct Commit: Sendable, Equatable {
    /// How many commits preceded it.
    private var number: UInt64 = 0
    /// The position of the newest change as of this commit. A purge advances it, a setting does not.
    package private(set) var sequence: UpdateSequence

    /// The state when the database was opened.
    init(sequence: UpdateSequence) { self.sequence = sequence }

    /// Advances to the next commit.
    mutating func follow(_ sequence: UpdateSequence) {
        number += 1
        self.sequence = sequence
    }
}
