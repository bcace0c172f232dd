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
    /// others are closed with the one that loses; for more than two use ``custom(_:version:deletions:fileID:line:_:)``.
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

    /// A resolver in the shape of Cloudant Sync: it gets all live leaves, the winner first, and returns the one that stays,
    /// changed or not, or `nil` to leave the conflict (SEMANTICS 68–75).
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
