package import SettleCore

/// The encoding of a JSON value as bytes whose order is that of ``Collation``, or raw order.
///
///     null 10   false 20   true 21   number 30 …   string 40 …   array 50 …   object 60 …
///
///     number   sign, the position of its first digit, its digits two by two, an end; all inverted below zero
///     string   its sort key in Unicode's collation, and 00
///     array    the keys of its elements, and 00
///     object   for each member the keys of its name and of its value, and 00
///
/// In raw order (``KeyOrder``) the first bytes differ, and a string is its UTF-8, with 00 and 01 escaped as 01 01
/// and 01 02.
///
///     number 80 …   false 90   null 91   true 92   object A0 …   array A1 …   string B0 …
///
/// No key is a prefix of another one. So bytes after the key, such as a document's id, order values that compare as
/// equal. Values that ``Collation/compare(_:_:)`` treats as equal have the same key.
package enum SortKey {
    /// The key of a value.
    ///
    /// - Complexity: O(*n*) in bytes.
    package static func of(_ value: JSONValue, in order: KeyOrder = .collation) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes, in: order)
        return bytes
    }

    /// Appends the key of a value that is given as JSON text.
    ///
    /// - Parameters:
    ///   - text: The text, which must be valid JSON.
    ///   - bytes: The bytes to append to.
    ///   - order: The order.
    /// - Throws: ``JSONError`` for text that is not JSON.
    package static func append(
        json text: ArraySlice<UInt8>, to bytes: inout [UInt8], in order: KeyOrder = .collation
    ) throws(JSONError) {
        switch text.first ?? 0 {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard let number = JSONNumber(text: String(decoding: text, as: UTF8.self)) else { break }
            return append(.number(number), to: &bytes, in: order)
        case UInt8(ascii: "\"")
        where text.last == UInt8(ascii: "\"") && text.count > 1
            && text.dropFirst().dropLast().allSatisfy {
                $0 >= 0x20 && $0 < 0x80 && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"")
            }:
            return append(.string(String(decoding: text.dropFirst().dropLast(), as: UTF8.self)), to: &bytes, in: order)
        default: break
        }
        append(try JSONValue(utf8: Array(text)), to: &bytes, in: order)
    }

    /// Appends the key of a value.
    package static func append(_ value: JSONValue, to bytes: inout [UInt8], in order: KeyOrder = .collation) {
        bytes.append(order.tag(of: value))
        switch value {
        case .null, .bool: break
        case .number(let number): append(number, to: &bytes)
        case .string(let text):
            switch order {
            case .collation: StringCollator.appendSortKey(of: text, to: &bytes)
            case .raw: StringCollator.appendEscaped(text, to: &bytes)
            }
        case .array(let elements):
            for element in elements { append(element, to: &bytes, in: order) }
            bytes.append(0)
        case .object(let members):
            for member in members {
                append(.string(member.name), to: &bytes, in: order)
                append(member.value, to: &bytes, in: order)
            }
            bytes.append(0)
        }
    }

    /// Appends a number's key. Floats use their shortest decimal representation, which lies between the same
    /// integers as the float. From 2⁵³ on, floats are integers and use all their digits.
    private static func append(_ number: JSONNumber, to bytes: inout [UInt8]) {
        let decimal = JSONDecimal(number.isInteger ? number : exact(number.double))
        guard !decimal.digits.isEmpty else { return bytes.append(0x80) }
        let place = Int32(clamping: decimal.digits.count + decimal.exponent)
        let mask: UInt8 = decimal.isNegative ? 0xFF : 0
        bytes.append(decimal.isNegative ? 0x7F : 0x81)
        let biased = UInt32(bitPattern: place) ^ 0x8000_0000
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: biased >> shift) ^ mask) }
        var index = 0
        while index < decimal.digits.count {
            let second = index + 1 < decimal.digits.count ? decimal.digits[index + 1] : 0
            bytes.append((decimal.digits[index] * 10 + second + 1) ^ mask)
            index += 2
        }
        bytes.append(mask)
    }

    private static func exact(_ value: Double) -> JSONNumber {
        if value.magnitude < 9_007_199_254_740_992 { return JSONNumber(value) ?? JSONNumber(0) }
        if let whole = Int(exactly: value) { return JSONNumber(whole) }
        return NumberOrder.integer(of: value)
    }
}

extension SortKey {
    /// The end of the key at the start of some bytes.
    package static func end(of bytes: ArraySlice<UInt8>) -> Int {
        var place = bytes.startIndex
        skip(bytes, &place)
        return place
    }

    /// The end of the first elements in an array's key; the end of the key if it has no more elements or is not an
    /// array's.
    package static func end(of bytes: ArraySlice<UInt8>, elements count: Int) -> Int {
        guard bytes.first == 0x50 || bytes.first == 0xA1 else { return end(of: bytes) }
        var place = bytes.startIndex + 1
        for _ in 0..<count {
            guard place < bytes.endIndex, bytes[place] != 0 else { return min(place + 1, bytes.endIndex) }
            skip(bytes, &place)
        }
        return place
    }

    private static func skip(_ bytes: ArraySlice<UInt8>, _ place: inout Int) {
        var open = 0
        repeat {
            guard place < bytes.endIndex else { return }
            let kind = bytes[place]
            place += 1
            switch kind {
            case 0: open -= 1
            case 0x30, 0x80: skipNumber(bytes, &place)
            case 0x40, 0xB0:
                place = (bytes[place...].firstIndex(of: 0) ?? bytes.endIndex - 1) + 1
            case 0x50, 0x60, 0xA0, 0xA1: open += 1
            default: break
            }
        } while open > 0
    }

    private static func skipNumber(_ bytes: ArraySlice<UInt8>, _ place: inout Int) {
        guard place < bytes.endIndex, bytes[place] != 0x80 else {
            place = min(place + 1, bytes.endIndex)
            return
        }
        let end: UInt8 = bytes[place] == 0x7F ? 0xFF : 0
        place = min(place + 5, bytes.endIndex)
        place = (bytes[place...].firstIndex(of: end) ?? bytes.endIndex - 1) + 1
    }
}

// MARK: - KeyOrder

/// The order of a view's keys.
package enum KeyOrder: Sendable {
    /// The order of ``Collation``.
    case collation
    /// The order of ``ErlangOrder``, which CouchDB calls raw: strings by their bytes.
    case raw

    /// Compares two keys.
    package func compare(_ left: JSONValue, _ right: JSONValue) -> Collation.Order {
        switch self {
        case .collation: Collation.compare(left, right)
        case .raw: ErlangOrder.compare(left, right)
        }
    }

    /// The first byte of a key. Each order has its own, so that a key identifies its order.
    func tag(of value: JSONValue) -> UInt8 {
        switch (value, self) {
        case (.null, .collation): 0x10
        case (.bool(let flag), .collation): flag ? 0x21 : 0x20
        case (.number, .collation): 0x30
        case (.string, .collation): 0x40
        case (.array, .collation): 0x50
        case (.object, .collation): 0x60
        case (.number, .raw): 0x80
        case (.bool(let flag), .raw): flag ? 0x92 : 0x90
        case (.null, .raw): 0x91
        case (.object, .raw): 0xA0
        case (.array, .raw): 0xA1
        case (.string, .raw): 0xB0
        }
    }
}
