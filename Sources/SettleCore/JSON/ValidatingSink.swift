/// A sink that ignores all events: scanning into it only validates.
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
