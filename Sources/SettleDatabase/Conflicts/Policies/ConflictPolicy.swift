/// A rule that settles conflicts.
///
/// A policy is asked outside of any lock or transaction, unless its caller holds one, on the caller's thread: it may take
/// its time, and may read and write other documents (SEMANTICS 38, 78). Given the same conflict it should always answer the same, whatever the
/// time, the device or the order of arrival (77, 83): then all replicas write the same revisions, and are quiet after one
/// round. It may be asked again about the same document, when that was changed meanwhile (35).
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
/// - ``latestAttributeWins``
/// - ``latestAttributeWins(onClash:deletions:)``
/// - ``latestDocumentWins``
/// - ``latestDocumentWins(deletions:)``
/// ### Rules of an app
/// - ``custom(_:version:deletions:_:)``
/// - ``asking(_:version:deletions:_:)``
/// - ``couchbaseLite(_:)``
/// - ``cloudant(_:)``
public struct ConflictPolicy: Sendable, CustomStringConvertible {
    /// How a policy comes to its decision.
    enum Decider: Sendable {
        case now(@Sendable (Conflict) throws -> PolicyDecision)
        case later(@Sendable (Conflict) async throws -> PolicyDecision)
    }

    /// The policy's name, as the command line and reports have it.
    public let name: String
    /// Whether it decides between live leaves only, or of deletions too.
    public let kinds: Set<ConflictKind>
    /// The name and version stored with what it decides; ready rules have none.
    public var resolver: ResolverIdentity?
    /// How long it may take; without limit unless set. A resolver that takes longer is left behind and the conflict stays
    /// (SEMANTICS 44); its thread can't be stopped, its task is cancelled.
    public var timeLimit: Duration?
    /// Whether it is asked twice about each conflict and reported if it answers differently (K7): for debug builds. A
    /// policy that asks a person asks them twice, too.
    public var checksPurity = false
    /// Whether racing answers are made one before it is asked.
    var endsRaces = true
    let decider: Decider

    init(
        _ name: String, kinds: Set<ConflictKind> = Set(ConflictKind.allCases), resolver: ResolverIdentity? = nil,
        _ decider: Decider
    ) {
        self.name = name
        self.kinds = kinds
        self.resolver = resolver
        self.decider = decider
    }

    /// The policy's name, with its resolver's version if it has one.
    public var description: String { resolver?.description ?? name }
}
