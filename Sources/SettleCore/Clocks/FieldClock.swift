/// The time of a change of a document's member: a hybrid logical clock.
///
///     1423083473000-0-9f3a6c21
///     └ wall clock ┘ │ └ device
///       milliseconds └ counter: number of earlier changes with the same milliseconds
///
/// The wall clock comes first, so of two concurrent changes the later one is the greater. The counter keeps changes in
/// order while the wall clock stands still or was put back. The device makes the order total, the same on every replica
/// (SEMANTICS 158); the order of devices has no meaning.
///
/// A value after the year 2199 is invalid and is not parsed.
public struct FieldClock: Hashable, Sendable {
    /// Milliseconds since 1970, at most 7,258,118,399,999: the end of 2199.
    public let milliseconds: Int64
    /// How many changes came before with the same milliseconds, at most 2,147,483,647.
    public let counter: Int64
    /// The device that made the change: 1 to 32 letters and digits of ASCII.
    public let device: String

    /// The end of the year 2199; no clock goes further.
    package static let latest: Int64 = 7_258_118_399_999
    /// The highest counter; the next change gets the next millisecond.
    package static let maximumCounter: Int64 = 0x7FFF_FFFF

    /// Creates a value; `nil` if a part is out of range.
    public init?(milliseconds: Int64, counter: Int64 = 0, device: String) {
        guard 0...Self.latest ~= milliseconds, 0...Self.maximumCounter ~= counter, Self.isDevice(device.utf8) else {
            return nil
        }
        self.init(unchecked: milliseconds, counter, device)
    }

    private init(unchecked milliseconds: Int64, _ counter: Int64, _ device: String) {
        self.milliseconds = milliseconds
        self.counter = counter
        self.device = device
    }

    /// Whether a text is a valid device.
    static func isDevice(_ text: some Collection<UInt8>) -> Bool {
        1...32 ~= text.count
            && text.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: false
                }
            }
    }

    /// The least value of a device that is greater than this one; `nil` after the last possible clock.
    package func successor(on device: String) -> FieldClock? {
        counter < Self.maximumCounter
            ? FieldClock(milliseconds: milliseconds, counter: counter + 1, device: device)
            : FieldClock(milliseconds: milliseconds + 1, device: device)
    }
}

extension FieldClock: Comparable {
    /// Whether the left change is the earlier: by milliseconds, then counter, then device.
    public static func < (left: FieldClock, right: FieldClock) -> Bool {
        if left.milliseconds != right.milliseconds { return left.milliseconds < right.milliseconds }
        if left.counter != right.counter { return left.counter < right.counter }
        return left.device.utf8.lexicographicallyPrecedes(right.device.utf8)
    }
}

extension FieldClock: LosslessStringConvertible {
    /// Parses `milliseconds-counter-device`; `nil` for anything else.
    public init?(_ text: String) { self.init(bytes: text.utf8) }

    init?(bytes: some Collection<UInt8>) {
        var rest = bytes[...]
        guard let milliseconds = Self.number(&rest), let counter = Self.number(&rest), Self.isDevice(rest) else {
            return nil
        }
        self.init(milliseconds: milliseconds, counter: counter, device: String(decoding: rest, as: UTF8.self))
    }

    /// Parses a number in canonical spelling, without sign or leading zeros, and the following hyphen.
    private static func number<Bytes: Collection<UInt8>>(_ rest: inout Bytes) -> Int64?
    where Bytes.SubSequence == Bytes {
        var value: Int64 = 0
        var count = 0
        while let byte = rest.popFirst(), byte != UInt8(ascii: "-") {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte, count < 13, count == 0 || value > 0 else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            count += 1
        }
        return count > 0 ? value : nil
    }

    /// The value's text in documents.
    public var description: String { String(milliseconds) + "-" + String(counter) + "-" + device }
}
