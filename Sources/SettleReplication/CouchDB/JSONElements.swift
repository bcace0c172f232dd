package import SettleCore
internal import SettleDatabase

/// Parses a large JSON response as it arrives: passes on the elements of one array one by one, and keeps the rest
/// as the frame.
///
///     {"results":[ {"id":"a"} , {"id":"b"} ],"last_seq":"2-x"}
///                  └─ element ┘ └─ element ┘
///     {"results":[                         ],"last_seq":"2-x"}       the frame
///
/// Memory is bounded by the longest element and the frame. Only brackets and quotes decide where an element ends;
/// the caller that parses an element finds out whether it is valid JSON. A truncated response is detected at the
/// end, because its frame is not valid JSON.
package struct JSONElements {
    /// A parsed element.
    package enum Element {
        /// An element. The bytes are valid only during the call.
        case bytes(UnsafeBufferPointer<UInt8>)
        /// An element that exceeds the limit. The rest of it is skipped.
        case overlong
    }

    /// The reason why a response can't be parsed.
    package enum Fault: Error {
        /// It is truncated.
        case cutOff
        /// It is not the expected object with an array.
        case malformed
    }

    private enum Place: Equatable {
        case frame
        /// Between elements; tells whether an element and a comma came before.
        case between(hasElement: Bool, hasComma: Bool)
        case element
        /// Inside an element that exceeds the limit.
        case passedOver
    }

    private let key: [UInt8]
    private static let longestFrame = 1 << 20
    /// The maximum size of an element in bytes.
    var longestElement: Int
    private var place = Place.frame
    private var structure = JSONStructure()
    private var frame: [UInt8] = []
    /// The beginning of an element whose end has not arrived.
    private var carried: [UInt8] = []
    /// Whether the array has begun.
    private(set) var hasBegun = false

    /// Creates a parser for an object's member that is an array of objects.
    package init(of member: String, longestElement: Int) {
        key = Array("\"\(member)\"".utf8)
        self.longestElement = longestElement
    }

    /// Parses the next piece of the response.
    ///
    /// - Parameters:
    ///   - piece: The bytes.
    ///   - body: Called with each element that ends in the piece; returns whether to continue.
    /// - Returns: Whether to continue.
    /// - Throws: ``Fault``, and errors of `body`.
    package mutating func parse(_ piece: [UInt8], _ body: (Element) throws -> Bool) throws -> Bool {
        try piece.withUnsafeBufferPointer { try parse($0, body) }
    }

    /// The members around the array, after everything has arrived.
    ///
    /// - Throws: ``Fault/cutOff``.
    package func finish() throws -> JSONObject {
        guard place == .frame, let members = try? JSONValue(utf8: frame).object else { throw Fault.cutOff }
        guard hasBegun else { throw Fault.malformed }
        return members
    }

    private mutating func parse(_ text: UnsafeBufferPointer<UInt8>, _ body: (Element) throws -> Bool) throws -> Bool {
        var index = 0
        while index < text.count {
            switch place {
            case .frame: index = try parseFrame(text, from: index)
            case .between: index = try parseBetween(text, from: index)
            case .element, .passedOver:
                let (end, isWhole) = endOfElement(text, from: index)
                let bytes = UnsafeBufferPointer(rebasing: text[index..<end])
                index = end
                guard try parseElement(bytes, isWhole: isWhole, body) else { return false }
            }
        }
        return true
    }

    private mutating func parseFrame(_ text: UnsafeBufferPointer<UInt8>, from start: Int) throws -> Int {
        var index = start
        while index < text.count {
            let first = index
            let mark = structure.next(in: text, from: &index)
            guard frame.count + index - first <= Self.longestFrame else { throw Fault.malformed }
            let isWanted =
                mark == UInt8(ascii: "[") && structure.depth == 2 && !hasBegun && endsWithKey(text[first..<index - 1])
            frame += text[first..<index]
            if isWanted {
                (hasBegun, place) = (true, .between(hasElement: false, hasComma: false))
                return index
            }
        }
        return index
    }

    private mutating func parseBetween(_ text: UnsafeBufferPointer<UInt8>, from start: Int) throws -> Int {
        guard case .between(let hasElement, var hasComma) = place else { return start }
        for index in start..<text.count {
            switch text[index] {
            case 0x20, 0x0A, 0x0D, 0x09: continue
            case UInt8(ascii: ",") where hasElement && !hasComma: hasComma = true
            case UInt8(ascii: "{") where hasElement == hasComma:
                (place, carried) = (.element, [])
                return index
            case UInt8(ascii: "]") where !hasComma:
                place = .frame
                return index
            default: throw Fault.malformed
            }
        }
        place = .between(hasElement: hasElement, hasComma: hasComma)
        return text.count
    }

    private mutating func parseElement(
        _ bytes: UnsafeBufferPointer<UInt8>, isWhole: Bool, _ body: (Element) throws -> Bool
    ) throws -> Bool {
        if place == .passedOver {
            if isWhole { place = .between(hasElement: true, hasComma: false) }
            return true
        }
        guard carried.count + bytes.count <= longestElement else {
            (carried, place) = ([], isWhole ? .between(hasElement: true, hasComma: false) : .passedOver)
            return try body(.overlong)
        }
        guard isWhole else {
            carried += bytes
            return true
        }
        place = .between(hasElement: true, hasComma: false)
        if carried.isEmpty { return try body(.bytes(bytes)) }
        carried += bytes
        defer { carried = [] }
        return try carried.withUnsafeBufferPointer { try body(.bytes($0)) }
    }

    /// The end of the current element, as far as it has arrived.
    private mutating func endOfElement(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> (end: Int, isWhole: Bool) {
        var index = start
        while let mark = structure.next(in: text, from: &index) {
            if structure.depth == 2, mark == UInt8(ascii: "}") || mark == UInt8(ascii: "]") { return (index, true) }
        }
        return (index, false)
    }

    /// Whether the frame, together with the bytes after it, ends with the member's name and a colon.
    private func endsWithKey(_ more: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = (frame + more)[...]
        func trim() { while let last = rest.last, [0x20, 0x0A, 0x0D, 0x09].contains(last) { rest.removeLast() } }
        trim()
        guard rest.popLast() == UInt8(ascii: ":") else { return false }
        trim()
        return rest.count > key.count && rest.suffix(key.count).elementsEqual(key)
            && rest[rest.endIndex - key.count - 1] != UInt8(ascii: "\\")
    }
}

// MARK: - Wire

extension UnsafeBufferPointer<UInt8> {
    /// Decodes the JSON string in a range; `nil` for another kind of value.
    func string(in range: Range<Int>) -> String? {
        let bytes = UnsafeBufferPointer(rebasing: self[range])
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\"") else { return nil }
        guard bytes.contains(UInt8(ascii: "\\")) else {
            return String(decoding: UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1]), as: UTF8.self)
        }
        return (try? JSONValue(utf8: bytes))?.string
    }

    /// Parses the JSON value in a range.
    func json(in range: Range<Int>) throws(JSONError) -> JSONValue {
        try JSONValue(utf8: UnsafeBufferPointer(rebasing: self[range]))
    }
}

// MARK: - WireFault

/// The reason why a row of a response violates the protocol.
struct WireFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
