/// How long a connection to a server may be silent before something on the way ends it, as far as that was found out.
///
///     asked for a sign of life every 30 s ── cut after 20 s ─→ every 10 s ── cut after 9 s ─→ every 4.5 s …
struct IdleLimit: Sendable {
    /// No sign of life is asked for more often than this, and no silence that is shorter teaches anything.
    static let shortest = Duration.seconds(1)

    private var learnt: Duration?

    /// How often to ask for a sign of life, where the caller wants one this often.
    func heartbeat(_ wanted: Duration) -> Duration { max(Self.shortest, min(learnt ?? wanted, wanted)) }

    /// Notes that a connection was cut after a silence.
    ///
    /// - Returns: Whether there was something to learn: then the cut is no sign that anything is wrong.
    mutating func noteCut(after silence: Duration, asked heartbeat: Duration) -> Bool {
        guard silence >= Self.shortest, heartbeat > Self.shortest else { return false }
        learnt = max(Self.shortest, min(silence, heartbeat) / 2)
        return true
    }
}
