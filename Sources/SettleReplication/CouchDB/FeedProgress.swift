internal import SettleDatabase
internal import SettlePlatform

/// The progress of a feed that one task reads and another waits for.
final class FeedProgress: Sendable {
    private let state: Guarded<(lastByte: ContinuousClock.Instant, hasRows: Bool)>

    init(_ start: ContinuousClock.Instant) { state = Guarded((start, false)) }

    /// Whether a change arrived.
    var hasRows: Bool { state.withLock { $0.hasRows } }

    /// Records that a change arrived.
    func noteRow() { state.withLock { $0.hasRows = true } }

    /// Records that bytes arrived.
    func noteBytes(_ now: ContinuousClock.Instant) { state.withLock { $0.lastByte = now } }

    /// How long nothing has arrived.
    func silence(until now: ContinuousClock.Instant) -> Duration { state.withLock { $0.lastByte.duration(to: now) } }
}
