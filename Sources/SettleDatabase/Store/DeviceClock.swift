internal import SettleCore
internal import SettlePlatform

/// The clock by which a database stamps changes, see ``RevisionTree/HybridClock``.
///
/// What it shows must never go back, also when the process ends and the wall clock is put back meanwhile. To write each
/// moment down would cost every save a row more, so a moment ahead is reserved, for a second of changes at once:
///
///     shown      10:00:00.1   10:00:00.2   10:00:01.3
///     reserved   10:00:01.1   ·            10:00:02.3     in the transaction of the change
///     next start begins behind what was reserved
///
/// The reservation is read in each transaction, so one that is rolled back takes nothing along.
final class DeviceClock: Sendable {
    private struct State {
        /// Whether it may be on: what is stored says.
        var mayBeOn = false
        var clock: HybridClock?
        /// What was read last, and what it means.
        var known: (text: String, stored: Stored?)?
        /// What a server said, and when.
        var server: (time: Int64, heard: ContinuousClock.Instant)?

        /// The server's time now, in milliseconds since 1970.
        var serverTime: Int64? {
            server.map { server in
                let (seconds, attoseconds) = (ContinuousClock.now - server.heard).components
                return server.time &+ seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000
            }
        }
    }

    /// What is stored: whether it is on, the device's name, and the moment that nothing shown has reached.
    private struct Stored {
        var isOn: Bool
        let device: String
        var reserved: Int64

        init(isOn: Bool, device: String) {
            (self.isOn, self.device, reserved) = (isOn, device, 0)
        }

        init(isOn: Bool) {
            self.init(isOn: isOn, device: SecureRandom.hexadecimal(bytes: 4))
        }

        /// Reads `on 9f3a6c21 1423083474000`.
        init?(_ text: String) {
            let parts = text.split(separator: " ")
            guard parts.count == 3, let reserved = Int64(parts[2]) else { return nil }
            (isOn, device, self.reserved) = (parts[0] == "on", String(parts[1]), reserved)
        }

        var text: String { "\(isOn ? "on" : "off") \(device) \(reserved)" }
    }

    private static let setting = "attribute_clocks"
    /// How far ahead is reserved, in milliseconds.
    private static let ahead: Int64 = 1000
    private let state = Guarded(State())
    private let now: @Sendable () -> Int64

    /// Makes the clock of a database that is being opened.
    ///
    /// - Parameters:
    ///   - isOn: Whether it is to be on from now on; `nil` leaves it as it is.
    ///   - now: The wall clock, in milliseconds since 1970.
    ///   - engine: Where it is stored.
    /// - Throws: ``DatabaseError`` of the storage.
    init(isOn: Bool?, now: @escaping @Sendable () -> Int64, engine: any StorageEngine) throws {
        self.now = now
        let stored = try engine.read { try $0.setting(Self.setting) }.flatMap { Stored($0) }
        state.withLock { $0.mayBeOn = stored?.isOn ?? false }
        if let isOn, isOn != stored?.isOn ?? false { try engine.write { try set(isOn, $0) } }
    }

    /// Whether changes are stamped.
    func isOn(_ reader: any StorageReader) throws -> Bool { try stored(reader) != nil }

    /// Switches it on or off.
    func set(_ isOn: Bool, _ writer: any StorageWriter) throws {
        if isOn { state.withLock { $0.mayBeOn = true } }
        var stored = try writer.setting(Self.setting).flatMap { Stored($0) } ?? Stored(isOn: isOn)
        stored.isOn = isOn
        try writer.setSetting(Self.setting, to: stored.text)
    }

    /// Begins anew under a name.
    func name(_ device: String, _ writer: any StorageWriter) throws {
        state.withLock { $0.clock = nil }
        try writer.setSetting(Self.setting, to: Stored(isOn: isOn(writer), device: device).text)
    }

    /// What is stored, if it is on.
    private func stored(_ reader: any StorageReader) throws -> Stored? {
        guard state.withLock(\.mayBeOn), let text = try reader.setting(Self.setting) else { return nil }
        let stored = state.withLock { state in
            if let known = state.known, known.text == text { return known.stored }
            let stored = Stored(text)
            state.known = (text, stored)
            return stored
        }
        return stored.flatMap { $0.isOn ? $0 : nil }
    }

    /// The moment of a change; `nil` when it is off.
    func tick(_ writer: any StorageWriter) throws -> AttributeClock? {
        guard var stored = try stored(writer) else { return nil }
        let wall = now()
        let moment = state.withLock { state in
            var clock = state.clock ?? Self.clock(stored)
            defer { state.clock = clock }
            return clock.tick(wall: wall, server: state.serverTime)
        }
        guard let moment else { return nil }
        // It is lowered, too: a server's time may show that what was reserved is far ahead.
        if moment.milliseconds >= stored.reserved || moment.milliseconds + Self.ahead < stored.reserved {
            stored.reserved = moment.milliseconds + Self.ahead
            try writer.setSetting(Self.setting, to: stored.text)
        }
        return moment
    }

    /// Learns of the changes a revision from elsewhere bears.
    func learn(_ body: DocumentBody, _ writer: any StorageWriter) throws {
        guard let stored = try stored(writer) else { return }
        let moments = ClockedDocument.moments(in: body)
        guard !moments.isEmpty else { return }
        let wall = now()
        state.withLock { state in
            var clock = state.clock ?? Self.clock(stored)
            for moment in moments { clock.learn(moment, wall: wall, server: state.serverTime) }
            state.clock = clock
        }
    }

    /// Hears a server's time, in milliseconds since 1970.
    func hear(server time: Int64) { state.withLock { $0.server = (time, .now) } }

    /// The time changes are stamped with, in milliseconds since 1970, whether it is on or not.
    var time: Int64 {
        let wall = now()
        return state.withLock { HybridClock.time(wall: wall, server: $0.serverTime) }
    }

    private static func clock(_ stored: Stored) -> HybridClock {
        HybridClock(
            device: stored.device, last: AttributeClock(milliseconds: stored.reserved, device: stored.device))
    }
}
