package import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A bookmark in CouchDB's format: a position in an index as an Erlang term, compressed if that is smaller, in URL-safe
/// Base64.
///
///     [{startkey_docid, <<"doc">>}, {startkey, Key}]    →    g1AAAAA2eJzLYWBgYMpgSmHgKy5…
///
/// So a bookmark of one server is valid at another one.
package enum BookmarkText {
    /// The maximum length of a bookmark's term in bytes; keys of an index are seldom longer than a few hundred.
    private static let longest = 1 << 20

    /// The bookmark for a position.
    package static func encode(id: String, key: JSONValue) -> String {
        let place: ErlangTerm = .list([
            .tuple([.atom("startkey_docid"), .binary(id)]), .tuple([.atom("startkey"), .json(key)]),
        ])
        let term = Array(place.bytes.dropFirst())
        var bytes: [UInt8] = [131]
        if let packed = compressed(term), packed.count + 5 <= term.count {
            bytes.append(80)
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: term.count >> shift)) }
            bytes += packed
        } else {
            bytes += term
        }
        return Base64.encodeForURL(bytes)
    }

    /// The position of a bookmark; `nil` for invalid input.
    package static func decode(_ text: String) -> (id: String, key: JSONValue)? {
        guard let bytes = Base64.decodeFromURL(text), bytes.count > 6, bytes[0] == 131 else { return nil }
        var term = bytes[1...]
        if bytes[1] == 80 {
            let count = bytes[2..<6].reduce(0) { $0 << 8 | Int($1) }
            guard count <= longest, let whole = expanded(bytes[6...], count: count) else { return nil }
            term = whole[...]
        }
        var reader = ErlangTermReader(term)
        guard let pairs = try? reader.pairs(), let id = pairs["startkey_docid"]?.string, let key = pairs["startkey"]
        else {
            return nil
        }
        return (id, key)
    }

    /// The number of bytes for which zlib's smallest window and buffers suffice.
    private static let longestOfSmall = 120

    /// Compresses bytes like zlib's `compress`, with as little memory as needed, because most bookmarks are short.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        let isSmall = bytes.count <= longestOfSmall
        let (window, memory): (Int32, Int32) = isSmall ? (9, 1) : (15, 8)
        guard let body = try? Deflate.compress(bytes, .raw, window: window, memory: memory) else { return nil }
        let sum = Deflate.adler32(bytes)
        // The header declares a window of 32 KiB, whatever window was used.
        return [0x78, 0x9C] + body + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
    }

    private static func expanded(_ bytes: ArraySlice<UInt8>, count: Int) -> [UInt8]? {
        guard let whole = try? Deflate.expand(Array(bytes), .zlib, limit: count), whole.count == count else {
            return nil
        }
        return whole
    }
}

// MARK: - ErlangTermReader

/// Reads JSON values from Erlang's external term format, given untrusted bytes.
///
///     131 │ list of {atom, term}      objects are {[{<<"name">>, Value}, …]}
struct ErlangTermReader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    /// The maximum nesting of terms.
    private static let depth = 200

    /// The bytes are not such a term.
    struct Failure: Error {}

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    /// Reads a list of pairs of an atom and a value, with nothing after it.
    mutating func pairs() throws -> [String: JSONValue] {
        var pairs: [String: JSONValue] = [:]
        guard try byte() == 108 else { throw Failure() }
        let count = try number(4)
        guard count < 16 else { throw Failure() }
        for _ in 0..<count {
            guard try byte() == 104, try byte() == 2 else { throw Failure() }
            let name = try atom(try byte())
            pairs[name] = try value(Self.depth)
        }
        guard try byte() == 106, place == bytes.endIndex else { throw Failure() }
        return pairs
    }

    private mutating func byte() throws -> UInt8 {
        guard place < bytes.endIndex else { throw Failure() }
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func some(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - place else { throw Failure() }
        defer { place += count }
        return bytes[place..<place + count]
    }

    private mutating func number(_ width: Int) throws -> Int { try some(width).reduce(0) { $0 << 8 | Int($1) } }

    private mutating func atom(_ tag: UInt8) throws -> String {
        let length: Int
        switch tag {
        case 100, 118: length = try number(2)
        case 115, 119: length = try number(1)
        default: throw Failure()
        }
        return String(decoding: try some(length), as: UTF8.self)
    }

    private mutating func text() throws -> String {
        let length = try number(4)
        guard let text = String(validating: try some(length), as: UTF8.self) else { throw Failure() }
        return text
    }

    private mutating func value(_ depth: Int) throws -> JSONValue {
        guard depth > 0 else { throw Failure() }
        let tag = try byte()
        switch tag {
        case 97: return .number(JSONNumber(try number(1)))
        case 98: return .number(JSONNumber(Int(Int32(truncatingIfNeeded: try number(4)))))
        case 110: return try integer(try number(1))
        case 111: return try integer(try number(4))
        case 70:
            let bits = try some(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let number = JSONNumber(Double(bitPattern: bits)) else { throw Failure() }
            return .number(number)
        case 106: return .array([])
        case 107: return .array(try some(try number(2)).map { .number(JSONNumber(Int($0))) })
        case 108: return .array(try list { try $0.value(depth - 1) })
        case 109: return .string(try text())
        case 104:
            guard try byte() == 1 else { throw Failure() }
            return try object(depth)
        default:
            switch try atom(tag) {
            case "null": return .null
            case "true": return .bool(true)
            case "false": return .bool(false)
            default: throw Failure()
            }
        }
    }

    private mutating func list<Element>(_ element: (inout ErlangTermReader) throws -> Element) throws -> [Element] {
        let count = try number(4)
        // Each element has at least one byte.
        guard count <= bytes.endIndex - place else { throw Failure() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try element(&self)) }
        guard try byte() == 106 else { throw Failure() }
        return elements
    }

    private mutating func object(_ depth: Int) throws -> JSONValue {
        switch try byte() {
        case 106: return .object(JSONObject())
        case 108:
            let members = try list { reader -> (String, JSONValue) in
                guard try reader.byte() == 104, try reader.byte() == 2, try reader.byte() == 109 else {
                    throw Failure()
                }
                let name = try reader.text()
                return (name, try reader.value(depth - 1))
            }
            return .object(JSONObject(members))
        default: throw Failure()
        }
    }

    /// An integer of any size: its sign, and its bytes in little-endian order.
    private mutating func integer(_ length: Int) throws -> JSONValue {
        let isNegative = try byte() != 0
        // No number of a document has more digits.
        guard length <= 4096 else { throw Failure() }
        var digits: [UInt8] = [0]
        for byte in try some(length).reversed() {
            var carry = Int(byte)
            for index in digits.indices {
                carry += Int(digits[index]) * 256
                digits[index] = UInt8(carry % 10)
                carry /= 10
            }
            while carry > 0 {
                digits.append(UInt8(carry % 10))
                carry /= 10
            }
        }
        while digits.count > 1, digits.last == 0 { digits.removeLast() }
        let text = (isNegative ? "-" : "") + digits.reversed().map { String($0) }.joined()
        guard let number = JSONNumber(text: text) else { throw Failure() }
        return .number(number)
    }
}
