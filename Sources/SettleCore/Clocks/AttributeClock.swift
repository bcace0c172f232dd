/// The time of a change of a document's member: a hybrid logical clock.
///
///     1423083473000-0-9f3a6c21
///     └ wall clock ┘ │ └ device
///       milliseconds └ counter: number of earlier changes with the same milliseconds
///
/// The wall clock is compared first, so of two concurrent changes the later one is greater. The counter keeps
/// changes in order while the wall clock stands still or was set back. The device makes the order total, and the
/// same on every replica (SEMANTICS 158); the order of devices has no meaning.
///
/// A clock after the year 2199 is invalid and is not parsed.
public struct AttributeClock: Hashable, Sendable {
    /// Milliseconds since 1970, at most 7,258,118,399,999: the end of 2199.
    public let milliseconds: Int64
    /// The number of earlier changes with the same milliseconds, at most 2,147,483,647.
    public let counter: Int64
    /// The device that made the change: 1 to 32 letters and digits of ASCII.
    public let device: String

    /// The end of the year 2199, the greatest possible time.
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

    /// The smallest clock of a device that is greater than this one; `nil` after the last possible clock.
    package func successor(on device: String) -> AttributeClock? {
        counter < Self.maximumCounter
            ? AttributeClock(milliseconds: milliseconds, counter: counter + 1, device: device)
            : AttributeClock(milliseconds: milliseconds + 1, device: device)
    }
}

extension AttributeClock: Comparable {
    /// Whether the left change is earlier: by milliseconds, then counter, then device.
    public static func < (left: AttributeClock, right: AttributeClock) -> Bool {
        if left.milliseconds != right.milliseconds { return left.milliseconds < right.milliseconds }
        if left.counter != right.counter { return left.counter < right.counter }
        return left.device.utf8.lexicographicallyPrecedes(right.device.utf8)
    }
}

extension AttributeClock: LosslessStringConvertible {
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

// MARK: - HybridClock

/// A device's clock for changes: it never shows the same time twice, and never goes back.
///
///     wall clock     10:00   10:01    9:00 (put back)   9:01            10:02
///     shows          10:00   10:01   10:01 +1          10:01 +2         10:02
///
/// So a later change on a device never gets an earlier clock, whatever happens to the device's wall clock
/// (SEMANTICS 159). Learned clocks count like the device's own, so a change made with knowledge of another one is
/// the later of the two.
///
/// A wall clock that is far ahead must not win permanently. Three rules prevent that:
///
/// 1. **A server's time is the limit.** When a server's time is known, a wall clock that differs from it by more
///    than ``tolerance`` is ignored, and the server's time is used. Earlier ticks far ahead of that time are
///    forgotten.
/// 2. **No nonsense is learned.** A value ahead of the time by more than ``tolerance`` is not learned.
/// 3. **Changes exceed what they replace.** A change to a member with such a clock gets that clock's successor, see
///    ``ClockedDocument``. So it wins against concurrent changes, but never against a change that is based on it.
///
/// It is a value and reads no clock itself: the caller passes the time.
public struct HybridClock: Hashable, Sendable {
    /// The maximum difference between a wall clock and a server's, and the maximum time that a value may be ahead,
    /// in milliseconds: a minute.
    public static let tolerance: Int64 = 60_000

    /// The device, which is part of all its values.
    public let device: String
    /// The last value it has shown or learned; `nil` at the beginning.
    public private(set) var last: AttributeClock?

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - device: The device, see ``AttributeClock/device``.
    ///   - last: A value to be ahead of.
    public init(device: String, last: AttributeClock? = nil) {
        self.device = device
        self.last = last
    }

    /// The time to use, in milliseconds since 1970: the wall clock's, unless it differs too much from a known
    /// server's time.
    public static func time(wall: Int64, server: Int64?) -> Int64 {
        let time =
            if let server, UInt64(bitPattern: max(wall, server) &- min(wall, server)) > UInt64(tolerance) {
                server
            } else { wall }
        return min(max(time, 0), AttributeClock.latest)
    }

    /// The clock of a new change.
    ///
    /// - Parameters:
    ///   - wall: The wall clock's time, in milliseconds since 1970.
    ///   - server: A server's current time, if known.
    /// - Returns: A value greater than all before; `nil` after the last possible clock, or if the device is invalid.
    public mutating func tick(wall: Int64, server: Int64? = nil) -> AttributeClock? {
        let time = Self.time(wall: wall, server: server)
        if server != nil, let last, last.milliseconds > time + Self.tolerance { self.last = nil }
        let fresh = AttributeClock(milliseconds: time, device: device)
        let next =
            if let last, let fresh, last.milliseconds >= fresh.milliseconds { last.successor(on: device) } else {
                fresh
            }
        if let next { last = next }
        return next
    }

    /// Learns the clock of a change made elsewhere, unless it is too far ahead.
    ///
    /// - Parameters:
    ///   - seen: The change's clock.
    ///   - wall: The wall clock's time, in milliseconds since 1970.
    ///   - server: A server's current time, if known.
    public mutating func learn(_ seen: AttributeClock, wall: Int64, server: Int64? = nil) {
        guard seen.milliseconds <= Self.time(wall: wall, server: server) + Self.tolerance else { return }
        last = max(last ?? seen, seen)
    }
}
