public import SettleCore

/// A rule that settles conflicts.
///
/// An app's rule is called on the caller's thread, outside any lock or transaction except those of the caller. So it
/// may take long, and may read and write other documents (SEMANTICS 38, 78). It should be deterministic, independent of
/// the time, the device and the order of arrival (77, 83): then all replicas write the same revisions and converge
/// after one round. It may be called again for the same document, if that was changed meanwhile (35).
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
/// - ``custom(_:version:deletions:fileID:line:_:)``
/// - ``asking(_:version:deletions:fileID:line:_:)``
/// - ``couchbaseLite(name:version:fileID:line:_:)``
/// - ``cloudant(name:version:fileID:line:_:)``
public struct ConflictPolicy: Sendable, CustomStringConvertible {
    /// The way in which a policy decides.
    enum Decider: Sendable {
        case now(@Sendable (Conflict) throws -> PolicyDecision)
        case later(@Sendable (Conflict) async throws -> PolicyDecision)
    }

    /// The policy's name, in the command line and in reports.
    public let name: String
    /// The kinds of conflict that it decides.
    public let kinds: Set<ConflictKind>
    /// The name and version stored with its decisions; built-in rules have none.
    public var resolver: ResolverIdentity?
    /// The time that it may take; unlimited by default. After that the conflict stays (SEMANTICS 44). The
    /// resolver's thread can't be stopped and is abandoned; its task is cancelled.
    public var timeLimit: Duration?
    /// Whether it is called twice for each conflict and reported if the answers differ (K7); meant for debug
    /// builds. A policy that asks a person then asks twice, too.
    public var checksPurity = false
    /// Whether racing answers are settled without calling the policy.
    package var endsRaces = true
    /// Whether it runs none of the app's code, which is called on the caller's thread.
    var isOwnCode = false
    /// Distinguishes policies with the same name: the rules of a merge, or the source line of the app's closure.
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

    /// Whether it may decide on another thread, before the conflict's turn.
    var mayRunAhead: Bool { isOwnCode && timeLimit == nil && !checksPurity }

    /// The name and version if it has a version, else the name and the ``details``. Policies with the same identity
    /// count as one (SEMANTICS 42).
    var identity: String { resolver?.description ?? (details.isEmpty ? name : "\(name) (\(details))") }

    /// The policy's name, with its resolver's version if it has one.
    public var description: String { resolver?.description ?? name }
}

// MARK: - PolicyDecision

/// A policy's decision about a conflict, with the reason.
public struct PolicyDecision: Sendable {
    /// The resolution of the conflict.
    public var resolution: Resolution
    /// The reason, in human-readable form.
    public var reason: String
    /// The decisions about single attributes, if the policy merges.
    public var attributes: [AttributeDecision]
    /// Whether the policy answered differently when it was called a second time.
    public internal(set) var isImpure = false

    /// Creates a decision.
    public init(_ resolution: Resolution, reason: String = "", attributes: [AttributeDecision] = []) {
        self.resolution = resolution
        self.reason = reason
        self.attributes = attributes
    }
}

// MARK: - AttributeDecision

/// A merge's decision about one field, with the reason.
public struct AttributeDecision: Sendable, Hashable {
    /// One side's value.
    public struct Side: Sendable, Hashable {
        /// The revision, or `merge of …` if branches were merged before.
        public let name: String
        /// Its value; `nil` if the field is absent.
        public let value: JSONValue?
        /// The leaves that it stands for: one, or those of the branches that were merged before.
        package let leaves: [RevisionID]
    }

    /// The field as a JSON pointer, such as `/address/city`; attachments are under `/_attachments`.
    public let path: String
    /// The value at the base; `nil` if the field was absent.
    public let base: JSONValue?
    /// The values of the sides, the winner's first.
    public let sides: [Side]
    /// The resulting value; `nil` if the field is removed, or left in conflict.
    public let result: JSONValue?
    /// The reason, in human-readable form.
    public let reason: String
    /// Whether the field was changed differently on several sides.
    public let isClash: Bool
    /// Whether the field, and with it the document, was left in conflict.
    public let isLeft: Bool
    /// The rule that decided, after those that did not fit; `nil` if no rule was needed, or a person decided.
    package let rule: MergeRule.Kind?
    /// Whether a person decided, and not the policy.
    package let isPicked: Bool

    /// Replaces a merge's decision about a field with a person's.
    init(_ decision: AttributeDecision, picking result: JSONValue?) {
        (path, base, sides, self.result) = (decision.path, decision.base, decision.sides, result)
        (reason, isClash, isLeft, rule, isPicked) = ("picked", decision.isClash, false, nil, true)
    }

    /// A person's decision about an attribute of a conflict that the policy has not decided by attributes.
    init(picking result: JSONValue?, at path: String, of conflict: Conflict) {
        func value(_ document: Document?) -> JSONValue? { document?.json.object?.value(at: path) }
        let base = value(conflict.base)
        (self.path, self.base, self.result) = (path, base, result)
        sides = conflict.liveLeaves.compactMap { leaf in
            leaf.revision.map { Side(name: $0.description, value: value(leaf), leaves: [$0]) }
        }
        isClash = Set(sides.map(\.value).filter { $0 != base }).count > 1
        (reason, isLeft, rule, isPicked) = ("picked", false, nil, true)
    }

    /// A merge's decision.
    ///
    /// - Parameters:
    ///   - decision: The decision.
    ///   - versions: The name of each version, and the leaves that it stands for.
    init(_ decision: MergeDecision, of versions: [(name: String, leaves: [RevisionID])]) {
        func name(_ index: Int) -> String {
            versions.indices.contains(index) ? versions[index].name : "side \(index)"
        }
        path = decision.path
        base = decision.base
        sides = decision.versions.enumerated().map { index, value in
            Side(
                name: name(index), value: value,
                leaves: versions.indices.contains(index) ? versions[index].leaves : [])
        }
        result = decision.result
        rule = Self.rule(of: decision.reason)
        isPicked = false
        reason = decision.reason.explained(naming: name)
        isLeft = decision.reason.isLeft
        isClash =
            switch decision.reason {
            case .onlyOneChanged, .sameChange, .mergedInside: false
            case .latest: Set(decision.versions.filter { $0 != decision.base }).count > 1
            case .rule, .fellBack, .left: true
            }
    }

    private static func rule(of reason: MergeReason) -> MergeRule.Kind? {
        switch reason {
        case .rule(let kind): kind
        case .fellBack(_, _, let reason): rule(of: reason)
        case .onlyOneChanged, .sameChange, .mergedInside, .latest, .left: nil
        }
    }
}

// MARK: - Resolution

/// How a conflict is resolved.
public enum Resolution: Sendable, Hashable {
    /// One of the leaves survives unchanged; all others are closed.
    ///
    /// If it is the winner, or has the winner's content, only the closing tombstones are written (SEMANTICS 74,
    /// K9). Another leaf's content is written as a child of the winner (70). Closing the winner instead could leave
    /// no live leaf, if another replica concurrently closes this leaf. Keeping a disputed deletion closes the live
    /// leaves.
    case keep(RevisionID)
    /// New content, written as a child of the winner (K8). Its attachments may be those of any leaf or new ones.
    case merged(DocumentBody, attachments: [DocumentAttachment])
    /// A document: a leaf, a changed leaf, or a new document. An unchanged leaf is ``keep(_:)``, anything else
    /// ``merged(_:attachments:)`` (SEMANTICS 15, 26).
    ///
    /// Its id should be the conflict's: another id is reported as a warning, and the content is saved under the
    /// conflict's (21). A document that was read from another database is refused (22).
    case document(Document)
    /// The document is deleted (SEMANTICS 16); a disputed deletion among the leaves stays (17).
    case delete
    /// Nothing changes and the conflict stays, which is not an error (SEMANTICS 75).
    case leaveConflicted

    /// Whether both have the same effect.
    public static func == (left: Resolution, right: Resolution) -> Bool {
        switch (left, right) {
        case (.keep(let left), .keep(let right)): left == right
        case (.merged(let left, let leftAttachments), .merged(let right, let rightAttachments)):
            left == right && leftAttachments == rightAttachments
        case (.document(let left), .document(let right)):
            left.id == right.id && left.revision == right.revision && left.isDeleted == right.isDeleted
                && (try? left.body()) == (try? right.body()) && left.attachments == right.attachments
        case (.delete, .delete), (.leaveConflicted, .leaveConflicted): true
        default: false
        }
    }

    /// Hashes the kind of resolution, without contents.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .keep(let revision): hasher.combine(revision)
        case .merged(let body, _): hasher.combine(body)
        case .document(let document): hasher.combine(document.id)
        case .delete: hasher.combine(1)
        case .leaveConflicted: hasher.combine(2)
        }
    }
}

// MARK: - ResolverIdentity

/// The name and version of a resolver, stored with its decisions.
///
/// Replicas that settle by different rules still converge, but on a revision chosen by its id. An identity makes
/// such a mixed fleet visible: ``Settlement/otherResolvers`` lists earlier resolvers with another name or version.
/// It is part of the closing tombstones and so of their revision ids; all replicas should use the same version.
public struct ResolverIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The resolver's name, without `@`.
    public let name: String
    /// Its version; raise it when the resolver would decide differently.
    public let version: String

    /// Creates an identity; an `@` in the name becomes `-`.
    public init(name: String, version: String) {
        self.name = String(name.map { $0 == "@" ? "-" : $0 })
        self.version = version
    }

    /// Reads `name@version`.
    init(parsing text: String) {
        let at = text.firstIndex(of: "@") ?? text.endIndex
        name = String(text[..<at])
        version = String(text[at...].dropFirst())
    }

    /// `name@version`.
    public var description: String { "\(name)@\(version)" }
}

// MARK: - Custom

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
    ///   - deletions: Whether it also decides about deletions that contradict a live leaf; if not, these deletions
    ///     lose, as in CouchDB.
    ///   - fileID: The source file of the rule. Two rules with the same name and no version are different if their
    ///     places differ, and a database that both settle warns (SEMANTICS 42).
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

    /// A rule that waits, for example for a person who is shown the leaves, or for a service.
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
