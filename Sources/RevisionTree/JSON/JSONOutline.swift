/// Where the members of a JSON object stand, and the elements of one of them, without any value being built.
///
///     {"docs": [{"_id":"a"}, {"_id":"b"}], "new_edits": false}
///              └ element ──┘ └ element ─┘               └────┘ member
///
/// It is for large texts of which only a part is looked at, or one part after the other. A text may be nested a little deeper
/// than a document, so that the documents in it may be as deep as one that stands alone.
package struct JSONOutline {
    /// The members' names and the ranges of their values, in order; of one name there may be several.
    package let members: [(name: String, range: Range<Int>)]
    /// The ranges of the elements of the array that was asked for; `nil` when it is no array, or not there.
    package let elements: [Range<Int>]?

    /// Reads an outline; every byte is checked.
    ///
    /// - Parameters:
    ///   - bytes: JSON text in UTF-8.
    ///   - name: The member whose elements are wanted; of several the last.
    /// - Throws: ``JSONError``: text that is not JSON, or `notAnObject`.
    /// - Complexity: O(*n*) in bytes.
    package init(_ bytes: [UInt8], elementsOf name: String) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { text in
            Result { () throws(JSONError) in try JSONOutline(text, elementsOf: name) }
        }.get()
    }

    /// Reads an outline of a text that lies elsewhere; see ``init(_:elementsOf:)-([UInt8],_)``.
    package init(_ text: UnsafeBufferPointer<UInt8>, elementsOf name: String) throws(JSONError) {
        var scanner = JSONScanner(text, into: Sink(text: text, wanted: name), depth: JSONLimits.envelopeDepth)
        try scanner.scan()
        (members, elements) = (scanner.sink.members, scanner.sink.elements)
    }

    /// The range of a member's value, or `nil`; of several of one name the last.
    package subscript(name: String) -> Range<Int>? {
        members.last { $0.name.utf8.elementsEqual(name.utf8) }?.range
    }

    private struct Sink: JSONSink {
        let text: UnsafeBufferPointer<UInt8>
        let wanted: String
        var members: [(name: String, range: Range<Int>)] = []
        var elements: [Range<Int>]?
        private var depth = 0
        private var name = ""
        private var memberStart = 0
        private var elementStart = 0
        private var collects = false

        init(text: UnsafeBufferPointer<UInt8>, wanted: String) {
            self.text = text
            self.wanted = wanted
        }

        mutating func key(_ token: JSONStringToken) {
            if depth == 1 { name = token.string(in: text) }
        }

        mutating func beginObject(at start: Int) { open(at: start) }

        mutating func beginArray(at start: Int) throws(JSONError) {
            if depth == 0 { throw notAnObject(at: start) }
            if depth == 1, name.utf8.elementsEqual(wanted.utf8) { (elements, collects) = ([], true) }
            open(at: start)
        }

        mutating func endObject(at end: Int) { close(at: end) }
        mutating func endArray(at end: Int) { close(at: end) }

        mutating func string(_ token: JSONStringToken) throws(JSONError) {
            try scalar(token.start - 1..<token.end + 1)
        }

        mutating func number(_ token: JSONNumberToken) throws(JSONError) { try scalar(token.start..<token.end) }

        mutating func literal(_ literal: JSONLiteral, at start: Int) throws(JSONError) {
            try scalar(start..<start + (literal == .false ? 5 : 4))
        }

        private mutating func open(at start: Int) {
            if depth == 1 { memberStart = start }
            if depth == 2 { elementStart = start }
            depth += 1
        }

        private mutating func close(at end: Int) {
            depth -= 1
            if depth == 1 { take(memberStart..<end) }
            if depth == 2, collects { elements?.append(elementStart..<end) }
        }

        private mutating func scalar(_ range: Range<Int>) throws(JSONError) {
            switch depth {
            case 0: throw notAnObject(at: range.lowerBound)
            case 1:
                if name.utf8.elementsEqual(wanted.utf8) { elements = nil }
                take(range)
            case 2 where collects: elements?.append(range)
            default: break
            }
        }

        private mutating func take(_ range: Range<Int>) {
            if !collects, name.utf8.elementsEqual(wanted.utf8) { elements = nil }
            collects = false
            members.append((name, range))
        }

        private func notAnObject(at offset: Int) -> JSONError {
            JSONError(.notAnObject, "the text must be a JSON object", at: offset, in: text)
        }
    }
}
