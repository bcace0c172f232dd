extension DocumentBody {
    /// Some top-level members, parsed without the others, in their order in the body.
    ///
    /// - Complexity: O(*n*) in bytes up to the last of them.
    package func members(named names: [String]) -> JSONObject {
        utf8.withUnsafeBufferPointer { text in
            var scanner = JSONScanner(text, into: MembersFinder(text: text, names: names.map { Array($0.utf8) }))
            try? scanner.scan()
            let found = scanner.sink.found.compactMap { index, range in
                (try? JSON(utf8: UnsafeBufferPointer(rebasing: text[range]))).map { (names[index], $0) }
            }
            return JSONObject(found)
        }
    }
}

/// Records the ranges of the values of some top-level names; a body has no duplicates.
private struct MembersFinder: JSONSink {
    let text: UnsafeBufferPointer<UInt8>
    let names: [[UInt8]]
    var found: [(index: Int, range: Range<Int>)] = []
    private var depth = 0
    private var wanted: Int?
    private var start = 0

    init(text: UnsafeBufferPointer<UInt8>, names: [[UInt8]]) {
        self.text = text
        self.names = names
    }

    mutating func key(_ token: JSONStringToken) {
        guard depth == 1 else { return }
        if token.hasEscapes {
            let name = token.string(in: text)
            wanted = names.firstIndex { name.utf8.elementsEqual($0) }
        } else {
            let length = token.end - token.start
            wanted = names.firstIndex { name in
                name.count == length && text[token.start..<token.end].elementsEqual(name)
            }
        }
    }

    mutating func beginObject(at start: Int) { open(at: start) }
    mutating func beginArray(at start: Int) { open(at: start) }
    mutating func endObject(at end: Int) throws(JSONError) { try close(at: end) }
    mutating func endArray(at end: Int) throws(JSONError) { try close(at: end) }

    mutating func string(_ token: JSONStringToken) throws(JSONError) { try take(token.start - 1..<token.end + 1) }

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

    /// Keeps a wanted value, and ends the scan by throwing once there is nothing more to find.
    private mutating func take(_ range: Range<Int>) throws(JSONError) {
        guard depth == 1, let index = wanted else { return }
        found.append((index, range))
        if found.count == names.count { throw JSONError(.syntax, "found") }
    }
}
