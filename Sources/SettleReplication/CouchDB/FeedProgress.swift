internal import SettleDatabase
internal import SettlePlatform

/// How far a feed has come that one task reads and another waits for.
final class FeedProgress: Sendable {
    private let state: Guarded<(lastByte: ContinuousClock.Instant, hasRows: Bool)>

    init(_ start: ContinuousClock.Instant) { state = Guarded((start, false)) }

    /// Whether a change has arrived.
    var hasRows: Bool { state.withLock { $0.hasRows } }

    /// Notes that a change has arrived.
    func noteRow() { state.withLock { $0.hasRows = true } }

    /// Notes that something has arrived.
    func noteBytes(_ now: ContinuousClock.Instant) { state.withLock { $0.lastByte = now } }

    /// How long nothing has arrived.
    func silence(until now: ContinuousClock.Instant) -> Duration { state.withLock { $0.lastByte.duration(to: now) } }
}
