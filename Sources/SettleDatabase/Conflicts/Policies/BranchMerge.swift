internal import RevisionTree

/// Merges the leaves of a conflict, branch point by branch point.
///
///     1-a ─┬─ 2-b ─┬─ 3-c        first 3-c and 3-d on 2-b, which makes a version at 2-b;
///          │       └─ 3-d        then that one and 2-x on 1-a
///          └─ 2-x
///
/// - Complexity: O(*l* *b* *d*) for *l* leaves, *b* branch points and paths of *d* revisions, besides the merges.
struct BranchMerge {
    /// A leaf, or what was merged of several.
    private struct Version {
        /// The revision its path is looked for at.
        var place: RevisionID
        var members: JSONObject
        var name: String
    }

    private static let attachmentsName = "_attachments"

    private let conflict: Conflict
    private let rules: MergeRules
    private var versions: [Version]
    /// The revisions where branches part that are still to be merged on, ascending.
    private var points: [RevisionID]
    private var members: [MemberDecision] = []

    init(_ conflict: Conflict, _ rules: MergeRules) {
        self.conflict = conflict
        self.rules = rules
        points = conflict.branchPoints
        versions = conflict.liveLeaves.compactMap { leaf in
            leaf.revision.map { Version(place: $0, members: Self.members(of: leaf), name: $0.description) }
        }
    }

    /// The decision.
    consuming func decision() -> PolicyDecision {
        var bases: [String] = []
        while versions.count > 1 {
            guard let (point, base) = nextBase() else {
                return PolicyDecision(
                    .leaveConflicted,
                    reason:
                        "the content of the revision where the branches part is not kept here, so they can't be merged",
                    members: members)
            }
            bases.append(point?.description ?? "nothing")
            guard merge(at: point, base) else {
                return PolicyDecision(
                    .leaveConflicted, reason: "a clash is to be left for somebody to decide", members: members)
            }
        }
        let merged = versions[0].members
        let reason = "merged member by member on \(bases.joined(separator: ", then on "))"
        guard let body = try? DocumentBody(.object(without(merged))) else {
            return PolicyDecision(.leaveConflicted, reason: "the merge can't be stored", members: members)
        }
        return PolicyDecision(.merged(body, attachments: attachments(merged)), reason: reason, members: members)
    }

    /// The newest revision where branches part, with its members; `nil` when that content is not kept. The revision is
    /// `nil` where no paths meet, which has the empty document as base if all were created apart.
    private mutating func nextBase() -> (RevisionID?, JSONObject)? {
        guard let newest = points.popLast() else {
            let roots = versions.map { version in
                conflict.tree.history(of: version.place)?.revisions.last?.generation
            }
            return roots.allSatisfy { $0 == 1 } ? (nil, JSONObject()) : nil
        }
        return conflict.bases[newest].map { (newest, $0.isDeleted ? JSONObject() : Self.members(of: $0)) }
    }

    /// Merges the versions whose paths meet at a revision; false when a clash is left.
    private mutating func merge(at point: RevisionID?, _ base: JSONObject) -> Bool {
        let isConcerned = versions.map { version in
            point.map { conflict.tree.isAncestor($0, of: version.place) } ?? true
        }
        let concerned = zip(versions, isConcerned).filter(\.1).map(\.0)
        let outcome = ThreeWayMerge.merge(base: base, versions: concerned.map(\.members), rules: rules)
        let names = concerned.map(\.name)
        members += outcome.decisions.map { MemberDecision($0, names: names) }
        guard let merged = outcome.merged, let first = isConcerned.firstIndex(of: true) else { return false }
        versions[first].members = merged
        versions[first].place = point ?? versions[first].place
        versions[first].name = "merge of " + names.joined(separator: " and ")
        for index in versions.indices.reversed() where isConcerned[index] && index > first {
            versions.remove(at: index)
        }
        return true
    }

    /// A document's members, and its attachments as one more: each a text that is merged as a whole.
    private static func members(of document: Document) -> JSONObject {
        var members = document.json.object ?? JSONObject()
        if !document.attachments.isEmpty {
            let attachments = document.attachments.map { ($0.name, JSON.string(text(of: $0))) }
            members[attachmentsName] = .object(JSONObject(attachments))
        }
        return members
    }

    private static func text(of attachment: Attachment) -> String {
        "\(attachment.contentType), \(attachment.length) bytes, \(attachment.digest)"
    }

    private func without(_ merged: JSONObject) -> JSONObject {
        var members = merged
        members[Self.attachmentsName] = nil
        return members
    }

    /// The attachments the merge names, found among those of the leaves.
    private func attachments(_ merged: JSONObject) -> [Attachment] {
        let all = conflict.liveLeaves.flatMap(\.attachments)
        return (merged[Self.attachmentsName]?.object ?? JSONObject()).compactMap { member in
            all.first { $0.isNamed(member.name) && .string(Self.text(of: $0)) == member.value }
        }
    }
}
