/// The combined progress of several replications, for one progress bar (SEMANTICS 109).
///
///     let progress = ReplicationProgress([pull.status, push.status])
///     bar.isHidden = !progress.isUnderWay
public struct ReplicationProgress: Sendable, Hashable {
    /// How many changed documents are done in total.
    public let completed: Int
    /// How many changed documents there are in total.
    public let total: Int

    /// Sums up statuses.
    public init(_ statuses: some Sequence<ReplicationStatus>) {
        let sum = statuses.reduce((0, 0)) { ($0.0 + $1.completed, $0.1 + $1.total) }
        (completed, total) = sum
    }

    /// Whether there is progress to show: false if there is nothing to do or all is done.
    public var isUnderWay: Bool { total > 0 && completed < total }

    /// The completed fraction, from 0 to 1; `nil` if there is nothing to do.
    public var fraction: Double? { total > 0 ? Double(completed) / Double(total) : nil }
}
