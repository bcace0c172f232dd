/// How long a connection may be silent before an intermediary cuts it, as far as the peer has learned.
///
///     heartbeat every 30 s ── cut after 20 s ─→ every 10 s ── cut after 9 s ─→ every 4.5 s …
struct IdleLimit: Sendable {
    /// The shortest heartbeat interval; a shorter silence before a cut teaches nothing.
    static let shortest = Duration.seconds(1)

    private var learnt: Duration?

    /// The heartbeat interval to request, given the caller's preference.
    func heartbeat(_ wanted: Duration) -> Duration { max(Self.shortest, min(learnt ?? wanted, wanted)) }

    /// Records that a connection was cut after a silence.
    ///
    /// - Returns: Whether that shortened the interval: then the cut is not a failure.
    mutating func noteCut(after silence: Duration, asked heartbeat: Duration) -> Bool {
        guard silence >= Self.shortest, heartbeat > Self.shortest else { return false }
        learnt = max(Self.shortest, min(silence, heartbeat) / 2)
        return true
    }
}
