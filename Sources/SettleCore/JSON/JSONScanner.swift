/// Scans the UTF-8 bytes of a JSON text once, validates them, and passes its events to a sink.
///
/// It accepts what CouchDB 3.5 accepts, which is RFC 8259 with these details:
///
/// - a string must be valid UTF-8, and an escaped surrogate must have its other half;
/// - a float beyond the range of a 64-bit one is refused, and one that is too small becomes zero;
/// - integers may be of any size, up to 65,536 digits;
/// - duplicate members are allowed; the sink gets all of them;
/// - values may be nested ``JSONLimits/depth`` deep by default.
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

    /// Scans one value, which may be surrounded only by white space.
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

// MARK: - JSONSink

/// Receives the events of a ``JSONScanner``, in the order of the text.
///
/// Positions are byte offsets into the scanned text. A sink may end the scan by throwing.
protocol JSONSink {
    /// Whether the sink needs nothing more. The scan then ends after the current value, and the rest is not
    /// validated.
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

// MARK: - JSONLiteral

/// The JSON literals.
enum JSONLiteral { case null, `true`, `false` }

// MARK: - JSONStringToken

/// A string in a text, without its quotes.
struct JSONStringToken {
    /// The position of the first byte after the opening quote.
    let start: Int
    /// The position of the closing quote.
    let end: Int
    /// Whether there is a backslash inside.
    let hasEscapes: Bool
}

// MARK: - OpenContainers

/// The arrays and objects that are open during a scan: one bit each.
struct OpenContainers {
    private(set) var depth = 0
    /// The innermost 64 levels, newest in the lowest bit.
    private var near: UInt64 = 0
    /// Full words shifted out of `near`, for texts nested deeper than 64.
    private var far: [UInt64] = []

    /// Whether the innermost container is an object, or `nil` outside of all.
    @inline(__always)
    var innermostIsObject: Bool? { depth == 0 ? nil : near & 1 == 1 }

    /// Enters a container; false if the limit is reached.
    @inline(__always)
    mutating func push(isObject: Bool, limit: Int) -> Bool {
        guard depth < limit else { return false }
        if depth > 0, depth % 64 == 0 { far.append(near) }
        near = near << 1 | (isObject ? 1 : 0)
        depth &+= 1
        return true
    }

    /// Leaves the innermost container.
    @inline(__always)
    mutating func pop() {
        depth &-= 1
        near >>= 1
        if depth > 0, depth % 64 == 0, let word = far.popLast() { near = word }
    }
}

// MARK: - ValidatingSink

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
