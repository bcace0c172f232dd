/// A commit of a database since it was opened.
package struct Commit: Sendable, Equatable {
    /// How many there were before it.
    private var number: UInt64 = 0
    /// The position of the newest change then. A purge has one too, and a setting has none.
    package private(set) var sequence: UpdateSequence

    /// What was there when the database was opened.
    init(sequence: UpdateSequence) { self.sequence = sequence }

    /// Goes on to the next commit.
    mutating func follow(_ sequence: UpdateSequence) {
        number += 1
        self.sequence = sequence
    }
}
