/// Merges concurrent versions of a document member by member: the latest change wins.
///
///     John    {"name": "Holiday 2015" @1,    "budget": 50 @3}
///     Marie   {"name": "Family Holidays" @2, "budget": 40 @0}
///             ──────────────────────────────
///     merged  {"name": "Family Holidays" @2, "budget": 50 @3}
///
/// Changes of different members never conflict, and of one member the latest is kept (SEMANTICS 157); a removal is a
/// change like any other. For each path, from the document down:
///
///     all versions are equal there ──────────────────────────────→ it stays
///     they are objects, none written as a whole ─────────────────→ the same again, inside
///     every change there has a known clock ──────────────────────→ the latest, with newer changes inside of it
///     else, a foreign edit changed it ───────────────────┬─ base ─→ as a three-way merge has it (K10)
///                                                        └─ none → no outcome
///
/// So if every change was stamped, the base is not needed, and the outcome is that of all changes in the order of
/// their clocks: merging is commutative, associative and idempotent. A three-way merge of a member keeps the clock
/// of the value that it takes, if there is one; otherwise the time of the member's change stays unknown.
///
/// The outcome depends only on the arguments (SEMANTICS 83): clocks are compared, none is read. Equal clocks with
/// different values, which a restored backup may cause, are ordered by the value (158).
public enum LatestAttributeMerge {
    /// Merges two or more versions of a document.
    ///
    /// Members are in the order of the first version, followed by the other versions' members.
    ///
    /// - Parameters:
    ///   - versions: The versions with their clocks, see ``ClockedDocument``; the CouchDB winner first.
    ///   - base: The common ancestor, with or without clocks; `nil` if it is unavailable.
    ///   - onClash: Decides if several versions changed a member differently at unknown times. If a rule does not
    ///     fit, ``MergeRule/winner`` applies.
    /// - Returns: The merged document with its clocks, or `nil` if a clash was left, and the decisions; `nil` as a
    ///   whole if the base is needed. If the outcome equals one of the versions, it is that version, byte for byte.
    /// - Complexity: O(*n* log *n* · *v*) for *n* bytes in all and *v* versions.
    public static func merge(
        _ versions: [JSONObject], base: JSONObject?, onClash: MergeRule = .winner
    ) -> MergeOutcome? {
        let documents = versions.map { ClockedDocument($0) }
        var base = base
        base?[ClockedDocument.memberName] = nil
        var merger = LatestAttributeMerger(documents, base: base, onClash: onClash)
        guard let root = merger.merge(documents.map(\.root), base: base.map(JSONValue.object), at: .root) else {
            return merger.lacksBase ? nil : MergeOutcome(merged: nil, decisions: merger.decisions)
        }
        let merged = ClockedDocument(root: root).document
        let same = zip(versions, documents).first { version, document in
            document.members.hasSameMembers(as: root.value?.object ?? JSONObject())
                && version[ClockedDocument.memberName] == merged[ClockedDocument.memberName]
        }
        return MergeOutcome(merged: same?.0 ?? merged, decisions: merger.decisions)
    }
}

// MARK: - LatestAttributeMerger

/// Merges the members of clocked documents recursively, and records the decisions.
struct LatestAttributeMerger {
    /// The members of the common ancestor, or `nil` if it is unavailable.
    let base: JSONObject?
    let onClash: MergeRule
    private(set) var decisions: [MergeDecision] = []
    /// Whether a decision needed the base.
    private(set) var lacksBase = false
    /// The member in each version if it is missing: a version without any clocks may have had it.
    private let absent: [ClockedAttribute]

    init(_ documents: [ClockedDocument], base: JSONObject?, onClash: MergeRule) {
        absent = documents.map { $0.hasClocks ? .nothing : ClockedAttribute(nil, clock: nil, isUnknown: true) }
        self.base = base
        self.onClash = onClash
    }

    /// Merges one member.
    ///
    /// - Parameters:
    ///   - versions: The member in each version.
    ///   - value: Its value in the base.
    ///   - path: Its path.
    /// - Returns: The member; `nil` if it is left undecided, or the base is needed.
    mutating func merge(_ versions: [ClockedAttribute], base value: JSONValue?, at path: MergePath) -> ClockedAttribute?
    {
        guard let first = versions.first else { return .nothing }
        if versions.dropFirst().allSatisfy({ $0 == first }) { return first }
        if versions.allSatisfy(\.isPlain) { return mergeInside(versions, base: value, at: path) }
        if versions.allSatisfy(\.isTrusted) {
            let joined = ClockedAttribute.join(versions) ?? .nothing
            record(joined.value, of: versions, base: value, at: path)
            return joined
        }
        return mergeByBase(versions, base: value, at: path)
    }

    private mutating func mergeInside(
        _ versions: [ClockedAttribute], base value: JSONValue?, at path: MergePath
    ) -> ClockedAttribute? {
        var merged = ClockedAttributes()
        var isComplete = true
        for name in ClockedAttributes.names(of: versions.map(\.inside)) {
            let members = zip(versions, absent).map { $0.inside?[name] ?? $1 }
            guard let member = merge(members, base: value?[name], at: path.member(name)) else {
                isComplete = false
                continue
            }
            if member != .nothing { merged.append(name, member) }
        }
        return isComplete ? .object(merged) : nil
    }

    /// Merges a member that a foreign edit changed, using the base.
    private mutating func mergeByBase(
        _ versions: [ClockedAttribute], base value: JSONValue?, at path: MergePath
    ) -> ClockedAttribute? {
        let values = versions.map(\.value)
        if let first = values.first, values.dropFirst().allSatisfy({ $0 == first }) {
            return Self.adopt(first, from: versions)
        }
        guard base != nil else {
            lacksBase = true
            return nil
        }
        var merger = Merger(rules: MergeRules(onClash: onClash), repeats: versions.map { _ in false })
        let result = merger.settle(MergeMember([value] + values, at: path))
        decisions += merger.decisions
        if case .left = result { return nil }
        return Self.adopt(result.value, from: versions)
    }

    /// Gives a value the clocks of the versions that have it. It has no clock if none of them has a trusted clock
    /// for it, or if it replaced a later value; any change based on it is then later than all of them.
    private static func adopt(_ value: JSONValue?, from versions: [ClockedAttribute]) -> ClockedAttribute {
        let trusted = versions.filter { $0.value == value && $0.isTrusted && $0.newest != nil }
        let reach = versions.reduce(nil) { ClockedAttribute.later($0, $1.reach) }
        if let joined = ClockedAttribute.join(trusted), joined.newest == reach { return joined }
        guard let object = value?.object, versions.contains(where: { $0.inside != nil }) else {
            return ClockedAttribute(value, clock: nil, isUnknown: true, after: reach)
        }
        var inside = ClockedAttributes()
        for name in object.names {
            inside.append(name, adopt(object[name], from: versions.map { $0.inside?[name] ?? .nothing }))
        }
        for name in ClockedAttributes.names(of: versions.map(\.inside)) where object[name] == nil {
            inside.append(name, adopt(nil, from: versions.map { $0.inside?[name] ?? .nothing }))
        }
        let bound = versions.reduce(nil) { ClockedAttribute.later($0, $1.inside == nil ? $1.reach : $1.wholeReach) }
        return ClockedAttribute(value, clock: nil, isUnknown: bound != nil, after: bound, inside: inside)
    }

    /// Records a decision by clocks, if there was any.
    private mutating func record(
        _ result: JSONValue?, of versions: [ClockedAttribute], base value: JSONValue?, at path: MergePath
    ) {
        let values = versions.map(\.value)
        guard let first = values.first, values.dropFirst().contains(where: { $0 != first }) else { return }
        let latest = values.firstIndex { $0 == result }
        decisions.append(
            MergeDecision(
                path: path.shown, base: value, versions: values, result: result,
                reason: latest.map(MergeReason.latest) ?? .mergedInside))
    }
}

extension ClockedAttribute {
    /// Whether only its members have to be merged: it is an object that was never written as a whole, or missing.
    fileprivate var isPlain: Bool { !isUnknown && clock == nil && (inside != nil || value == nil) }
}
