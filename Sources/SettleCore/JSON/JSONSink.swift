/// Receives the events of a ``JSONScanner``, in the order of the text.
///
/// Positions are byte offsets into the scanned text. A sink may end the scan by throwing.
protocol JSONSink {
    /// Whether it needs nothing more; the scan ends after the current value, and the rest is not validated.
    var isDone: Bool { get }
    mutating func beginObject(at start: Int) throws(JSONError)
    mutating func key(_ token: JSONStringToken) throws(JSONError)
    mutating func endObject(at end: Int) throws(JSONError)
    mutating func beginArray(at start: Int) throws(JSONError)
    mutating func endArray(at end: Int) throws(JSONError)
    mutating func string(_ token: JSONStringToken) throws(JSONError)
    mutating func number(_ token: JSONNumberToken) throws(JSONError)
    mutating func literal(_ literal: JSONLiteral, at start: Int) throws(JSONError)
}

extension JSONSink {
    /// Most sinks need the whole text.
    var isDone: Bool { false }
}
