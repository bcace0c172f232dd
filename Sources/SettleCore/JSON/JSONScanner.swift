/// Scans the UTF-8 bytes of a JSON text once, validates them, and passes its events to a sink.
///
/// It accepts what CouchDB 3.5 accepts, which is RFC 8259 with these details:
///
/// - a string must be valid UTF-8, and an escaped surrogate must have its other half;
/// - a float beyond the range of a 64-bit one is refused, one too small for it becomes zero;
/// - integers may be of any size, up to 65,536 digits;
/// - duplicate members are allowed; the sink gets them all;
/// - values may be nested ``JSONLimits/depth`` deep, unless another limit is given.
///
/// Memory does not grow with the text, and there is no recursion: each open level takes one bit.
struct JSONScanner<Sink: JSONSink> {
    let text: UnsafeBufferPointer<UInt8>
    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let depth: Int
    private(set) var offset = 0
    private var open = OpenContainers()
    var sink: Sink

    /// Creates a scanner of a text that outlives it.
    init(_ text: UnsafeBufferPointer<UInt8>, into sink: Sink, depth: Int = JSONLimits.depth) {
        self.depth = depth
        self.text = text
        base = text.baseAddress ?? StaticString("").utf8Start
        count = text.count
        self.sink = sink
    }

    /// Scans one value surrounded by nothing but white space.
    mutating func scan() throws(JSONError) {
        value: while true {
            skipSpace()
            switch peek() {
            case UInt8(ascii: "{"):
                try beginContainer(isObject: true)
                if try !ended(with: UInt8(ascii: "}")) {
                    try scanKey()
                    continue value
                }
            case UInt8(ascii: "["):
                try beginContainer(isObject: false)
                if try !ended(with: UInt8(ascii: "]")) { continue value }
            case UInt8(ascii: "\""):
                try sink.string(scanString())
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try sink.number(scanNumber())
            case UInt8(ascii: "t"): try scanLiteral("true", .true)
            case UInt8(ascii: "f"): try scanLiteral("false", .false)
            case UInt8(ascii: "n"): try scanLiteral("null", .null)
            default: throw unexpected("expected a value")
            }
            // A value has ended: continue in the enclosing container, or finish.
            while true {
                if sink.isDone { return }
                skipSpace()
                guard let isObject = open.innermostIsObject else {
                    if offset < count { throw unexpected("expected nothing more") }
                    return
                }
                if peek() == UInt8(ascii: ",") {
                    offset &+= 1
                    if isObject {
                        skipSpace()
                        try scanKey()
                    }
                    continue value
                }
                guard try ended(with: isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw unexpected(isObject ? "expected a comma or }" : "expected a comma or ]")
                }
            }
        }
    }

    private mutating func beginContainer(isObject: Bool) throws(JSONError) {
        guard open.push(isObject: isObject, limit: depth) else {
            throw error(.tooDeep, "more than \(depth) levels of arrays and objects")
        }
        if isObject { try sink.beginObject(at: offset) } else { try sink.beginArray(at: offset) }
        offset &+= 1
    }

    /// Closes the innermost container if its end is here.
    private mutating func ended(with closing: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        guard peek() == closing else { return false }
        offset &+= 1
        open.pop()
        if closing == UInt8(ascii: "}") { try sink.endObject(at: offset) } else { try sink.endArray(at: offset) }
        return true
    }

    private mutating func scanKey() throws(JSONError) {
        guard peek() == UInt8(ascii: "\"") else { throw unexpected("expected a member's name in quotes") }
        try sink.key(scanString())
        skipSpace()
        guard peek() == UInt8(ascii: ":") else { throw unexpected("expected a colon") }
        offset &+= 1
    }

    private mutating func scanLiteral(_ word: StaticString, _ literal: JSONLiteral) throws(JSONError) {
        let start = offset
        for index in 0..<word.utf8CodeUnitCount {
            guard peek() == word.utf8Start[index] else { throw unexpected("expected \(word)") }
            offset &+= 1
        }
        try sink.literal(literal, at: start)
    }

    @inline(__always)
    private func peek() -> UInt8 { offset < count ? base[offset] : 0 }

    @inline(__always)
    private mutating func skipSpace() {
        while offset < count {
            switch base[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset &+= 1
            default: return
            }
        }
    }

    private func unexpected(_ expected: String) -> JSONError {
        if offset >= count { return error(.unexpectedEnd, "\(expected), but the text ends") }
        return error(.syntax, expected)
    }

    private func error(_ code: JSONError.Code, _ message: String) -> JSONError {
        JSONError(code, message, at: offset, in: text)
    }

    @inline(__always)
    private mutating func scanString() throws(JSONError) -> JSONStringToken {
        var strings = JSONStringScanner(base: base, count: count, offset: offset &+ 1)
        if let failure = strings.scan() { throw JSONError(failure.code, failure.message, at: strings.offset, in: text) }
        let token = JSONStringToken(start: offset &+ 1, end: strings.offset, hasEscapes: strings.hasEscapes)
        offset = strings.offset &+ 1
        return token
    }

    @inline(__always)
    private mutating func scanNumber() throws(JSONError) -> JSONNumberToken {
        var numbers = JSONNumberScanner(base: base, count: count, offset: offset)
        guard let token = numbers.scan() else {
            offset = numbers.offset
            throw unexpected("expected a digit")
        }
        if numbers.mayBeOutOfRange(token), JSONNumberConversion.isOutOfRange(token, in: text) {
            throw error(.numberOutOfRange, "the number is too large")
        }
        offset = token.end
        return token
    }
}
