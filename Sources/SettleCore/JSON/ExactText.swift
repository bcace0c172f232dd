/// A text that is compared by its UTF-8 bytes, as CouchDB compares names.
///
/// Swift compares strings by canonical equivalence, by which `é` as one character equals `é` as a letter and an accent.
/// Names that a client chooses must differ there, so they are keys of dictionaries and sets only in this form.
package struct ExactText: Hashable, Comparable, Sendable {
    /// The text.
    package let string: String

    /// Makes a text that is compared by its bytes.
    package init(_ string: String) { self.string = string }

    /// Whether both texts have the same bytes.
    package static func == (left: ExactText, right: ExactText) -> Bool { left.string.hasSameBytes(as: right.string) }

    /// Orders texts by their bytes.
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) { string.hashBytes(into: &hasher) }
}
