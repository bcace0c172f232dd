internal import SettleCore
internal import SettleDatabase

extension UnsafeBufferPointer<UInt8> {
    /// The string whose JSON is in a range; `nil` for another kind of value.
    func string(in range: Range<Int>) -> String? {
        let bytes = UnsafeBufferPointer(rebasing: self[range])
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\"") else { return nil }
        guard bytes.contains(UInt8(ascii: "\\")) else {
            return String(decoding: UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1]), as: UTF8.self)
        }
        return (try? JSONValue(utf8: bytes))?.string
    }

    /// The value whose JSON is in a range.
    func json(in range: Range<Int>) throws(JSONError) -> JSONValue {
        try JSONValue(utf8: UnsafeBufferPointer(rebasing: self[range]))
    }
}
