internal import SettleDatabase

/// Base64 in the alphabet of URLs, without padding, as cookies and tokens have it.
enum Base64URL {
    /// The text of bytes.
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text, or `nil` if it is invalid; padding may be there.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes = text.utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        while !bytes.count.isMultiple(of: 4) { bytes.append(UInt8(ascii: "=")) }
        return Base64.decode(bytes)
    }
}
