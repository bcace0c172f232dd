/// Percent escapes of URLs.
package enum PercentCoding {
    /// The bytes that are not escaped, in addition to letters and digits.
    package enum Alphabet {
        /// `-._~`, the unreserved ones of RFC 3986, section 2.3.
        case unreserved
        /// `-._:`, as CouchDB writes its URLs.
        case couchDB
    }

    /// Escapes all bytes except for letters, digits and those of an alphabet. So neither the slash in a document id
    /// nor a plus, which CouchDB reads as a blank, is misread.
    package static func encode(_ text: some StringProtocol, keeping alphabet: Alphabet = .unreserved) -> String {
        encode(text) { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            case UInt8(ascii: "~"): alphabet == .unreserved
            case UInt8(ascii: ":"): alphabet == .couchDB
            default: false
            }
        }
    }

    /// Adds missing escapes to text that has escapes already: for bytes beyond ASCII, and for bytes that are never
    /// allowed in a URL.
    package static func completing(_ text: String) -> String {
        encode(text) { byte in byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}".utf8.contains(byte) }
    }

    /// Decodes the escapes of text. A `%` that begins no escape stays; bytes that are not UTF-8 are repaired.
    ///
    /// - Parameters:
    ///   - text: The text with escapes.
    ///   - plusIsBlank: Whether a plus means a blank, as CouchDB reads queries and paths; `false` by default.
    /// - Returns: The decoded text.
    package static func decode(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String {
        let text = String(text)
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return text }
        return String(decoding: bytes(text, plusIsBlank: plusIsBlank), as: UTF8.self)
    }

    /// Whether the decoded text is UTF-8.
    package static func isUTF8(_ text: some StringProtocol) -> Bool {
        !text.utf8.contains(UInt8(ascii: "%"))
            || String(validating: bytes(text, plusIsBlank: false), as: UTF8.self) != nil
    }

    /// Whether each `%` begins an escape.
    package static func isValid(_ text: some StringProtocol) -> Bool {
        let utf8 = Array(text.utf8)
        return utf8.indices.allSatisfy { utf8[$0] != UInt8(ascii: "%") || escape(in: utf8, at: $0) != nil }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func encode(_ text: some StringProtocol, where stays: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if stays(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func bytes(_ text: some StringProtocol, plusIsBlank: Bool) -> [UInt8] {
        let utf8 = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var index = 0
        while index < utf8.count {
            if let byte = escape(in: utf8, at: index) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(plusIsBlank && utf8[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : utf8[index])
                index += 1
            }
        }
        return bytes
    }

    private static func escape(in bytes: [UInt8], at index: Int) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
            let high = Hexadecimal.value(of: bytes[index + 1]), let low = Hexadecimal.value(of: bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }
}

// MARK: - URLRedaction

/// Removes credentials from URLs before text is logged or shown.
package enum URLRedaction {
    /// How far a slash is followed by the rest of a password, so that a text of many URLs takes no longer than another one.
    private static let longestPassword = 1024

    /// The text without credentials in URLs: removes everything between `://` and the last `@` before the next
    /// slash, blank or quote, even if these are percent-escaped.
    ///
    /// A slash inside a password would end it too early. So where a colon and no port stand before the slash, everything up to
    /// the last `@` before the next blank or quote is removed.
    ///
    /// - Complexity: O(*n*).
    package static func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let start = separator(bytes, index) else {
                result.append(bytes[index])
                index += 1
                continue
            }
            result += bytes[index..<start]
            let end = bytes[start...].indices.first { isSlash(bytes, $0) || isEnd(bytes, $0) } ?? bytes.count
            var last = lastAt(bytes, start..<end)
            if last == nil, !isPlace(bytes[start..<end]) {
                let rest = bytes[end...].prefix(longestPassword)
                last = lastAt(bytes, end..<(rest.indices.first { isEnd(bytes, $0) } ?? rest.endIndex))
            }
            if last != nil { result.append(UInt8(ascii: "*")) }
            index = last ?? start
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The index after a `://` that starts at an index, escaped or not.
    private static func separator(_ bytes: [UInt8], _ index: Int) -> Int? {
        var place = index
        for (plain, escape) in [(UInt8(ascii: ":"), "3a"), (UInt8(ascii: "/"), "2f"), (UInt8(ascii: "/"), "2f")] {
            if place < bytes.count, bytes[place] == plain {
                place += 1
            } else if isEscape(bytes, place, escape) {
                place += 3
            } else {
                return nil
            }
        }
        return place
    }

    private static func isSlash(_ bytes: [UInt8], _ index: Int) -> Bool {
        bytes[index] == UInt8(ascii: "/") || isEscape(bytes, index, "2f")
    }

    private static func isEnd(_ bytes: [UInt8], _ index: Int) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "&")].contains(bytes[index])
            || isEscape(bytes, index, "20")
    }

    private static func lastAt(_ bytes: [UInt8], _ range: Range<Int>) -> Int? {
        range.last { bytes[$0] == UInt8(ascii: "@") || isEscape(bytes, $0, "40") }
    }

    /// Whether what stands before the first slash may be a host, with its port if it has a colon.
    private static func isPlace(_ authority: ArraySlice<UInt8>) -> Bool {
        let text = PercentCoding.decode(String(decoding: authority, as: UTF8.self))
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return true }
        // An address of version 6 has colons in brackets.
        if text.hasPrefix("["), text.hasSuffix("]") { return true }
        let port = text.utf8[colon...].dropFirst()
        return (1...5).contains(port.count) && port.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    private static func isEscape(_ bytes: [UInt8], _ index: Int, _ digits: String) -> Bool {
        guard index + 2 < bytes.count, bytes[index] == UInt8(ascii: "%") else { return false }
        return String(decoding: bytes[index + 1...index + 2], as: UTF8.self).lowercased() == digits
    }
}
