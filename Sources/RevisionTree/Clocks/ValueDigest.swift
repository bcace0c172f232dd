/// A short digest of a member's value, by which a change made without a clock is noticed.
///
/// It is the same however a value is spelled on its way: other software writes `1000.0` for `1e3`, `1` for `1.0`, other
/// escapes, and the members of objects inside of arrays in another order. It is no protection: whoever wants to deceive can
/// write a digest as well.
struct ValueDigest: Hashable, Sendable {
    let bits: UInt32

    /// The digest of an attribute's value: nothing, an object as such, whatever is inside of it, or the whole value.
    init(of value: JSON?, isObject: Bool) {
        guard let value else {
            bits = 0
            return
        }
        let hash = isObject ? Self.hash(tag: 7) : Self.hash(value)
        // Nothing has 0, and so no value must.
        bits = max(UInt32(truncatingIfNeeded: hash ^ hash >> 32), 1)
    }

    /// Reads eight hexadecimal digits in lower case.
    init?(_ text: some Collection<UInt8>) {
        guard text.count == 8 else { return nil }
        var bits: UInt32 = 0
        for byte in text {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            bits = bits << 4 | UInt32(digit)
        }
        self.bits = bits
    }

    /// Eight hexadecimal digits.
    var text: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01B3

    private static func hash(tag: UInt8) -> UInt64 { (basis ^ UInt64(tag)) &* prime }

    private static func hash(_ bytes: String.UTF8View, _ start: UInt64) -> UInt64 {
        var hash = start
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* prime }
        return hash
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        var mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 29
        return mixed &* prime
    }

    private static func hash(_ value: JSON) -> UInt64 {
        switch value {
        case .null: hash(tag: 1)
        case .bool(let value): hash(tag: value ? 2 : 3)
        case .number(let number): mixed(hash(tag: 4), number.double == 0 ? 0 : number.double.bitPattern)
        case .string(let text): hash(text.utf8, hash(tag: 5))
        case .array(let elements): elements.reduce(hash(tag: 6)) { mixed($0, hash($1)) }
        case .object(let members):
            // The sum is the same in any order.
            members.reduce(hash(tag: 7)) { sum, member in
                sum &+ mixed(hash(member.name.utf8, hash(tag: 8)), hash(member.value))
            }
        }
    }
}
