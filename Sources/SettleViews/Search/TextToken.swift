/// A part of a search as it is written.
enum TextToken: Equatable {
    case opening, closing, and, or, not
    /// A word, perhaps with a `*` behind it.
    case word(String, isPrefix: Bool)
    /// Words in quotes, perhaps with a `*`, or `~` and a distance behind them.
    case phrase(String, isPrefix: Bool, distance: Int?)
    /// The name of a field, with a colon behind it.
    case field(String)
}
