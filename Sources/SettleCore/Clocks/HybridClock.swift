/// A device's clock for changes: it never shows the same twice, and never goes back.
///
///     wall clock     10:00   10:01    9:00 (put back)   9:01            10:02
///     shows          10:00   10:01   10:01 +1          10:01 +2         10:02
///
/// So a change that is made later on a device is never taken for an earlier one, whatever becomes of the device's wall clock
/// (SEMANTICS 159). What it has heard from others counts like its own past, so a change made in the knowledge of another
/// one is the later of the two.
///
/// A wall clock that is far ahead must not win for ever. Three rules see to that:
///
/// 1. **A server's time is the bound.** Once a server has told the time, a wall clock that differs from it by more than
///    ``tolerance`` is not believed, and the server's time is shown. What the clock showed far ahead of that time before is
///    forgotten.
/// 2. **Nobody learns nonsense.** A value that is ahead of the time by more than ``tolerance`` is not learned.
/// 3. **Who has seen it comes after it.** A change to a member that bears such a value gets the value's successor, see
///    ``ClockedDocument``; so it wins against changes made apart from it, and never against one made on top of it.
///
/// It is a value and reads no clock itself: the time is handed in.
public struct HybridClock: Hashable, Sendable {
    /// How far a wall clock may be from a server's, and a value ahead of the time, in milliseconds: a minute.
    public static let tolerance: Int64 = 60_000

    /// The device's name, part of all it shows.
    public let device: String
    /// What it showed last or has heard of; `nil` at the beginning.
    public private(set) var last: AttributeClock?

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - device: The device's name, see ``AttributeClock/device``.
    ///   - last: What it is to be ahead of.
    public init(device: String, last: AttributeClock? = nil) {
        self.device = device
        self.last = last
    }

    /// The time to go by, in milliseconds since 1970: the wall clock's, unless a server's is known and too far from it.
    public static func time(wall: Int64, server: Int64?) -> Int64 {
        let time =
            if let server, abs(wall.subtractingReportingOverflow(server).partialValue) > tolerance { server } else {
                wall
            }
        return min(max(time, 0), AttributeClock.latest)
    }

    /// Shows the time of a change.
    ///
    /// - Parameters:
    ///   - wall: The wall clock's time, in milliseconds since 1970.
    ///   - server: A server's time at this moment, if known.
    /// - Returns: A value greater than all before; `nil` at the end of all clocks, or when the device has no proper name.
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

    /// Learns of a change made elsewhere, unless that is too far ahead.
    ///
    /// - Parameters:
    ///   - seen: The change's value.
    ///   - wall: The wall clock's time, in milliseconds since 1970.
    ///   - server: A server's time at this moment, if known.
    public mutating func learn(_ seen: AttributeClock, wall: Int64, server: Int64? = nil) {
        guard seen.milliseconds <= Self.time(wall: wall, server: server) + Self.tolerance else { return }
        last = max(last ?? seen, seen)
    }
}
