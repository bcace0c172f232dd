internal import SettleCore
internal import SettlePlatform

/// A term of Erlang as CouchDB stores it, read without recursion: a tree takes two levels for each generation.
///
///     131 term        131 80 size (4) zlib of the term        1 snappy of one of these
package struct StoredTerm {
    /// The kinds of terms, as far as CouchDB writes them.
    package enum Kind: Sendable { case atom, integer, bigInteger, float, binary, byteList, list, tuple, map }

    fileprivate struct Token {
        let kind: Kind
        /// Where the term begins in the bytes.
        let start: Int
        /// Where its text, number or elements begin.
        let content: Int
        /// The number of its bytes or elements.
        var count: Int
        /// The index after the last token of its elements.
        var next = 0
    }

    /// The tokens of a whole term, in the order of the bytes.
    fileprivate final class Tape {
        let bytes: [UInt8]
        let tokens: [Token]

        init(_ bytes: [UInt8], _ tokens: [Token]) { (self.bytes, self.tokens) = (bytes, tokens) }
    }

    private let tape: Tape
    private let index: Int

    /// The maximum number of values of a term.
    private static let maximumCount = 4_000_000

    private init(_ tape: Tape, _ index: Int) { (self.tape, self.index) = (tape, index) }

    /// Reads a term; `nil` if the bytes are not one.
    package init?(_ stored: [UInt8]) {
        guard let bytes = Self.expand(stored), let tokens = Self.tokens(bytes) else { return nil }
        self.init(Tape(bytes, tokens), 0)
    }

    /// The bytes of a term without compression, with the version at their beginning; `nil` if they are malformed.
    package static func expand(_ stored: [UInt8]) -> [UInt8]? {
        switch (stored.first, stored.dropFirst().first) {
        case (1, _):
            let inner = stored.withUnsafeBytes { bytes in
                Snappy.expand(UnsafeRawBufferPointer(rebasing: bytes[1...]), limit: ForeignFile.maximumRecord)
            }
            return inner.flatMap { $0.first == 1 ? nil : expand($0) }
        case (131, 80):
            let size = stored.withUnsafeBytes { FixedNumber.big($0, 2, as: UInt32.self) }
            guard let size, size <= ForeignFile.maximumRecord,
                let term = try? Deflate.expand(Array(stored[6...]), .zlib, limit: Int(size)), term.count == Int(size)
            else { return nil }
            return [131] + term
        case (131, _): return stored
        default: return nil
        }
    }

    private static func tokens(_ bytes: [UInt8]) -> [Token]? {
        bytes.withUnsafeBytes { bytes -> [Token]? in
            var tokens: [Token] = []
            // Tokens whose elements are being read, and how many are left.
            var open: [(token: Int, left: Int)] = []
            var position = 1
            repeat {
                guard tokens.count < maximumCount, let token = head(bytes, &position) else { return nil }
                var elements = 0
                switch token.kind {
                case .tuple: elements = token.count
                case .map: elements = 2 * token.count
                // After the elements of a list its end follows, which is an empty list.
                case .list: elements = token.count == 0 ? 0 : token.count + 1
                default: break
                }
                tokens.append(token)
                open.append((tokens.count - 1, elements))
                while let last = open.last, last.left == 0 {
                    open.removeLast()
                    let ended = tokens[last.token]
                    tokens[last.token].next = tokens.count
                    if ended.kind == .list, ended.count > 0 {
                        guard let end = tokens.last, end.kind == .list, end.count == 0 else { return nil }
                    }
                    if open.isEmpty { return position == bytes.count ? tokens : nil }
                    open[open.count - 1].left -= 1
                }
            } while true
        }
    }

    /// Reads a term without its elements.
    private static func head(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Token? {
        let start = position
        guard position < bytes.count else { return nil }
        let tag = bytes[position]
        position += 1
        func number(_ size: Int) -> Int? {
            guard size <= bytes.count - position else { return nil }
            defer { position += size }
            return bytes[position..<position + size].reduce(0) { $0 << 8 | Int($1) }
        }
        func text(_ kind: Kind, _ size: Int?, extra: Int = 0) -> Token? {
            guard let size, size <= bytes.count - position - extra else { return nil }
            defer { position += size + extra }
            return Token(kind: kind, start: start, content: position, count: size)
        }
        func group(_ kind: Kind, _ count: Int?) -> Token? {
            // Each element has at least one byte.
            count.flatMap {
                $0 <= bytes.count - position ? Token(kind: kind, start: start, content: position, count: $0) : nil
            }
        }
        switch tag {
        case 70: return text(.float, 8)
        case 99: return text(.float, 31)
        case 97: return text(.integer, 1)
        case 98: return text(.integer, 4)
        case 100, 118: return text(.atom, number(2))
        case 115, 119: return text(.atom, number(1))
        case 104: return group(.tuple, number(1))
        case 105: return group(.tuple, number(4))
        case 106: return Token(kind: .list, start: start, content: position, count: 0)
        case 107: return text(.byteList, number(2))
        case 108: return group(.list, number(4))
        case 109: return text(.binary, number(4))
        // A byte for the sign precedes the digits.
        case 110: return text(.bigInteger, number(1), extra: 1)
        case 111: return text(.bigInteger, number(4), extra: 1)
        case 116: return group(.map, number(4))
        default: return nil
        }
    }

    // MARK: - Values

    private var token: Token { tape.tokens[index] }

    /// The kind of term.
    package var kind: Kind { token.kind }

    /// The bytes of the term and of all terms around it.
    package var text: [UInt8] { tape.bytes }

    /// Where the term begins in ``text``.
    package var start: Int { token.start }

    /// An atom.
    package var atom: String? {
        kind == .atom ? String(decoding: tape.bytes[token.content..<token.content + token.count], as: UTF8.self) : nil
    }

    /// A binary.
    package var binary: ArraySlice<UInt8>? {
        kind == .binary ? tape.bytes[token.content..<token.content + token.count] : nil
    }

    /// An integer of up to 63 bits.
    package var integer: Int? {
        let bytes = tape.bytes
        switch kind {
        case .integer:
            let value = bytes[token.content..<token.content + token.count].reduce(0) { $0 << 8 | UInt32($1) }
            return token.count == 1 ? Int(value) : Int(Int32(bitPattern: value))
        case .bigInteger:
            guard token.count <= 8 else { return nil }
            let digits = bytes[token.content + 1..<token.content + 1 + token.count]
            let magnitude = digits.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int(exactly: magnitude).map { bytes[token.content] == 0 ? $0 : -$0 }
        default: return nil
        }
    }

    /// The elements of a tuple.
    package var tuple: [StoredTerm]? { kind == .tuple ? elements(token.count) : nil }

    /// The elements of a list; of a list of bytes, which are its integers, too.
    package var list: [StoredTerm]? { kind == .list ? elements(token.count) : nil }

    private func elements(_ count: Int) -> [StoredTerm] {
        var elements: [StoredTerm] = []
        elements.reserveCapacity(count)
        var next = index + 1
        for _ in 0..<count {
            elements.append(StoredTerm(tape, next))
            next = tape.tokens[next].next
        }
        return elements
    }

    /// The integers of a list; `nil` if it has other elements.
    package var integers: [Int]? {
        if kind == .byteList { return tape.bytes[token.content..<token.content + token.count].map { Int($0) } }
        guard let list else { return nil }
        let integers = list.compactMap(\.integer)
        return integers.count == list.count ? integers : nil
    }
}

// MARK: - TermJSON

/// Prints terms in CouchDB's representation of JSON: `{[{<<"a">>, 1}]}` is `{"a":1}`.
package enum TermJSON {
    /// The JSON text of the term that begins at a place; `nil` if it is not one of JSON, or its text is too long.
    package static func text(_ bytes: [UInt8], at start: Int = 1) -> [UInt8]? {
        var printer = Printer(bytes: bytes, position: start)
        return printer.run() ? printer.output : nil
    }

    /// More digits than an integer of JSON may have.
    private static let maximumDigits = 27_300

    private struct Printer {
        let bytes: [UInt8]
        var position: Int
        var output: [UInt8] = []
        /// The open objects and lists, with the number of elements that are left.
        private var open: [(isObject: Bool, left: Int)] = []

        init(bytes: [UInt8], position: Int) { (self.bytes, self.position) = (bytes, position) }

        mutating func run() -> Bool {
            while output.count <= ForeignFile.maximumRecord {
                guard value() else { return false }
                // After a value: the next one, or the end of what is open.
                while let last = open.last, last.left == 0 {
                    guard byte() == 106 else { return false }
                    output.append(UInt8(ascii: last.isObject ? "}" : "]"))
                    open.removeLast()
                }
                guard let last = open.last else { return true }
                let begins = output.last == UInt8(ascii: last.isObject ? "{" : "[") && isFresh
                isFresh = false
                if !begins { output.append(UInt8(ascii: ",")) }
                open[open.count - 1].left -= 1
                if last.isObject {
                    guard byte() == 104, byte() == 2, byte() == 109, let name = text(number(4)) else { return false }
                    append(name)
                    output.append(UInt8(ascii: ":"))
                }
            }
            return false
        }

        /// Whether the last byte of the output opened an object or a list.
        private var isFresh = false

        private mutating func byte() -> UInt8? {
            guard position < bytes.count else { return nil }
            defer { position += 1 }
            return bytes[position]
        }

        private mutating func number(_ size: Int) -> Int? {
            guard size <= bytes.count - position else { return nil }
            defer { position += size }
            return bytes[position..<position + size].reduce(0) { $0 << 8 | Int($1) }
        }

        private mutating func text(_ size: Int?) -> ArraySlice<UInt8>? {
            guard let size, size <= bytes.count - position else { return nil }
            defer { position += size }
            return bytes[position..<position + size]
        }

        private mutating func group(isObject: Bool) -> Bool {
            guard let count = number(4), count <= bytes.count - position else { return false }
            output.append(UInt8(ascii: isObject ? "{" : "["))
            open.append((isObject, count))
            isFresh = true
            return true
        }

        /// Prints a value, or the beginning of an object or a list.
        private mutating func value() -> Bool {
            guard let tag = byte() else { return false }
            isFresh = false
            switch tag {
            case 104:
                guard byte() == 1, let next = byte() else { return false }
                if next == 108 { return group(isObject: true) }
                output += "{}".utf8
                return next == 106
            case 108: return group(isObject: false)
            case 106: output += "[]".utf8
            case 107:
                guard let text = text(number(2)) else { return false }
                output += "[\(text.map { String($0) }.joined(separator: ","))]".utf8
            case 109:
                guard let text = text(number(4)) else { return false }
                append(text)
            case 97, 98:
                guard let number = number(tag == 97 ? 1 : 4) else { return false }
                output += String(tag == 97 ? number : Int(Int32(truncatingIfNeeded: number))).utf8
            case 110, 111: return bigInteger(number(tag == 110 ? 1 : 4))
            case 70:
                guard let text = text(8) else { return false }
                let bits = text.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                return append(JSONNumber(Double(bitPattern: bits)))
            case 99:
                guard let text = text(31) else { return false }
                let digits = text.prefix { $0 != 0 }.filter { $0 != UInt8(ascii: " ") }
                return append(Double(String(decoding: digits, as: UTF8.self)).flatMap { JSONNumber($0) })
            case 100, 115, 118, 119:
                guard let text = text(number(tag == 100 || tag == 118 ? 2 : 1)),
                    ["true", "false", "null"].contains(where: { text.elementsEqual($0.utf8) })
                else { return false }
                output += text
            default: return false
            }
            return true
        }

        private mutating func append(_ number: JSONNumber?) -> Bool {
            guard let number else { return false }
            output += number.text.utf8
            return true
        }

        private mutating func append(_ text: ArraySlice<UInt8>) {
            output.append(UInt8(ascii: "\""))
            for byte in text {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
                case ..<0x20: output += "\\u00\(Hexadecimal.encode([byte]))".utf8
                default: output.append(byte)
                }
            }
            output.append(UInt8(ascii: "\""))
        }

        /// Prints an integer whose digits to the base 256 follow, the lowest first.
        private mutating func bigInteger(_ count: Int?) -> Bool {
            guard let count, count <= maximumDigits, let sign = byte(), let digits = text(count) else { return false }
            // To the base of ten to the ninth, the lowest first.
            var parts: [UInt64] = []
            for digit in digits.reversed() {
                var carry = UInt64(digit)
                for index in parts.indices {
                    carry += parts[index] << 8
                    parts[index] = carry % 1_000_000_000
                    carry /= 1_000_000_000
                }
                if carry > 0 { parts.append(carry) }
            }
            var spelling = parts.last.map { String($0) } ?? "0"
            for part in parts.dropLast().reversed() {
                let text = String(part)
                spelling += String(repeating: "0", count: 9 - text.utf8.count) + text
            }
            output += ((sign == 0 || parts.isEmpty ? "" : "-") + spelling).utf8
            return true
        }
    }
}
