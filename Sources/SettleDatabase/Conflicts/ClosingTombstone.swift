package import SettleCore

/// The tombstone that closes a losing branch when a conflict is settled.
///
///     3-x ── 4-deleted   {"$closed":"4-y"}                              4-y was written to settle the conflict
///     3-x ── 4-deleted   {"$closed":"4-y","$kept":true}                 4-y existed already, and stayed
///     3-x ── 4-deleted   {"$closed":"4-y","$resolver":"merge@2"}        decided by resolver merge, version 2
///
/// At every peer, the mark distinguishes it from a user's deletion (SEMANTICS K2). It contains nothing else, so
/// every replica that closes the same branch for the same survivor writes the same revision (83).
struct ClosingTombstone: Hashable {
    /// The revision that replaced the branch.
    let survivor: RevisionID
    /// Whether the survivor is an existing edit that stayed. Otherwise it was written to settle the conflict, and
    /// is an answer that may race with other answers.
    let isKept: Bool
    /// The resolver that decided; `nil` if it has no version.
    let resolver: ResolverIdentity?

    init(survivor: RevisionID, isKept: Bool = false, resolver: ResolverIdentity? = nil) {
        self.survivor = survivor
        self.isKept = isKept
        self.resolver = resolver
    }

    /// Reads the mark; `nil` for a body with other members.
    init?(_ body: DocumentBody) {
        guard body.utf8.count > 2, let survivor = body["$closed"]?.string.flatMap({ RevisionID($0) }) else {
            return nil
        }
        let isKept = body["$kept"] == true
        let resolver = body["$resolver"]?.string.map(ResolverIdentity.init(parsing:))
        guard body.json.object?.count == 1 + (isKept ? 1 : 0) + (resolver == nil ? 0 : 1) else { return nil }
        self.init(survivor: survivor, isKept: isKept, resolver: resolver)
    }

    /// The names that a user's tombstone must not have, so that it is not mistaken for a closing tombstone.
    static let names: Set<String> = ["$closed", "$kept", "$resolver"]

    /// The tombstone's members.
    func body() throws -> DocumentBody {
        var members = JSONObject([("$closed", .string(survivor.description))])
        if isKept { members["$kept"] = true }
        if let resolver { members["$resolver"] = .string(resolver.description) }
        return try DocumentBody(.object(members))
    }
}

extension Revision {
    /// The revision for which this tombstone has ended its branch; `nil` if this is another kind of revision.
    package var survivor: RevisionID? { isDeleted ? ClosingTombstone(body)?.survivor : nil }
}

// MARK: - ClosedBranch

/// The end of a branch that a revision of another replica has merged. It is the same tombstone that settling writes
/// here (SEMANTICS 83), so that replicas do not mistake it for a user's deletion (K2).
package struct ClosedBranch: Sendable {
    /// The tombstone and its ancestors.
    package let history: RevisionHistory
    /// The tombstone's members.
    package let body: DocumentBody

    /// Ends a branch.
    ///
    /// - Parameters:
    ///   - leaf: The leaf of the branch and its ancestors.
    ///   - survivor: The revision that has merged it.
    /// - Throws: ``DatabaseError`` with code `invalid` for a leaf of the highest generation, which can't have a
    ///   child.
    package init(_ leaf: RevisionHistory, for survivor: RevisionID) throws {
        let body = try ClosingTombstone(survivor: survivor).body()
        let tombstone = RevisionHasher().revision(of: body, parent: leaf.revision, isDeleted: true)
        guard let history = RevisionHistory([tombstone] + leaf.revisions) else {
            throw DatabaseError(.invalid, "the branch of \(leaf.revision) has reached the highest generation there is")
        }
        (self.history, self.body) = (history, body)
    }
}
