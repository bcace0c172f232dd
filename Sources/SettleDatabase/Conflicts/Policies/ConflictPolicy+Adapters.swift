public import SettleCore

extension ConflictPolicy {
    /// A resolver in the shape of Couchbase Lite 2.6: it gets the local and the remote document, a deletion as `nil`,
    /// and returns the one that stays, a changed or new one, or `nil` to delete (SEMANTICS 14–16).
    ///
    ///     .couchbaseLite { id, local, remote in local }                      // local wins
    ///     .couchbaseLite { id, local, remote in remote }                     // remote wins
    ///     .couchbaseLite { id, local, remote in                              // merge
    ///         guard var merged = local, let remote else { return local ?? remote }
    ///         for member in remote.json.object ?? JSONObject() { merged[member.name] = member.value }
    ///         return merged
    ///     }
    ///
    /// Couchbase Lite has only two sides. With more leaves, local and remote are the highest of each kind, and the
    /// others are closed with the one that loses; for more than two use ``custom(_:version:deletions:_:)``.
    public static func couchbaseLite(
        _ resolve:
            @escaping @Sendable (
                _ documentID: DocumentID, _ local: Document?, _ remote: Document?
            ) throws -> Document?
    ) -> ConflictPolicy {
        custom("couchbaseLite", deletions: true) { conflict in
            let local = conflict.local ?? conflict.leaves.first { $0.revision != conflict.remote?.revision }
            let remote = conflict.remote ?? conflict.leaves.first { $0.revision != local?.revision }
            func live(_ side: Document?) -> Document? { side.flatMap { $0.isDeleted ? nil : $0 } }
            let result = try resolve(conflict.documentID, live(local), live(remote))
            return result.map { .document($0) } ?? .delete
        }
    }

    /// A resolver in the shape of Cloudant Sync: it gets all live leaves, the winner first, and returns the one that stays,
    /// changed or not, or `nil` to leave the conflict (SEMANTICS 68–75).
    ///
    ///     .cloudant { id, conflicts in conflicts.first }     // pick first: discards all other edits
    public static func cloudant(
        _ resolve: @escaping @Sendable (_ documentID: DocumentID, _ conflicts: [Document]) throws -> Document?
    ) -> ConflictPolicy {
        custom("cloudant") { conflict in
            try resolve(conflict.documentID, conflict.liveLeaves).map { .document($0) } ?? .leaveConflicted
        }
    }
}
