public import SettleCore

extension ConflictPolicy {
    /// A three-way merge, member by member, based on the common ancestor.
    ///
    ///     base    {"name": "Milk", "count": 1, "note": "?"}
    ///     winner  {"name": "Milk", "count": 3}                     count changed, note removed
    ///     other   {"name": "Oat milk", "count": 1, "note": "?"}    name changed
    ///     result  {"name": "Oat milk", "count": 3}
    ///
    /// A change on one side is applied, and so is an equal change on several sides, removals included; objects are
    /// merged recursively. Different changes clash, and a rule for that member decides; by default it is the
    /// winner's value. Attachments are merged like members, under `/_attachments`. With more than two branches,
    /// those with the newest common ancestor are merged first.
    ///
    /// A replica without the content of the base leaves the conflict to a replica that has it; it never guesses.
    /// Only documents that were created independently under the same id have the empty document as base.
    ///
    /// - Parameters:
    ///   - rules: How clashes are decided.
    ///   - deletionsWin: Whether a user's deletion wins over a live leaf; otherwise the live leaf stays, as in
    ///     CouchDB.
    /// - Returns: The policy.
    public static func threeWayMerge(_ rules: MergeRules = MergeRules(), deletionsWin: Bool = false) -> ConflictPolicy {
        var merge = ConflictPolicy(
            "threeWayMerge", kinds: [.branches], details: rules.details,
            .now { BranchMerge($0, .threeWay(rules)).decision() })
        merge.isOwnCode = !rules.haveAppCode
        return deletionsWin ? .deletesWin(otherwise: merge) : merge
    }

    /// A three-way merge with one rule for all clashes.
    public static func threeWayMerge(onClash rule: MergeRule) -> ConflictPolicy {
        threeWayMerge(MergeRules(onClash: rule))
    }
}

extension MergeRules {
    /// The rules in words; empty for the default ones.
    fileprivate var details: String {
        let all = [onClash.details] + paths.map { path in "\(path): \(self[path]?.kind.description ?? "")" }
        return all.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension MergeRule {
    /// The rule in words; empty for the default one.
    var details: String { kind == .winner ? "" : kind.description }
}

// MARK: - BranchMerge

/// Merges the leaves of a conflict base by base: those with the newest common ancestor first.
///
/// - Complexity: that of the merges.
struct BranchMerge {
    /// The method for merging versions on a base.
    enum Method: Sendable {
        case threeWay(MergeRules)
        case latestAttribute(onClash: MergeRule)

        /// Merges versions; `nil` if the method needs the base and its content is not kept.
        func merge(_ versions: [JSONObject], base: JSONObject?) -> MergeOutcome? {
            switch self {
            case .threeWay(let rules): base.map { ThreeWayMerge.merge(base: $0, versions: versions, rules: rules) }
            case .latestAttribute(let rule): LatestAttributeMerge.merge(versions, base: base, onClash: rule)
            }
        }
    }

    /// A leaf, or the merge of several.
    private struct Version {
        var members: JSONObject
        var name: String
        /// The leaves whose changes it has, as far as they were not decided against.
        var leaves: [RevisionID]
    }

    private static let attachmentsName = WireAttachment.listName
    /// Those of an empty document. Its list of attachments is there, as in every version: an empty list is no change.
    private static let emptyMembers: JSONObject = [attachmentsName: [:]]

    private let conflict: Conflict
    private let method: Method
    private var versions: [Version]
    private var members: [AttributeDecision] = []

    init(_ conflict: Conflict, _ method: Method) {
        self.conflict = conflict
        self.method = method
        versions = conflict.liveLeaves.map { leaf in
            Version(
                members: leaf.comparedMembers, name: leaf.revision?.description ?? "",
                leaves: leaf.revision.map { [$0] } ?? [])
        }
    }

    /// The decision.
    consuming func decision() -> PolicyDecision {
        guard let steps = conflict.steps else {
            return left(
                "there are \(versions.count) live leaves, more than \(Conflict.maximumMerged) that can be merged")
        }
        for step in steps {
            let concerned = step.versions.map { versions[$0] }
            guard let outcome = method.merge(concerned.map(\.members), base: base(of: step)) else {
                return left(
                    step.isCertain
                        ? "the content of \(name(of: step)), the base of the merge, is not kept here"
                        : "some of its revisions were forgotten, and the base of the merge may be one of them")
            }
            guard apply(outcome, of: concerned, at: step.versions[0]) else {
                return left("a clash is to be left for somebody to decide")
            }
        }
        let merged = versions[0].members
        guard let body = try? DocumentBody(.object(without(merged))) else { return left("the merge can't be stored") }
        let bases = steps.map(name).joined(separator: ", then on ")
        return PolicyDecision(
            .merged(body, attachments: attachments(merged)), reason: "merged member by member on \(bases)",
            attributes: members)
    }

    private func left(_ reason: String) -> PolicyDecision {
        PolicyDecision(.leaveConflicted, reason: reason, attributes: members)
    }

    private func name(of step: MergeStep) -> String {
        if isMissing(step), let former = conflict.formerState?.revision {
            return "\(former), which the peer had when the edits here were made"
        }
        return step.isCertain ? step.base?.description ?? "nothing" : "an unknown revision"
    }

    /// Whether a step's base is not kept, or is unknown because a newer common ancestor may have been stemmed.
    private func isMissing(_ step: MergeStep) -> Bool {
        !step.isCertain || step.base.map { conflict.bases[$0] == nil } ?? false
    }

    /// The members of a step's base, or of the peer's former state that replaces it; `nil` if neither is kept.
    /// Documents that were created independently have the empty document as base.
    private func base(of step: MergeStep) -> JSONObject? {
        guard !isMissing(step) else {
            return conflict.formerState.map(Self.baseMembers)
        }
        guard let base = step.base else { return Self.emptyMembers }
        return conflict.bases[base].map(Self.baseMembers)
    }

    private static func baseMembers(_ base: Document) -> JSONObject {
        base.isDeleted ? emptyMembers : base.comparedMembers
    }

    /// Replaces the first of the versions with their merge; `false` if a clash remains.
    private mutating func apply(_ outcome: MergeOutcome, of concerned: [Version], at place: Int) -> Bool {
        let sides = concerned.map { (name: $0.name, leaves: $0.leaves) }
        members += outcome.decisions.map { AttributeDecision($0, of: sides) }
        guard let merged = outcome.merged else { return false }
        versions[place] = Version(
            members: merged, name: "merge of " + sides.map { $0.name }.joined(separator: " and "),
            leaves: sides.flatMap { $0.leaves })
        return true
    }

    private func without(_ merged: JSONObject) -> JSONObject {
        var members = merged
        members[Self.attachmentsName] = nil
        return members
    }

    /// The merged attachments, found among those of the leaves. An app's rule may have returned a string that is
    /// not an attachment's; then the attachment of the highest leaf stays.
    private func attachments(_ merged: JSONObject) -> [DocumentAttachment] {
        let all = conflict.liveLeaves.flatMap(\.attachments)
        return (merged[Self.attachmentsName]?.object ?? JSONObject()).compactMap { member in
            let named = all.filter { $0.isNamed(member.name) }
            return named.first { .string($0.comparedText) == member.value } ?? named.first
        }
    }
}

extension Document {
    /// The document's members, and its attachments as one more, `_attachments`: an object with a string for each.
    ///
    /// The object is there if it is empty too. Otherwise a document without attachments would have removed the list
    /// as a whole, which clashes with an attachment that another version adds.
    var comparedMembers: JSONObject {
        var members = json.object ?? JSONObject()
        members[WireAttachment.listName] = .object(JSONObject(attachments.map { ($0.name, .string($0.comparedText)) }))
        return members
    }
}

extension DocumentAttachment {
    /// The attachment in words, the same for equal attachments alone.
    fileprivate var comparedText: String { "\(contentType), \(length) bytes, \(digest)" }
}
