extension ConflictPolicy {
    /// An app's own rule.
    ///
    ///     let newest = ConflictPolicy.custom("newest", version: "1") { conflict in
    ///         let newest = conflict.leaves.max { ($0["date"]?.string ?? "") < ($1["date"]?.string ?? "") }
    ///         return newest.map { .document($0) } ?? .leaveConflicted
    ///     }
    ///
    /// - Parameters:
    ///   - name: The rule's name, stored with its decisions if there is a version.
    ///   - version: Its version; raise it when the rule would decide differently.
    ///   - deletions: Whether it also decides about deletions that contradict a live leaf; otherwise those lose, as in
    ///     CouchDB.
    ///   - fileID: The source file of the rule. Two rules with one name and no version are different if their places differ, and a
    ///     database that both settle warns (SEMANTICS 42).
    ///   - line: The line of the rule.
    ///   - resolve: The rule. If it throws, the conflict stays and the error is reported (SEMANTICS 27–30).
    /// - Returns: The policy.
    public static func custom(
        _ name: String, version: String? = nil, deletions: Bool = false, fileID: StaticString = #fileID,
        line: UInt = #line, _ resolve: @escaping @Sendable (Conflict) throws -> Resolution
    ) -> ConflictPolicy {
        ConflictPolicy(
            name, kinds: kinds(deletions), resolver: version.map { ResolverIdentity(name: name, version: $0) },
            details: "\(fileID):\(line)",
            .now { PolicyDecision(try resolve($0), reason: "\(name) decided") })
    }

    /// A rule that waits: for a person who is shown the leaves, or for a service.
    ///
    /// Such a policy needs the asynchronous calls, ``Database/settle(_:asking:)`` or
    /// ``Database/settleAutomatically(using:sweepEvery:atOnce:)``. It holds no lock while it waits.
    ///
    /// - Parameters:
    ///   - name: The rule's name, stored with its decisions if there is a version.
    ///   - version: Its version; raise it when the rule would decide differently.
    ///   - deletions: Whether it also decides about deletions that contradict a live leaf.
    ///   - fileID: The source file of the rule, as for ``custom(_:version:deletions:fileID:line:_:)``.
    ///   - line: The line of the rule.
    ///   - resolve: The rule.
    /// - Returns: The policy.
    public static func asking(
        _ name: String, version: String? = nil, deletions: Bool = false, fileID: StaticString = #fileID,
        line: UInt = #line, _ resolve: @escaping @Sendable (Conflict) async throws -> Resolution
    ) -> ConflictPolicy {
        ConflictPolicy(
            name, kinds: kinds(deletions), resolver: version.map { ResolverIdentity(name: name, version: $0) },
            details: "\(fileID):\(line)",
            .later { PolicyDecision(try await resolve($0), reason: "\(name) decided") })
    }

    private static func kinds(_ deletions: Bool) -> Set<ConflictKind> {
        deletions ? Set(ConflictKind.allCases) : [.branches]
    }
}
