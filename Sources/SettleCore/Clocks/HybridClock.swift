/// A device's clock for changes: it never shows the same time twice, and never goes back.
///
///     wall clock     10:00   10:01    9:00 (put back)   9:01            10:02
///     shows          10:00   10:01   10:01 +1          10:01 +2         10:02
///
/// So a later change on a device never gets an earlier clock, whatever happens to the device's wall clock
/// (SEMANTICS 159). Learned clocks count like its own past, so a change made with knowledge of another one is the later
/// of the two.
///
/// A wall clock that is far ahead must not win permanently. Three rules prevent that:
///
/// 1. **A server's time is the limit.** Once a server's time is known, a wall clock that differs from it by more than
///    ``tolerance`` is ignored, and the server's time is used. Earlier ticks far ahead of that time are forgotten.
/// 2. **No nonsense is learned.** A value ahead of the time by more than ``tolerance`` is not learned.
/// 3. **Changes exceed what they replace.** A change to a member with such a value gets the value's successor, see
///    ``ClockedDocument``; so it wins against concurrent changes, and never against one based on it.
///
/// It is a value and reads no clock itself: the caller passes the time.
public struct HybridClock: Hashable, Sendable {
    /// How far a wall clock may differ from a server's, and a value may be ahead, in milliseconds: a minute.
    public static let tolerance: Int64 = 60_000

    /// The device, which is part of all its values.
    public let device: String
    /// The last value it has shown or learned; `nil` at the beginning.
    public private(set) var last: FieldClock?

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - device: The device, see ``FieldClock/device``.
    ///   - last: A value to be ahead of.
    public init(device: String, last: FieldClock? = nil) {
        self.device = device
        self.last = last
    }

    /// The time to use, in milliseconds since 1970: the wall clock's, unless it is too far from a known server's.
    public static func time(wall: Int64, server: Int64?) -> Int64 {
        let time =
            if let server, abs(wall.subtractingReportingOverflow(server).partialValue) > tolerance { server } else {
                wall
            }
        return min(max(time, 0), FieldClock.latest)
    }

    /// The clock of a new change.
    ///
    /// - Parameters:
    ///   - wall: The wall clock's time, in milliseconds since 1970.
    ///   - server: A server's current time, if known.
    /// - Returns: A value greater than all before; `nil` after the last possible clock, or if the device is invalid.
    public mutating func tick(wall: Int64, server: Int64? = nil) -> FieldClock? {
        let time = Self.time(wall: wall, server: server)
        if server != nil, let last, last.milliseconds > time + Self.tolerance { self.last = nil }
        let fresh = FieldClock(milliseconds: time, device: device)
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
    public mutating func learn(_ seen: FieldClock, wall: Int64, server: Int64? = nil) {
        guard seen.milliseconds <= Self.time(wall: wall, server: server) + Self.tolerance else { return }
        last = max(last ?? seen, seen)
    }
}
