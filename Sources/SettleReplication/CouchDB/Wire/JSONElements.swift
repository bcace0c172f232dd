package import RevisionTree

/// Parses a large JSON response as it arrives: hands on the elements of one array one by one, and keeps the rest as the
/// frame.
///
///     {"results":[ {"id":"a"} , {"id":"b"} ],"last_seq":"2-x"}
///                  └─ element ┘ └─ element ┘
///     {"results":[                         ],"last_seq":"2-x"}       the frame
///
/// Memory is bounded by the longest element and the frame. Elements are separated by brackets and quotes alone; the
/// caller that parses an element finds out whether it is valid JSON. A truncated response is detected at the end,
/// because its frame is not valid JSON.
package struct JSONElements {
    /// What was parsed.
    package enum Element {
        /// An element; the bytes are valid during the call only.
        case bytes(UnsafeBufferPointer<UInt8>)
        /// An element that exceeds the limit. The rest of it is skipped.
        case overlong
    }

    /// Why a response can't be parsed.
    package enum Fault: Error {
        /// It is truncated.
        case cutOff
        /// It is not the expected object with an array.
        case malformed
    }

    private enum Place: Equatable {
        case frame
        /// Between elements; whether an element and a comma preceded.
        case between(hasElement: Bool, hasComma: Bool)
        case element
        /// In an element that exceeds the limit.
        case passedOver
    }

    private let key: [UInt8]
    private static let longestFrame = 1 << 20
    /// How many bytes an element may have.
    var longestElement: Int
    private var place = Place.frame
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var frame: [UInt8] = []
    /// The start of an element whose end has not arrived.
    private var carried: [UInt8] = []
    /// Whether the array has begun.
    private(set) var hasBegun = false

    /// Makes a reader of an object's member that is an array of objects.
    package init(of member: String, longestElement: Int) {
        key = Array("\"\(member)\"".utf8)
        self.longestElement = longestElement
    }

    /// Takes the next piece of the response.
    ///
    /// - Parameters:
    ///   - piece: The bytes.
    ///   - body: Called with each element that ends in the piece; returns whether to continue.
    /// - Returns: Whether to continue.
    /// - Throws: ``Fault``, and what `body` throws.
    package mutating func take(_ piece: [UInt8], _ body: (Element) throws -> Bool) throws -> Bool {
        try piece.withUnsafeBufferPointer { try take($0, body) }
    }

    /// The members around the array, once everything has arrived.
    ///
    /// - Throws: ``Fault/cutOff``.
    package func finish() throws -> JSONObject {
        guard place == .frame, let members = try? JSON(utf8: frame).object else { throw Fault.cutOff }
        guard hasBegun else { throw Fault.malformed }
        return members
    }

    private mutating func take(_ text: UnsafeBufferPointer<UInt8>, _ body: (Element) throws -> Bool) throws -> Bool {
        var index = 0
        while index < text.count {
            switch place {
            case .frame: index = try takeFrame(text, from: index)
            case .between: index = try takeBetween(text, from: index)
            case .element, .passedOver:
                let (end, isWhole) = endOfElement(text, from: index)
                let bytes = UnsafeBufferPointer(rebasing: text[index..<end])
                index = end
                guard try takeElement(bytes, isWhole: isWhole, body) else { return false }
            }
        }
        return true
    }

    private mutating func takeFrame(_ text: UnsafeBufferPointer<UInt8>, from start: Int) throws -> Int {
        for index in start..<text.count {
            let byte = text[index]
            guard frame.count < Self.longestFrame else { throw Fault.malformed }
            let isWanted = byte == UInt8(ascii: "[") && depth == 1 && !isInString && !hasBegun && endsWithKey
            frame.append(byte)
            step(byte)
            if isWanted {
                (hasBegun, place) = (true, .between(hasElement: false, hasComma: false))
                return index + 1
            }
        }
        return text.count
    }

    private mutating func takeBetween(_ text: UnsafeBufferPointer<UInt8>, from start: Int) throws -> Int {
        guard case .between(let hasElement, var hasComma) = place else { return start }
        for index in start..<text.count {
            switch text[index] {
            case 0x20, 0x0A, 0x0D, 0x09: continue
            case UInt8(ascii: ",") where hasElement && !hasComma: hasComma = true
            case UInt8(ascii: "{") where hasElement == hasComma:
                (place, carried) = (.element, [])
                return index
            case UInt8(ascii: "]") where !hasComma:
                frame.append(text[index])
                depth -= 1
                place = .frame
                return index + 1
            default: throw Fault.malformed
            }
        }
        place = .between(hasElement: hasElement, hasComma: hasComma)
        return text.count
    }

    private mutating func takeElement(
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
        var depth = self.depth
        defer { self.depth = depth }
        while index < text.count {
            let byte = text[index]
            index &+= 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth &+= 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth &-= 1
                if depth == 2 { return (index, true) }
            default: break
            }
        }
        return (index, false)
    }

    private mutating func step(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }

    /// Whether the frame ends with the name of the wanted member and a colon.
    private var endsWithKey: Bool {
        var rest = frame[...]
        func trim() { while let last = rest.last, [0x20, 0x0A, 0x0D, 0x09].contains(last) { rest.removeLast() } }
        trim()
        guard rest.popLast() == UInt8(ascii: ":") else { return false }
        trim()
        return rest.count > key.count && rest.suffix(key.count).elementsEqual(key)
            && rest[rest.endIndex - key.count - 1] != UInt8(ascii: "\\")
    }
}
