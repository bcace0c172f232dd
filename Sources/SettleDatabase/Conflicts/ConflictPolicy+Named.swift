public import SettleCore

extension ConflictPolicy {
    /// CouchDB's own rule: every leaf stays until a client decides (K4). Settling with it does nothing.
    public static let keepAll = {
        var policy = ConflictPolicy(
            "keepAll", kinds: [.branches],
            .now { _ in
                PolicyDecision(.leaveConflicted, reason: "every leaf is kept")
            })
        policy.endsRaces = false
        return policy
    }()

    /// The winner stays: the live leaf with the most revisions, and among equals the one with the highest id
    /// (SEMANTICS 8, 9). The other edits are discarded; their contents are lost at the next compaction.
    public static let mostRevisions = ConflictPolicy("mostRevisions", kinds: [.branches], .now(keepWinner))

    /// A user's deletion wins, whatever the revision counts; without a deletion the live leaf with the most revisions
    /// wins (SEMANTICS 7–9): Couchbase Lite's default.
    public static let deletesWin = deletesWin(otherwise: .mostRevisions)

    /// A user's deletion wins (SEMANTICS 7); conflicts without a deletion go to another policy.
    public static func deletesWin(otherwise policy: ConflictPolicy) -> ConflictPolicy {
        let name = policy.name == "mostRevisions" ? "deletesWin" : "deletesWin, else \(policy.name)"
        return deletesWin(otherwise: policy, name: name)
    }

    /// The same policy with another name.
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

    /// The policy without the right to delete a document: a conflict that it would settle so stays.
    package var sparingDocuments: ConflictPolicy {
        var sparing = ConflictPolicy(
            name, kinds: kinds, resolver: resolver, details: details,
            .now { conflict in
                let decision = try decideNow(conflict)
                let deletes =
                    switch decision.resolution {
                    case .delete: true
                    case .keep(let revision): conflict.leaf(revision)?.isDeleted ?? false
                    case .document(let document): document.isDeleted
                    case .merged, .leaveConflicted: false
                    }
                guard deletes else { return decision }
                return PolicyDecision(.leaveConflicted, reason: "\(name) would delete the document")
            })
        sparing.endsRaces = endsRaces
        return sparing
    }

    /// The local leaf stays, live or deleted (SEMANTICS 15, 18). The replicas converge, but which edit survives is
    /// arbitrary, because each replica has a different local leaf. Use it for one device and its server. If all
    /// leaves came from peers, the winner stays.
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

// MARK: - Adapters

extension ConflictPolicy {
    /// A resolver in the form of Couchbase Lite 2.6. It gets the local and the remote document, a deletion as
    /// `nil`. It returns the document that stays (one of the two, a changed one or a new one), or `nil` to delete
    /// (SEMANTICS 14–16).
    ///
    ///     .couchbaseLite { id, local, remote in local }                      // local wins
    ///     .couchbaseLite { id, local, remote in remote }                     // remote wins
    ///     .couchbaseLite { id, local, remote in                              // merge
    ///         guard var merged = local, let remote else { return local ?? remote }
    ///         for member in remote.json.object ?? JSONObject() { merged[member.name] = member.value }
    ///         return merged
    ///     }
    ///
    /// Couchbase Lite has only two sides. With more leaves, local and remote are the highest of each kind, and all
    /// other leaves are closed together with the one that loses. For more than two leaves use
    /// ``custom(_:version:deletions:fileID:line:_:)``.
    ///
    /// - Parameters:
    ///   - name: The resolver's name, stored with its decisions if there is a version.
    ///   - version: Its version; raise it when the resolver would decide differently.
    ///   - fileID: The source file of the resolver. Two resolvers without a version are different if their places differ, and a
    ///     database that both settle warns (SEMANTICS 42).
    ///   - line: The line of the resolver.
    ///   - resolve: The resolver. If it throws, the conflict stays and the error is reported (SEMANTICS 27–30).
    /// - Returns: The policy.
    public static func couchbaseLite(
        name: String = "couchbaseLite", version: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ resolve:
            @escaping @Sendable (
                _ documentID: DocumentID, _ local: Document?, _ remote: Document?
            ) throws -> Document?
    ) -> ConflictPolicy {
        custom(name, version: version, deletions: true, fileID: fileID, line: line) { conflict in
            let local = conflict.local ?? conflict.leaves.first { $0.revision != conflict.remote?.revision }
            let remote = conflict.remote ?? conflict.leaves.first { $0.revision != local?.revision }
            func live(_ side: Document?) -> Document? { side.flatMap { $0.isDeleted ? nil : $0 } }
            let result = try resolve(conflict.documentID, live(local), live(remote))
            return result.map { .document($0) } ?? .delete
        }
    }

    /// A resolver in the form of Cloudant Sync. It gets all live leaves, the winner first, and returns the one that
    /// stays, changed or not, or `nil` to leave the conflict (SEMANTICS 68–75).
    ///
    ///     .cloudant { id, conflicts in conflicts.first }     // pick first: discards all other edits
    ///
    /// - Parameters:
    ///   - name: The resolver's name, stored with its decisions if there is a version.
    ///   - version: Its version; raise it when the resolver would decide differently.
    ///   - fileID: The source file of the resolver, as for ``couchbaseLite(name:version:fileID:line:_:)``.
    ///   - line: The line of the resolver.
    ///   - resolve: The resolver. If it throws, the conflict stays and the error is reported (SEMANTICS 27–30).
    /// - Returns: The policy.
    public static func cloudant(
        name: String = "cloudant", version: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ resolve: @escaping @Sendable (_ documentID: DocumentID, _ conflicts: [Document]) throws -> Document?
    ) -> ConflictPolicy {
        custom(name, version: version, fileID: fileID, line: line) { conflict in
            try resolve(conflict.documentID, conflict.liveLeaves).map { .document($0) } ?? .leaveConflicted
        }
    }
}
