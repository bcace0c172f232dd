/// A string in a text, without its quotes.
struct JSONStringToken {
    /// The position of the first byte after the opening quote.
    let start: Int
    /// The position of the closing quote.
    let end: Int
    /// Whether there is a backslash inside.
    let hasEscapes: Bool
}
