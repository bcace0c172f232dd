/// A short digest of a member's value, which reveals a change made without a clock.
///
/// It does not depend on the spelling of a value: other software writes `1000.0` for `1e3`, `1` for `1.0`, other
/// escapes, and the members of objects in arrays in another order. It does not protect against malice, because any
/// software can compute a digest.
struct ValueDigest: Hashable, Sendable {
    let bits: UInt32

    /// The digest of an attribute: missing, an object regardless of its members, or the whole value.
    init(of value: JSONValue?, isObject: Bool) {
        guard let value else {
            self.init(removal: ())
            return
        }
        self.init(hash: isObject ? Self.hash(tag: 7) : Self.hash(value))
    }

    /// The digest of a value's hash.
    init(hash: UInt64) {
        // 0 stands for a missing value, so no value may have it.
        bits = max(UInt32(truncatingIfNeeded: hash ^ hash >> 32), 1)
    }

    private init(removal: Void) { bits = 0 }

    /// The digest of a removed member.
    static let nothing = ValueDigest(removal: ())
    /// The digest of an object, regardless of its members.
    static let object = ValueDigest(hash: hash(tag: 7))

    /// Parses eight hexadecimal digits in lower case.
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

    /// Writes the eight digits.
    func write(to bytes: inout [UInt8]) {
        for shift in stride(from: 28, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: bits >> UInt32(shift)) & 15
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// The hash of a number, the same for both zeros.
    static func hash(_ number: Double) -> UInt64 { mixed(hash(tag: 4), number == 0 ? 0 : number.bitPattern) }

    private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01B3

    static func hash(tag: UInt8) -> UInt64 { (basis ^ UInt64(tag)) &* prime }

    static func hash(_ bytes: some Sequence<UInt8>, _ start: UInt64) -> UInt64 {
        var hash = start
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* prime }
        return hash
    }

    static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        var mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 29
        return mixed &* prime
    }

    static func hash(_ value: JSONValue) -> UInt64 {
        switch value {
        case .null: hash(tag: 1)
        case .bool(let value): hash(tag: value ? 2 : 3)
        case .number(let number): hash(number.double)
        case .string(let text): hash(text.utf8, hash(tag: 5))
        case .array(let elements): elements.reduce(hash(tag: 6)) { mixed($0, hash($1)) }
        case .object(let members):
            // The sum does not depend on the order.
            members.reduce(hash(tag: 7)) { sum, member in
                sum &+ mixed(hash(member.name.utf8, hash(tag: 8)), hash(member.value))
            }
        }
    }
}
