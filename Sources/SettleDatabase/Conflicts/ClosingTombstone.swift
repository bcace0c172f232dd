internal import RevisionTree

/// The tombstone that closes a branch which lost when a conflict was settled.
///
///     3-x ── 4-deleted   {"$closed":"4-y"}                                       4-y survived
///     3-x ── 4-deleted   {"$closed":"4-y","$resolver":"merge@2"}                 so decided resolver merge, version 2
///
/// The mark tells it from a user's deletion, wherever it travels (SEMANTICS K2). Nothing else is in it, so that
/// whoever closes the same branch for the same survivor writes the same revision (83).
struct ClosingTombstone: Hashable {
    /// The revision that took the branch's place.
    let survivor: RevisionID
    /// The resolver that decided so, if it has a name.
    let resolver: ResolverIdentity?

    init(survivor: RevisionID, resolver: ResolverIdentity? = nil) {
        self.survivor = survivor
        self.resolver = resolver
    }

    /// Reads the mark; `nil` for a body that holds anything else.
    init?(_ body: DocumentBody) {
        guard body.utf8.count > 2, let survivor = body["$closed"]?.string.flatMap({ RevisionID($0) }) else {
            return nil
        }
        let resolver = body["$resolver"]?.string.map(ResolverIdentity.init(parsing:))
        guard body.json.object?.count == (resolver == nil ? 1 : 2) else { return nil }
        self.init(survivor: survivor, resolver: resolver)
    }

    /// The tombstone's members.
    func body() throws -> DocumentBody {
        var members = JSONObject([("$closed", .string(survivor.description))])
        if let resolver { members["$resolver"] = .string(resolver.description) }
        return try DocumentBody(.object(members))
    }
}
