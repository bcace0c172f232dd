/// Takes what a ``JSONScanner`` finds, in the order of the text.
///
/// Positions are byte offsets into the scanned text. A sink may refuse what it gets by throwing.
protocol JSONSink {
    mutating func beginObject(at start: Int) throws(JSONError)
    mutating func key(_ token: JSONStringToken) throws(JSONError)
    mutating func endObject(at end: Int) throws(JSONError)
    mutating func beginArray(at start: Int) throws(JSONError)
    mutating func endArray(at end: Int) throws(JSONError)
    mutating func string(_ token: JSONStringToken) throws(JSONError)
    mutating func number(_ token: JSONNumberToken) throws(JSONError)
    mutating func literal(_ literal: JSONLiteral, at start: Int) throws(JSONError)
}

/// A string in a text, without its quotes.
struct JSONStringToken {
    /// Where the first byte behind the opening quote is.
    let start: Int
    /// Where the closing quote is.
    let end: Int
    /// Whether there is a backslash inside.
    let hasEscapes: Bool
}

/// The three values that are words.
enum JSONLiteral { case null, `true`, `false` }

/// A sink that wants nothing: scanning into it only validates.
struct ValidatingSink: JSONSink {
    mutating func beginObject(at start: Int) {}
    mutating func key(_ token: JSONStringToken) {}
    mutating func endObject(at end: Int) {}
    mutating func beginArray(at start: Int) {}
    mutating func endArray(at end: Int) {}
    mutating func string(_ token: JSONStringToken) {}
    mutating func number(_ token: JSONNumberToken) {}
    mutating func literal(_ literal: JSONLiteral, at start: Int) {}
}
