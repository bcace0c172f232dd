/// The positions of the members in a JSON object, and of the elements of one member, without building any value.
///
///     {"docs": [{"_id":"a"}, {"_id":"b"}], "new_edits": false}
///              └ element ──┘ └ element ─┘               └────┘ member
///
/// It is for large texts of which only a part is used, or one part after the other. A text may be nested a little
/// deeper than a document, so that the documents inside it may be as deep as separate ones.
package struct JSONOutline {
    /// The members' names and the ranges of their values, in order. A name may occur several times.
    package let members: [(name: String, range: Range<Int>)]
    /// The ranges of the requested array's elements; `nil` if it is not an array, or missing.
    package let elements: [Range<Int>]?

    /// Reads an outline; every byte is checked.
    ///
    /// - Parameters:
    ///   - bytes: JSON text in UTF-8.
    ///   - name: The member whose elements are needed; `nil` for none. If it occurs several times, the last one
    ///     counts.
    ///   - limit: The maximum number of elements of that member, and of members of the object.
    /// - Throws: ``JSONError``: text that is not JSON, `notAnObject`, or `tooManyValues` above the limit, at which reading ends.
    /// - Complexity: O(*n*) in bytes.
    package init(_ bytes: [UInt8], elementsOf name: String? = nil, atMost limit: Int = .max) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { text in
            Result { () throws(JSONError) in try JSONOutline(text, elementsOf: name, atMost: limit) }
        }.get()
    }

    /// Reads an outline of a text in a buffer; see ``init(_:elementsOf:atMost:)-([UInt8],_,_)``.
    package init(
        _ text: UnsafeBufferPointer<UInt8>, elementsOf name: String? = nil, atMost limit: Int = .max
    ) throws(JSONError) {
        var scanner = JSONScanner(
            text, into: Sink(text: text, elementsOf: name, atMost: limit), depth: JSONLimits.envelopeDepth)
        try scanner.scan()
        (members, elements) = (scanner.sink.members, scanner.sink.elements)
    }

    /// The range of a member's value; `nil` if it is missing. If it occurs several times, the last one counts.
    package subscript(name: String) -> Range<Int>? {
        members.last { $0.name.utf8.elementsEqual(name.utf8) }?.range
    }

    /// Records the beginnings and ends of values.
    struct Sink: JSONSink {
        private let text: UnsafeBufferPointer<UInt8>
        /// The member whose elements are recorded.
        private let wanted: [UInt8]?
        /// The members that are recorded; `nil` for all.
        private let names: [(bytes: [UInt8], text: String)]?
        private(set) var members: [(name: String, range: Range<Int>)] = []
        private(set) var elements: [Range<Int>]?
        private var depth = 0
        /// The name of the current member; `nil` if it is not recorded.
        private var name: String?
        private var isWanted = false
        private var memberStart = 0
        private var elementStart = 0
        private var collects = false
        private let limit: Int

        init(
            text: UnsafeBufferPointer<UInt8>, elementsOf wanted: String? = nil, names: [String]? = nil,
            atMost limit: Int = .max
        ) {
            self.text = text
            self.limit = limit
            self.wanted = wanted.map { Array($0.utf8) }
            self.names = names?.map { (Array($0.utf8), $0) }
        }

        /// Whether all names were found; a body contains each name once.
        var isDone: Bool { names.map { members.count == $0.count } ?? false }

        mutating func key(_ token: JSONStringToken) {
            guard depth == 1 else { return }
            isWanted = wanted.map { token.isString($0, in: text) } ?? false
            name =
                names.map { names in names.first { token.isString($0.bytes, in: text) }?.text }
                ?? token.string(in: text)
        }

        mutating func beginObject(at start: Int) { open(at: start) }

        mutating func beginArray(at start: Int) throws(JSONError) {
            if depth == 0 { throw notAnObject(at: start) }
            if depth == 1, isWanted { (elements, collects) = ([], true) }
            open(at: start)
        }

        mutating func endObject(at end: Int) throws(JSONError) { try close(at: end) }
        mutating func endArray(at end: Int) throws(JSONError) { try close(at: end) }

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

        private mutating func close(at end: Int) throws(JSONError) {
            depth -= 1
            if depth == 1 { try addMember(memberStart..<end) }
            if depth == 2, collects { try addElement(elementStart..<end) }
        }

        private mutating func scalar(_ range: Range<Int>) throws(JSONError) {
            switch depth {
            case 0: throw notAnObject(at: range.lowerBound)
            case 1: try addMember(range)
            case 2 where collects: try addElement(range)
            default: break
            }
        }

        private mutating func addElement(_ range: Range<Int>) throws(JSONError) {
            elements?.append(range)
            try check(elements?.count ?? 0, at: range.lowerBound)
        }

        private mutating func addMember(_ range: Range<Int>) throws(JSONError) {
            if !collects, isWanted { elements = nil }
            collects = false
            guard let name else { return }
            members.append((name, range))
            try check(members.count, at: range.lowerBound)
        }

        private func check(_ count: Int, at offset: Int) throws(JSONError) {
            guard count > limit else { return }
            throw JSONError(.tooManyValues, "there are more than \(limit) elements", at: offset, in: text)
        }

        private func notAnObject(at offset: Int) -> JSONError {
            JSONError(.notAnObject, "the text must be a JSON object", at: offset, in: text)
        }
    }
}

extension JSONStringToken {
    /// Whether the string equals these bytes.
    fileprivate func isString(_ bytes: [UInt8], in text: UnsafeBufferPointer<UInt8>) -> Bool {
        if hasEscapes { return string(in: text).utf8.elementsEqual(bytes) }
        return end - start == bytes.count && text[start..<end].elementsEqual(bytes)
    }
}

extension DocumentBody {
    /// Some top-level members in the order of the text, found without building the other ones.
    ///
    /// - Complexity: O(*n*) in bytes up to the last of them.
    package func members(named names: [String]) -> JSONObject {
        utf8.withUnsafeBufferPointer { text in
            var scanner = JSONScanner(text, into: JSONOutline.Sink(text: text, names: names))
            try? scanner.scan()
            return JSONObject(
                scanner.sink.members.compactMap { name, range in
                    (try? JSONValue(utf8: UnsafeBufferPointer(rebasing: text[range]))).map { (name, $0) }
                })
        }
    }
}
