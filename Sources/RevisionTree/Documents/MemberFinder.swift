/// Finds one top-level member of a body without building the others.
enum MemberFinder {
    /// The member's value, or nil.
    static func value(of name: String, in body: [UInt8]) -> JSON? {
        body.withUnsafeBufferPointer { text in
            var scanner = JSONScanner(text, into: Sink(text: text, name: Array(name.utf8)))
            try? scanner.scan()
            guard let range = scanner.sink.found else { return nil }
            return try? JSON(utf8: UnsafeBufferPointer(rebasing: text[range]))
        }
    }

    /// Notes where the value of a name at the top begins and ends; a body has no duplicates.
    private struct Sink: JSONSink {
        let text: UnsafeBufferPointer<UInt8>
        let name: [UInt8]
        var found: Range<Int>?
        private var depth = 0
        private var isWanted = false
        private var start = 0

        init(text: UnsafeBufferPointer<UInt8>, name: [UInt8]) {
            self.text = text
            self.name = name
        }

        mutating func key(_ token: JSONStringToken) {
            guard depth == 1 else { return }
            isWanted =
                token.hasEscapes
                ? token.string(in: text).utf8.elementsEqual(name)
                : token.end - token.start == name.count && text[token.start..<token.end].elementsEqual(name)
        }

        mutating func beginObject(at start: Int) { open(at: start) }
        mutating func beginArray(at start: Int) { open(at: start) }
        mutating func endObject(at end: Int) throws(JSONError) { try close(at: end) }
        mutating func endArray(at end: Int) throws(JSONError) { try close(at: end) }

        mutating func string(_ token: JSONStringToken) throws(JSONError) {
            try take(token.start - 1..<token.end + 1)
        }

        mutating func number(_ token: JSONNumberToken) throws(JSONError) { try take(token.start..<token.end) }

        mutating func literal(_ literal: JSONLiteral, at start: Int) throws(JSONError) {
            try take(start..<start + (literal == .false ? 5 : 4))
        }

        private mutating func open(at start: Int) {
            if depth == 1 { self.start = start }
            depth += 1
        }

        private mutating func close(at end: Int) throws(JSONError) {
            depth -= 1
            try take(start..<end)
        }

        /// Keeps a wanted value and ends the scan by throwing.
        private mutating func take(_ range: Range<Int>) throws(JSONError) {
            guard depth == 1, isWanted else { return }
            found = range
            throw JSONError(.syntax, "found")
        }
    }
}
