/// Base64 between bytes and text (RFC 4648), without Foundation, on which the core does not depend.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet = Array(alphabet.dropLast(2)) + Array("-_".utf8)
    /// The value of each byte of the alphabet; 64 for all others.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    /// Bytes as base64 with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        let text = encode(bytes, alphabet)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// The bytes of a base64 text with its padding, or `nil` for text that is not valid base64.
    ///
    /// Four letters are three bytes; of the last four, one or two may be padding.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let letters = Array(text)
        guard letters.count.isMultiple(of: 4) else { return nil }
        let padding = letters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count / 4 * 3)
        var bits = UInt32(0)
        var count = 0
        for letter in letters.dropLast(padding) {
            let value = values[Int(letter)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count.isMultiple(of: 4) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
                bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
                bytes.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        if padding > 0 { bytes.append(UInt8(truncatingIfNeeded: padding == 1 ? bits >> 10 : bits >> 4)) }
        if padding == 1 { bytes.append(UInt8(truncatingIfNeeded: bits >> 2)) }
        return bytes
    }

    /// Bytes as URL-safe base64 without padding.
    package static func encodeForURL(_ bytes: [UInt8]) -> String { encode(bytes, urlAlphabet) }

    /// Bytes as letters of an alphabet, without padding.
    private static func encode(_ bytes: [UInt8], _ alphabet: [UInt8]) -> String {
        let length = (bytes.count * 4 + 2) / 3
        return String(unsafeUninitializedCapacity: length) { text in
            var place = 0
            var start = 0
            while start < bytes.count {
                let count = min(3, bytes.count - start)
                var bits = UInt32(0)
                for offset in 0..<3 { bits = bits << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0) }
                for digit in 0...count {
                    text[place] = alphabet[Int(bits >> (18 - 6 * UInt32(digit)) & 63)]
                    place += 1
                }
                start += 3
            }
            return place
        }
    }

    /// The bytes of a URL-safe base64 text, or `nil` if it is invalid. Padding may be missing; `+` and `/` are read as
    /// `-` and `_`.
    package static func decodeFromURL(_ text: some StringProtocol) -> [UInt8]? {
        var plain = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while plain.last == UInt8(ascii: "=") { plain.removeLast() }
        plain += Array(repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        return decode(plain)
    }
}
