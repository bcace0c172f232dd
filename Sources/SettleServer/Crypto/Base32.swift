/// Base32 of RFC 4648, the usual form of TOTP secrets.
enum Base32 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Decodes text whose padding may be missing; `nil` for invalid input.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        for byte in text.utf8.dropLast(padding) {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            bits = bits << 5 | UInt32(digit)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
