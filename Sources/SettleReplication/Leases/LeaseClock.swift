/// The clock by which a node measures how old its leases are.
struct LeaseClock: Sendable {
    /// The time since the value was made.
    let now: @Sendable () -> Duration
    /// Waits.
    let sleep: @Sendable (Duration) async -> Void

    /// Makes a clock on one that goes on while the process is suspended.
    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try? await clock.sleep(for: $0) }
    }
}
