internal import SettleCore

/// Compares the leaves of a conflict with its base and with the result, for a ``SettlementEffect``.
///
/// Members are compared as three-way merges do: objects member by member, everything else as a whole. The clocks of
/// members are no members of their own.
struct EffectComparison {
    /// A live leaf.
    private struct Leaf {
        let revision: RevisionID
        let members: JSONObject
    }

    /// A common ancestor of some live leaves that is newer than the base.
    private struct Ancestor {
        let members: JSONObject
        /// The positions of those leaves.
        let leaves: [Int]
    }

    private(set) var rows: [SettlementEffect.Row] = []
    private(set) var rowCount = 0
    private(set) var losses: [SettlementEffect.Loss] = []
    private(set) var lossCount = 0
    private(set) var clashCount = 0
    let isBaseKnown: Bool

    private let outcome: SettlementEffect.Outcome
    private let base: JSONObject
    private let hasBase: Bool
    private let leaves: [Leaf]
    private let deletions: [RevisionID]
    /// The members of the result; `nil` if the document is deleted or the conflict is left.
    private let result: JSONObject?
    private var ancestors: [Ancestor] = []
    /// The decisions by the bytes of their paths, in the order of the steps of a merge.
    private var attributes: [[UInt8]: [AttributeDecision]] = [:]
    /// The members that a person decided.
    private var picked: [String] = []
    /// The values that rows may have in all.
    private var valuesLeft = 100_000

    private static let attachments = WireAttachment.listName
    private static let attachmentsPath = "/" + WireAttachment.listName

    /// Prepares the comparison of a preview, whose outcome and remaining content are known.
    init(_ preview: SettlementPreview, _ outcome: SettlementEffect.Outcome, _ content: Document?) {
        let conflict = preview.conflict
        self.outcome = outcome
        hasBase = conflict.base != nil
        switch conflict.missingBase {
        case nil, .noCommonRevision?: isBaseKnown = true
        case .unknown?, .contentNotKept?: isBaseKnown = false
        }
        base = Self.members(of: conflict.base.flatMap { $0.isDeleted ? nil : $0 })
        result = content.map { Self.members(of: $0) }
        // Racing answers are settled among themselves; other leaves stay in conflict.
        let answers = preview.decision == nil ? conflict.race.map { Set($0.answers) } : nil
        leaves = conflict.liveLeaves.compactMap { leaf in
            guard let revision = leaf.revision, answers?.contains(revision) ?? true else { return nil }
            return Leaf(revision: revision, members: Self.members(of: leaf))
        }
        deletions = conflict.deletions.compactMap(\.revision)
        if answers == nil { ancestors = ancestors(in: conflict) }
        for attribute in preview.decision?.attributes ?? [] {
            attributes[Array(attribute.path.utf8), default: []].append(attribute)
            if attribute.isPicked { picked.append(attribute.path) }
        }
    }

    /// Fills rows and losses.
    mutating func run() {
        compareWholes()
        collect(
            .object(base), leaves.map { JSONValue.object($0.members) }, result.map { JSONValue.object($0) }, at: "")
        guard outcome != .leaves else { return }
        for index in leaves.indices {
            compare(
                .object(base), .object(leaves[index].members), result.map { JSONValue.object($0) }, at: "", of: index)
        }
    }

    /// The members, and the attachments as one more: each an object that is compared as a whole.
    private static func members(of document: Document?) -> JSONObject {
        var members = document?.json.object ?? JSONObject()
        members[ClockedDocument.memberName] = nil
        let attachments = (document?.attachments ?? []).map { attachment -> (String, JSONValue) in
            (
                attachment.name,
                [
                    "content_type": .string(attachment.contentType), "length": .number(JSONNumber(attachment.length)),
                    "digest": .string(attachment.digest.description),
                ]
            )
        }
        members[Self.attachments] = .object(JSONObject(attachments))
        return members
    }

    private func ancestors(in conflict: Conflict) -> [Ancestor] {
        guard let steps = conflict.steps, steps.count > 1 else { return [] }
        var groups = leaves.indices.map { [$0] }
        return steps.compactMap { step in
            let members = step.versions.flatMap { groups[$0] }
            if let first = step.versions.first { groups[first] = members }
            guard step.isCertain, let base = step.base.flatMap({ conflict.bases[$0] }), !base.isDeleted else {
                return nil
            }
            return Ancestor(members: Self.members(of: base), leaves: members)
        }
    }

    private static func isAttachment(_ path: String) -> Bool { path.hasPrefix(attachmentsPath + "/") }
}

// MARK: - Losses

extension EffectComparison {
    /// Lists what is lost as a whole: the document, or deletions of it.
    private mutating func compareWholes() {
        switch outcome {
        case .deletes: if let first = leaves.first { lose(first.revision, "", .document) }
        case .keeps, .merges: for deletion in deletions { lose(deletion, "", .deletion) }
        case .leaves: break
        }
    }

    private mutating func lose(
        _ leaf: RevisionID, _ path: String, _ kind: SettlementEffect.Loss.Kind, _ value: JSONValue? = nil
    ) {
        lossCount += 1
        guard losses.count < SettlementEffect.maximumLosses else { return }
        losses.append(SettlementEffect.Loss(leaf: leaf, path: path, kind: kind, value: value))
    }

    /// Lists the changes of a leaf that are not in the result.
    private mutating func compare(
        _ base: JSONValue?, _ value: JSONValue?, _ result: JSONValue?, at path: String, of index: Int
    ) {
        let revision = leaves[index].revision
        if value == base || value == result || isJoined(path, revision, result) { return }
        if let elements = elements(base, value, result, at: path) {
            for (identity, base, value, result) in elements {
                compare(base, value, result, at: MergePath.pointer(path, identity), of: index)
            }
            return
        }
        let isAttachment = Self.isAttachment(path)
        if !isAttachment, let members = value?.object, base?.object != nil || result?.object != nil {
            let (before, after) = (base?.object ?? JSONObject(), result?.object)
            for member in members {
                compare(
                    before[member.name], member.value, after?[member.name],
                    at: MergePath.pointer(path, member.name), of: index)
            }
            for member in before where members[member.name] == nil {
                compare(member.value, nil, after?[member.name], at: MergePath.pointer(path, member.name), of: index)
            }
            return
        }
        if isSuperseded(value, result, at: path, of: index) { return }
        lose(revision, path, value == nil ? .removal : isAttachment ? .attachment : .value, value)
    }

    /// Whether a rule that joins values has put a leaf's change into the result.
    ///
    /// A merge of branches goes step by step: one step may join values, and another one decide against some.
    private func isJoined(_ path: String, _ leaf: RevisionID, _ result: JSONValue?) -> Bool {
        var hasJoined = false
        var value: JSONValue?
        for attribute in attributes[Array(path.utf8)] ?? [] {
            guard let side = attribute.sides.first(where: { $0.leaves.contains(leaf) }) else { continue }
            if attribute.isJoined {
                hasJoined = hasJoined || side.value != attribute.base
            } else if attribute.result != side.value {
                return false
            }
            value = attribute.result
        }
        return hasJoined && value != nil && value == result
    }

    /// Whether another leaf has replaced a value knowingly, by a change that is in the result: both have an ancestor
    /// with that value.
    private func isSuperseded(
        _ value: JSONValue?, _ result: JSONValue?, at path: String, of index: Int
    ) -> Bool {
        ancestors.contains { ancestor in
            guard ancestor.leaves.contains(index), ancestor.members.value(at: path) == value else { return false }
            return ancestor.leaves.contains { other in
                let change = leaves[other].members.value(at: path)
                return change != value && (change == result || isJoined(path, leaves[other].revision, result))
            }
        }
    }

    /// The elements of arrays that were merged by an identity, each with its identity; `nil` for all other values.
    private func elements(
        _ base: JSONValue?, _ value: JSONValue?, _ result: JSONValue?, at path: String
    ) -> [(identity: String, base: JSONValue?, value: JSONValue?, result: JSONValue?)]? {
        let names = (attributes[Array(path.utf8)] ?? []).compactMap { attribute -> String? in
            if case .array(let name)? = attribute.rule { name } else { nil }
        }
        guard let name = names.first, value?.array != nil, let old = Self.elements(of: base ?? [], by: name),
            let own = Self.elements(of: value ?? [], by: name), let new = Self.elements(of: result ?? [], by: name)
        else { return nil }
        return (own.order + old.order.filter { own.byIdentity[$0] == nil }).map { identity in
            (
                identity.string ?? identity.description, old.byIdentity[identity], own.byIdentity[identity],
                new.byIdentity[identity]
            )
        }
    }

    private static func elements(
        of value: JSONValue, by name: String
    ) -> (order: [JSONValue], byIdentity: [JSONValue: JSONValue])? {
        guard let array = value.array else { return nil }
        var (order, byIdentity) = ([JSONValue](), [JSONValue: JSONValue]())
        for element in array {
            guard let identity = element.object?[name], byIdentity.updateValue(element, forKey: identity) == nil else {
                return nil
            }
            order.append(identity)
        }
        return (order, byIdentity)
    }
}

extension AttributeDecision {
    /// Whether a rule has joined the changes of all sides.
    fileprivate var isJoined: Bool {
        switch rule {
        case .sum?, .union?, .lines?: true
        case .winner?, .array?, .leave?, .custom?, nil: false
        }
    }
}

// MARK: - Rows

extension EffectComparison {
    /// Adds the rows of a member and of those inside of it.
    private mutating func collect(
        _ base: JSONValue?, _ values: [JSONValue?], _ result: JSONValue?, at path: String
    ) {
        let versions = self.result == nil ? values : values + [result]
        let changed = Set(versions.filter { $0 != base })
        guard !changed.isEmpty else { return }
        // Without a base, what is the same everywhere is no change.
        if !hasBase, !path.isEmpty, Set(versions).count == 1 { return }
        let areObjects = base?.object != nil || base == nil && changed.count > 1
        if areObjects, !Self.isAttachment(path), changed.allSatisfy({ $0?.object != nil }) {
            let objects = (versions + [base]).map { $0?.object }
            var names = JSONObject()
            for object in objects { for member in object ?? JSONObject() { names[member.name] = .null } }
            for name in names.names {
                collect(
                    base?.object?[name], values.map { $0?.object?[name] }, result?.object?[name],
                    at: MergePath.pointer(path, name))
            }
            return
        }
        add(base, values, result, at: path)
    }

    private mutating func add(
        _ base: JSONValue?, _ values: [JSONValue?], _ result: JSONValue?, at path: String
    ) {
        let decided = decisions(at: path)
        let isClash =
            attributes[Array(path.utf8)]?.contains(where: \.isClash) ?? (Set(values.filter { $0 != base }).count > 1)
        rowCount += 1
        if isClash { clashCount += 1 }
        let groups = Self.groups(values, leaves.map(\.revision))
        guard rows.count < SettlementEffect.maximumRows, valuesLeft >= groups.count else { return }
        valuesLeft -= groups.count
        let sources =
            self.result == nil
            ? []
            : leaves.indices.filter { index in
                values[index] != base
                    && (values[index] == result || isJoined(path, leaves[index].revision, result)
                        || isMergedByElements(path, base, values[index], result, of: index))
            }.map { leaves[$0].revision }
        rows.append(
            SettlementEffect.Row(
                path: path, base: base, values: groups, result: result, sources: sources,
                reason: reason(path, decided, result, base, sources), isClash: isClash,
                isLeft: outcome == .leaves && decided.contains(where: \.isLeft),
                isPicked: outcome != .deletes && isPicked(path)))
    }

    /// The different values, each with its leaves, in the order of the leaves.
    private static func groups(_ values: [JSONValue?], _ leaves: [RevisionID]) -> [SettlementEffect.Row.Value] {
        var places: [JSONValue?: Int] = [:]
        var groups: [(value: JSONValue?, leaves: [RevisionID])] = []
        for (value, leaf) in zip(values, leaves) {
            if let place = places[value] {
                groups[place].leaves.append(leaf)
            } else {
                places[value] = groups.count
                groups.append((value, [leaf]))
            }
        }
        return groups.map { SettlementEffect.Row.Value(value: $0.value, leaves: $0.leaves) }
    }

    /// Whether the elements of a leaf's array were merged by identity, and none of its changes was lost.
    private func isMergedByElements(
        _ path: String, _ base: JSONValue?, _ value: JSONValue?, _ result: JSONValue?, of index: Int
    ) -> Bool {
        guard elements(base, value, result, at: path) != nil else { return false }
        var alone = self
        (alone.losses, alone.lossCount) = ([], 0)
        alone.compare(base, value, result, at: path, of: index)
        return alone.lossCount == 0
    }

    /// The decisions about a member, or else about the nearest object around it.
    private func decisions(at path: String) -> [AttributeDecision] {
        if attributes.isEmpty { return [] }
        var rest = path[...]
        while true {
            if let found = attributes[Array(rest.utf8)] { return found }
            guard let slash = rest.lastIndex(of: "/") else { return [] }
            rest = rest[..<slash]
        }
    }

    /// Whether a person decided about a member, something inside of it, or an object around it.
    private func isPicked(_ path: String) -> Bool {
        picked.contains { $0 == path || $0.hasPrefix(path + "/") || path.hasPrefix($0 + "/") }
    }

    private func reason(
        _ path: String, _ decided: [AttributeDecision], _ result: JSONValue?, _ base: JSONValue?,
        _ sources: [RevisionID]
    ) -> String {
        if outcome == .deletes { return "the document is deleted" }
        if isPicked(path) { return "picked" }
        if let last = decided.last { return last.reason }
        if case .keeps(let revision) = outcome { return "\(revision) stays" }
        if outcome == .leaves { return "every leaf stays" }
        if let source = sources.first { return "the value of \(source)" }
        return result == base ? "as in the base" : "a value that no leaf has"
    }
}
