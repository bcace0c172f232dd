/// Replaces halves of surrogate pairs, which UTF-8 can't hold, by U+FFFD, as CouchDB does.
///
///     "ab😄".substring(0, 3)     JSON.stringify: "ab\ud83d"     here: "ab\u{FFFD}"
///
/// `JSON.stringify` writes whole pairs unescaped, so each escape in the range of surrogates is a half.
enum HalfSurrogates {
    private static let backslash = UInt8(ascii: "\\")
    private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// The JSON text without halves; `nil` if it has no halves.
    static func replaced(in json: some RandomAccessCollection<UInt8>) -> [UInt8]? {
        var output: [UInt8] = []
        var (copied, index) = (json.startIndex, json.startIndex)
        while let escape = json[index...].firstIndex(of: backslash) {
            let rest = json[escape...].prefix(6)
            guard isHalf(rest) else {
                index = json.index(escape, offsetBy: min(2, rest.count))
                continue
            }
            output += json[copied..<escape]
            output += replacement
            (copied, index) = (rest.endIndex, rest.endIndex)
        }
        guard copied != json.startIndex else { return nil }
        return output + json[copied...]
    }

    /// Whether six bytes are the escape `\uD800` to `\uDFFF`.
    private static func isHalf(_ escape: some RandomAccessCollection<UInt8>) -> Bool {
        guard escape.count == 6 else { return false }
        let (start, d, second) = (escape.startIndex, UInt8(ascii: "d"), escape.index(escape.startIndex, offsetBy: 3))
        guard escape[escape.index(after: start)] == UInt8(ascii: "u"),
            escape[escape.index(start, offsetBy: 2)] | 0x20 == d
        else { return false }
        return switch escape[second] | 0x20 {
        case UInt8(ascii: "8"), UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
