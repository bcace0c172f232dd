/// A string in a text, without its quotes.
struct JSONStringToken {
    /// Where the first byte behind the opening quote is.
    let start: Int
    /// Where the closing quote is.
    let end: Int
    /// Whether there is a backslash inside.
    let hasEscapes: Bool
}
