#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Base64 between bytes and text, by Foundation.
package enum Base64 {
    /// Bytes as base64 with padding.
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// The bytes of a base64 text with its padding; `nil` for invalid text.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let text = Data(text)
        // Foundation stops at padding anywhere, and ignores the rest.
        if let padding = text.firstIndex(of: UInt8(ascii: "=")) {
            let isAtEnd = text.endIndex - padding <= 2 && text.last == UInt8(ascii: "=")
            guard isAtEnd, text.count.isMultiple(of: 4) else { return nil }
        }
        return Data(base64Encoded: text).map { Array($0) }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Bytes as URL-safe base64 without padding.
    package static func encodeForURL(_ bytes: [UInt8]) -> String {
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

    /// The bytes of a URL-safe base64 text; `nil` for invalid text. Padding may be missing; `+` and `/` are read as
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
