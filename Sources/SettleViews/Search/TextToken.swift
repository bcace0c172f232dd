/// A token of a search.
enum TextToken: Equatable {
    case opening, closing, and, or, not
    /// A word, optionally followed by `*`.
    case word(String, isPrefix: Bool)
    /// Quoted words, optionally followed by `*`, or by `~` and a distance.
    case phrase(String, isPrefix: Bool, distance: Int?)
    /// The name of a field, followed by a colon.
    case field(String)
}
