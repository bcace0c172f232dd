/// How far several replications are together, as one bar shows it (SEMANTICS 109).
///
///     let progress = ReplicationProgress([pull.status, push.status])
///     bar.isHidden = !progress.isUnderWay
public struct ReplicationProgress: Sendable, Hashable {
    /// How many changed documents are done, of all of them.
    public let completed: Int
    /// How many there are, of all of them.
    public let total: Int

    /// Adds up.
    public init(_ statuses: some Sequence<ReplicationStatus>) {
        let sum = statuses.reduce((0, 0)) { ($0.0 + $1.completed, $0.1 + $1.total) }
        (completed, total) = sum
    }

    /// Whether there is something to show: neither nothing to do nor all done.
    public var isUnderWay: Bool { total > 0 && completed < total }

    /// The part that is done, from 0 to 1; `nil` where there is nothing to do.
    public var fraction: Double? { total > 0 ? Double(completed) / Double(total) : nil }
}
