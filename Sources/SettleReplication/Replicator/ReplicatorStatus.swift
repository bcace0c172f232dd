/// The status of a ``Replicator``: that of its parts together.
public struct ReplicatorStatus: Sendable, Equatable {
    /// The statuses of the parts, in the order of ``Replicator/parts``.
    public let parts: [ReplicationStatus]

    init(_ parts: [ReplicationStatus]) { self.parts = parts }

    /// The activity: `active` if a part is, else `offline` if a part is, else `idle` if a part is, else `stopped`.
    public var mode: ReplicationStatus.Mode {
        [.active, .offline, .idle].first { mode in parts.contains { $0.mode == mode } } ?? .stopped
    }

    /// How many changed documents are done since it was last idle or stopped.
    public var completed: Int { ReplicationProgress(parts).completed }

    /// How many changed documents are known; at least ``completed``.
    public var total: Int { ReplicationProgress(parts).total }

    /// The completed fraction, from 0 to 1; `nil` if there is nothing to do.
    public var fraction: Double? { ReplicationProgress(parts).fraction }

    /// Why a part failed, or can't reach the peer; `nil` again after a success.
    public var error: PeerError? { parts.lazy.compactMap(\.error).first }

    /// How many known conflicts are waiting or being settled.
    public var pendingConflicts: Int { parts.reduce(0) { $0 + $1.pendingConflicts } }
}
