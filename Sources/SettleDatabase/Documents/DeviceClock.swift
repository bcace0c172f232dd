internal import SettleCore
internal import SettlePlatform
internal import Synchronization

/// The clock by which a database stamps changes; see ``RevisionTree/HybridClock``.
///
/// It must never go back, even if the wall clock is set back while the process is not running. Storing each tick
/// would cost every save another row, so the clock reserves time for the next second of changes at once:
///
///     shown      10:00:00.1   10:00:00.2   10:00:01.3
///     reserved   10:00:01.1   ·            10:00:02.3     in the transaction of the change
///     next start begins after the reservation
///
/// The reservation is read in each transaction, so one that was rolled back has no effect.
final class DeviceClock: Sendable {
    private struct State {
        var clock: HybridClock?
        /// The last stored text, parsed.
        var known: (text: String, stored: Stored?)?
        /// The last server time, and when it was received.
        var server: (time: Int64, heard: ContinuousClock.Instant)?

        /// The server's current time, in milliseconds since 1970.
        var serverTime: Int64? {
            server.map { server in
                let (seconds, attoseconds) = (ContinuousClock.now - server.heard).components
                return server.time &+ seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000
            }
        }
    }

    /// The stored state: whether stamping is on, the device, and the first time that is not reserved.
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

        /// Parses `on 9f3a6c21 1423083474000`.
        init?(_ text: String) {
            let parts = text.split(separator: " ")
            guard parts.count == 3, let reserved = Int64(parts[2]) else { return nil }
            (isOn, device, self.reserved) = (parts[0] == "on", String(parts[1]), reserved)
        }

        var text: String { "\(isOn ? "on" : "off") \(device) \(reserved)" }
    }

    private static let setting = "attribute_clocks"
    /// The time that is reserved in advance, in milliseconds.
    private static let ahead: Int64 = 1000
    /// Whether stamping may be on; the stored setting decides.
    private let mayBeOn = Atomic<Bool>(false)
    private let state = Guarded(State())
    private let now: @Sendable () -> Int64

    /// Creates the clock of a database that is being opened.
    ///
    /// - Parameters:
    ///   - isOn: Whether to switch stamping on or off; `nil` leaves it unchanged.
    ///   - now: The wall clock, in milliseconds since 1970.
    ///   - engine: The storage of the clock's state.
    /// - Throws: ``DatabaseError`` of the storage.
    init(isOn: Bool?, now: @escaping @Sendable () -> Int64, engine: any StorageEngine) throws {
        self.now = now
        let stored = try engine.read { try $0.setting(Self.setting) }.flatMap { Stored($0) }
        mayBeOn.store(stored?.isOn ?? false, ordering: .releasing)
        if let isOn, isOn != stored?.isOn ?? false { try engine.hold { try set(isOn, $0) } }
    }

    /// Reads the state again after another process had the database and may have stamped changes.
    func readAgain(from engine: any StorageEngine) throws {
        let stored = try engine.read { try $0.setting(Self.setting) }.flatMap { Stored($0) }
        mayBeOn.store(stored?.isOn ?? false, ordering: .releasing)
        state.withLock { state in
            state.known = nil
            // This clock may already be later, because it has learned the clocks of replicated revisions.
            guard let stored, let own = state.clock?.last, let other = Self.clock(stored).last, own < other else {
                return
            }
            state.clock = nil
        }
    }

    /// Whether changes may be stamped, without reading the setting.
    var mayStamp: Bool { mayBeOn.load(ordering: .acquiring) }

    /// Whether changes are stamped.
    func isOn(_ reader: any StorageReader) throws -> Bool { try stored(reader) != nil }

    /// Switches stamping on or off.
    func set(_ isOn: Bool, _ writer: any StorageWriter) throws {
        if isOn { mayBeOn.store(true, ordering: .releasing) }
        var stored = try writer.setting(Self.setting).flatMap { Stored($0) } ?? Stored(isOn: isOn)
        stored.isOn = isOn
        try writer.setSetting(Self.setting, to: stored.text)
    }

    /// Restarts the clock with a device name.
    func name(_ device: String, _ writer: any StorageWriter) throws {
        state.withLock { $0.clock = nil }
        try writer.setSetting(Self.setting, to: Stored(isOn: isOn(writer), device: device).text)
    }

    /// The stored state, if stamping is on.
    private func stored(_ reader: any StorageReader) throws -> Stored? {
        guard mayStamp, let text = try reader.setting(Self.setting) else { return nil }
        let stored = state.withLock { state in
            if let known = state.known, known.text == text { return known.stored }
            let stored = Stored(text)
            state.known = (text, stored)
            return stored
        }
        return stored.flatMap { $0.isOn ? $0 : nil }
    }

    /// The clock of a change; `nil` if stamping is off. Once the change is written, ``reserve(_:_:)`` follows.
    func tick(_ reader: any StorageReader) throws -> AttributeClock? {
        guard let stored = try stored(reader) else { return nil }
        let wall = now()
        return state.withLock { state in
            var clock = state.clock ?? Self.clock(stored)
            defer { state.clock = clock }
            return clock.tick(wall: wall, server: state.serverTime)
        }
    }

    /// Reserves the time of a change that was written, unless it is reserved. A refused change reserves nothing: a
    /// write that fails after it has changed something also fails the transaction around it.
    func reserve(_ moment: AttributeClock, _ writer: any StorageWriter) throws {
        // The reservation can also be lowered: a server's time may show that it was far ahead.
        guard var stored = try stored(writer),
            moment.milliseconds >= stored.reserved || moment.milliseconds + Self.ahead < stored.reserved
        else { return }
        stored.reserved = moment.milliseconds + Self.ahead
        try writer.setSetting(Self.setting, to: stored.text)
    }

    /// Advances the clock past the clocks of a replicated revision.
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

    /// Records a server's time, in milliseconds since 1970.
    func hear(server time: Int64) { state.withLock { $0.server = (time, .now) } }

    /// The time for stamping changes, in milliseconds since 1970, whether or not stamping is on.
    var time: Int64 {
        let wall = now()
        return state.withLock { HybridClock.time(wall: wall, server: $0.serverTime) }
    }

    private static func clock(_ stored: Stored) -> HybridClock {
        HybridClock(
            device: stored.device, last: AttributeClock(milliseconds: stored.reserved, device: stored.device))
    }
}
