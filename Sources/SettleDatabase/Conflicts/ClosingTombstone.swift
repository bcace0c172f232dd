internal import RevisionTree

/// The tombstone that closes a branch which lost when a conflict was settled.
///
///     3-x ── 4-deleted   {"$closed":"4-y"}                              4-y was written in its place
///     3-x ── 4-deleted   {"$closed":"4-y","$kept":true}                 4-y was there already, and stayed
///     3-x ── 4-deleted   {"$closed":"4-y","$resolver":"merge@2"}        so decided resolver merge, version 2
///
/// The mark tells it from a user's deletion, wherever it travels (SEMANTICS K2). Nothing else is in it, so that
/// whoever closes the same branch for the same survivor writes the same revision (83).
struct ClosingTombstone: Hashable {
    /// The revision that took the branch's place.
    let survivor: RevisionID
    /// Whether the survivor is an edit that was there and stayed; else it was written to settle the conflict, and is an
    /// answer that may race with others.
    let isKept: Bool
    /// The resolver that decided so, if it has a name.
    let resolver: ResolverIdentity?

    init(survivor: RevisionID, isKept: Bool = false, resolver: ResolverIdentity? = nil) {
        self.survivor = survivor
        self.isKept = isKept
        self.resolver = resolver
    }

    /// Reads the mark; `nil` for a body that holds anything else.
    init?(_ body: DocumentBody) {
        guard body.utf8.count > 2, let survivor = body["$closed"]?.string.flatMap({ RevisionID($0) }) else {
            return nil
        }
        let isKept = body["$kept"] == true
        let resolver = body["$resolver"]?.string.map(ResolverIdentity.init(parsing:))
        guard body.json.object?.count == 1 + (isKept ? 1 : 0) + (resolver == nil ? 0 : 1) else { return nil }
        self.init(survivor: survivor, isKept: isKept, resolver: resolver)
    }

    /// The names a user's tombstone can't keep, or it might be taken for one that closes a branch.
    static let names: Set<String> = ["$closed", "$kept", "$resolver"]

    /// The tombstone's members.
    func body() throws -> DocumentBody {
        var members = JSONObject([("$closed", .string(survivor.description))])
        if isKept { members["$kept"] = true }
        if let resolver { members["$resolver"] = .string(resolver.description) }
        return try DocumentBody(.object(members))
    }
}
