internal import SettleCore

extension ConflictPolicy {
    /// CouchDB's own rule: every leaf stays until a client decides (K4); settling with it does nothing.
    public static let keepAll = {
        var policy = ConflictPolicy(
            "keepAll", kinds: [.branches],
            .now { _ in
                PolicyDecision(.leaveConflicted, reason: "every leaf is kept")
            })
        policy.endsRaces = false
        return policy
    }()

    /// The winner stays: the live leaf with the most revisions, the highest id among equals (SEMANTICS 8, 9). The other
    /// edits are discarded; their contents are lost at the next compaction.
    public static let mostRevisions = ConflictPolicy("mostRevisions", kinds: [.branches], .now(keepWinner))

    /// A user's deletion wins, whatever the revision counts; without a deletion the live leaf with the most revisions
    /// wins (SEMANTICS 7–9): Couchbase Lite's default.
    public static let deletesWin = deletesWin(otherwise: .mostRevisions)

    /// A user's deletion wins (SEMANTICS 7); conflicts without one go to another policy.
    public static func deletesWin(otherwise policy: ConflictPolicy) -> ConflictPolicy {
        let name = policy.name == "mostRevisions" ? "deletesWin" : "deletesWin, else \(policy.name)"
        return deletesWin(otherwise: policy, name: name)
    }

    /// The same under another name.
    static func deletesWin(otherwise policy: ConflictPolicy, name: String) -> ConflictPolicy {
        let decider: Decider =
            switch policy.decider {
            case .now(let decide):
                .now { conflict in
                    if let deletion = deletion(in: conflict) { return deletion }
                    return try decide(conflict)
                }
            case .later(let decide):
                .later { conflict in
                    if let deletion = deletion(in: conflict) { return deletion }
                    return try await decide(conflict)
                }
            }
        var both = ConflictPolicy(name, resolver: policy.resolver, details: policy.details, decider)
        both.timeLimit = policy.timeLimit
        both.checksPurity = policy.checksPurity
        return both
    }

    /// The local leaf stays, live or deleted (SEMANTICS 15, 18). The replicas converge, but which edit survives is
    /// arbitrary, because each has another local leaf: use it for one device and its server. If all leaves came from
    /// peers, the winner stays.
    public static let localWins = ConflictPolicy(
        "localWins",
        .now { conflict in
            keep(conflict.local, "it was here") ?? keepWinner(conflict)
        })

    /// The remote leaf stays, live or deleted (SEMANTICS 15, 19). Like ``localWins``, it is for one device and its
    /// server.
    ///
    /// The next push sends a tombstone that closes the local leaf. If the local leaf is the winner, the push also sends the remote
    /// content, as a child of the winner.
    public static let remoteWins = ConflictPolicy(
        "remoteWins",
        .now { conflict in
            keep(conflict.remote, "it came from a peer") ?? keepWinner(conflict)
        })

    @Sendable private static func keepWinner(_ conflict: Conflict) -> PolicyDecision {
        keep(conflict.winner, "it is the winner every read shows") ?? PolicyDecision(.leaveConflicted)
    }

    private static func deletion(in conflict: Conflict) -> PolicyDecision? {
        keep(conflict.deletions.first, "a deletion wins")
    }

    private static func keep(_ leaf: Document?, _ reason: String) -> PolicyDecision? {
        leaf?.revision.map { PolicyDecision(.keep($0), reason: "\($0) stays: \(reason)") }
    }
}
