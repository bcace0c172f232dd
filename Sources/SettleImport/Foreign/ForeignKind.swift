package import Foundation

/// A kind of database file, and what opens it.
package struct ForeignKind: Sendable {
    /// The kind.
    package let kind: ForeignDatabase.Kind
    /// Its name in messages.
    package let name: String
    /// Opens a file or folder; `nil` if it is of another kind.
    package let open: @Sendable (URL) throws -> (any ForeignReader)?

    /// The kinds, in the order in which they are tried.
    package static let all: [ForeignKind] = []
}
