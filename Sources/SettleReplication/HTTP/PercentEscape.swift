/// Percent escapes of addresses.
package enum PercentEscape {
    private static let hex = Array("0123456789ABCDEF".utf8)

    /// Text with all bytes escaped but letters, digits and `-`, `.`, `_`, `~` (RFC 3986, section 2.3), so that neither the
    /// slash of a document id nor a plus, which CouchDB takes for a blank, is misread.
    package static func encode(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) { bytes.append(byte) } else { append(byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Text without its escapes. A plus stays a plus; bytes that are no UTF-8 are repaired.
    package static func decode(_ text: some StringProtocol) -> String {
        let utf8 = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < utf8.count {
            if let byte = escape(in: utf8, at: index) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(utf8[index])
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether each `%` begins an escape.
    static func isValid(_ text: some StringProtocol) -> Bool {
        let utf8 = Array(text.utf8)
        return utf8.indices.allSatisfy { utf8[$0] != UInt8(ascii: "%") || escape(in: utf8, at: $0) != nil }
    }

    /// Text that has escapes already, with those added that are missing: of bytes beyond ASCII and of what never stands
    /// in an address.
    static func completing(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte >= 0x7f || byte <= 0x20 || forbidden.contains(byte) {
                append(byte, to: &bytes)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let forbidden = Array("\"<>\\^`{|}".utf8)

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    private static func escape(in bytes: [UInt8], at index: Int) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
            let low = digit(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
