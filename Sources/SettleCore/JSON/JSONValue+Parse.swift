extension JSONValue {
    /// Parses a JSON text in UTF-8.
    ///
    ///     try JSONValue(utf8: Array(#"{"a": 1e3}"#.utf8))["a"]?.number?.text      // "1e3"
    ///
    /// Of duplicate members the last one counts, in its own place.
    ///
    /// - Throws: ``JSONError`` with line, column and byte offset.
    /// - Complexity: O(*n*) in bytes.
    public init(utf8 bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
        var scanner = JSONScanner(bytes, into: JSONBuilder(text: bytes))
        try scanner.scan()
        self = scanner.sink.root
    }

    /// Parses a JSON text in UTF-8; see ``init(utf8:)-(UnsafeBufferPointer<UInt8>)``.
    public init(utf8 bytes: [UInt8]) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { buffer -> Result<JSONValue, JSONError> in
            do throws(JSONError) { return .success(try JSONValue(utf8: buffer)) } catch { return .failure(error) }
        }.get()
    }

    /// Parses a JSON text in UTF-8 with a limited number of values.
    ///
    /// A value takes many times the memory of its text: about 25 times for `[1,1,1]`. Limiting the values limits
    /// the memory.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - limit: The maximum number of values, including those in arrays and objects.
    /// - Throws: ``JSONError`` with line, column and byte offset; with code `tooManyValues` above the limit.
    package init(utf8 bytes: [UInt8], atMost limit: Int) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { text in
            Result { () throws(JSONError) -> JSONValue in
                var scanner = JSONScanner(text, into: JSONBuilder(text: text, limit: limit))
                try scanner.scan()
                return scanner.sink.root
            }
        }.get()
    }

    /// Parses a JSON text.
    ///
    /// - Throws: ``JSONError`` with line, column and byte offset.
    public init(parsing text: String) throws(JSONError) { self = try JSONValue(utf8: Array(text.utf8)) }

    /// Checks that bytes are a JSON text, without building a value.
    ///
    /// - Throws: ``JSONError`` with line, column and byte offset.
    public static func validate(utf8 bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
        var scanner = JSONScanner(bytes, into: ValidatingSink())
        try scanner.scan()
    }
}

/// Builds a value from the scanner's events.
private struct JSONBuilder: JSONSink {
    private struct Frame {
        let isObject: Bool
        var elements: [JSONValue] = []
        var members: [JSONObject.Member] = []
        var name = ""
    }

    let text: UnsafeBufferPointer<UInt8>
    private(set) var root: JSONValue = .null
    private var frames: [Frame] = []
    /// The number of values that may still follow.
    private var left: Int

    init(text: UnsafeBufferPointer<UInt8>, limit: Int = .max) {
        self.text = text
        left = limit
    }

    mutating func beginObject(at start: Int) throws(JSONError) {
        try count(at: start)
        frames.append(Frame(isObject: true))
    }

    mutating func beginArray(at start: Int) throws(JSONError) {
        try count(at: start)
        frames.append(Frame(isObject: false))
    }

    mutating func endObject(at end: Int) { close() }

    mutating func endArray(at end: Int) { close() }

    mutating func key(_ token: JSONStringToken) { frames[frames.count - 1].name = string(of: token) }

    mutating func string(_ token: JSONStringToken) throws(JSONError) {
        try count(at: token.start)
        add(.string(string(of: token)))
    }

    mutating func number(_ token: JSONNumberToken) throws(JSONError) {
        try count(at: token.start)
        let spelling = UnsafeBufferPointer(rebasing: text[token.start..<token.end])
        add(.number(JSONNumber(unchecked: String(decoding: spelling, as: UTF8.self))))
    }

    mutating func literal(_ literal: JSONLiteral, at start: Int) throws(JSONError) {
        try count(at: start)
        switch literal {
        case .null: add(.null)
        case .true: add(.bool(true))
        case .false: add(.bool(false))
        }
    }

    private mutating func count(at offset: Int) throws(JSONError) {
        left -= 1
        guard left >= 0 else { throw JSONError(.tooManyValues, "the text has too many values", at: offset, in: text) }
    }

    private mutating func close() {
        guard let frame = frames.popLast() else { return }
        add(frame.isObject ? .object(JSONObject(lastOfEach: frame.members)) : .array(frame.elements))
    }

    private mutating func add(_ value: JSONValue) {
        guard let top = frames.indices.last else {
            root = value
            return
        }
        if frames[top].isObject {
            let name = frames[top].name
            frames[top].members.append(JSONObject.Member(name: name, value: value))
        } else {
            frames[top].elements.append(value)
        }
    }

    private func string(of token: JSONStringToken) -> String { token.string(in: text) }
}

extension JSONStringToken {
    /// The string without its escapes.
    func string(in text: UnsafeBufferPointer<UInt8>) -> String {
        let raw = UnsafeBufferPointer(rebasing: text[start..<end])
        guard hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: raw.count) { buffer in
            var count = 0
            JSONEscape.decode(raw) {
                buffer[count] = $0
                count += 1
            }
            return count
        }
    }
}
