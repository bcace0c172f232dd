/// A rule that settles conflicts.
///
/// A policy is called on the caller's thread, outside of any lock or transaction unless the caller holds one: it may
/// take its time, and may read and write other documents (SEMANTICS 38, 78). It should be deterministic, whatever the
/// time, the device or the order of arrival (77, 83): then all replicas write the same revisions, and converge after
/// one round. It may be called again for the same document, if that was changed meanwhile (35).
///
///     try database.settle("milk", using: .threeWayMerge())
///     try database.settleAll(using: .custom("newest price") { conflict in
///         .keep(…)
///     })
///
/// ## Topics
/// ### Ready rules
/// - ``keepAll``
/// - ``mostRevisions``
/// - ``deletesWin``
/// - ``localWins``
/// - ``remoteWins``
/// - ``threeWayMerge(_:deletionsWin:)``
/// - ``latestFieldWins``
/// - ``latestFieldWins(onClash:deletions:)``
/// - ``latestDocumentWins``
/// - ``latestDocumentWins(deletions:)``
/// ### Rules of an app
/// - ``custom(_:version:deletions:fileID:line:_:)``
/// - ``asking(_:version:deletions:fileID:line:_:)``
/// - ``couchbaseLite(name:version:fileID:line:_:)``
/// - ``cloudant(name:version:fileID:line:_:)``
public struct ConflictPolicy: Sendable, CustomStringConvertible {
    /// How a policy reaches its decision.
    enum Decider: Sendable {
        case now(@Sendable (Conflict) throws -> PolicyDecision)
        case later(@Sendable (Conflict) async throws -> PolicyDecision)
    }

    /// The policy's name, in the command line and in reports.
    public let name: String
    /// Whether it decides only between live leaves, or about deletions too.
    public let kinds: Set<ConflictKind>
    /// The name and version stored with its decisions; built-in rules have none.
    public var resolver: ResolverIdentity?
    /// How long it may take; without limit unless set. After that the conflict stays (SEMANTICS 44). The resolver's
    /// thread can't be stopped and is abandoned; its task is cancelled.
    public var timeLimit: Duration?
    /// Whether it is called twice for each conflict and reported if the answers differ (K7): for debug builds. A policy
    /// that asks a person asks twice, too.
    public var checksPurity = false
    /// Whether racing answers are settled without calling it.
    package var endsRaces = true
    /// Distinguishes policies with one name: the rules of a merge, or the line of the app's code that has the closure.
    let details: String
    let decider: Decider

    init(
        _ name: String, kinds: Set<ConflictKind> = Set(ConflictKind.allCases), resolver: ResolverIdentity? = nil,
        details: String = "", _ decider: Decider
    ) {
        self.name = name
        self.kinds = kinds
        self.resolver = resolver
        self.details = details
        self.decider = decider
    }

    /// The name and version if it has a version, else the name and the ``details``: policies with the same identity count as one
    /// (SEMANTICS 42).
    var identity: String { resolver?.description ?? (details.isEmpty ? name : "\(name) (\(details))") }

    /// The policy's name, with its resolver's version if it has one.
    public var description: String { resolver?.description ?? name }
}
