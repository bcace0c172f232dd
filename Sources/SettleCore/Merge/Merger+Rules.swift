extension Merger {
    /// A rule that did not fit, and the reason.
    struct Misfit {
        let rule: MergeRule.Kind
        let why: MergeMisfit
    }

    /// A reason, preceded by the rules that did not fit.
    static func reason(_ reason: MergeReason, after misfits: [Misfit]) -> MergeReason {
        misfits.reversed().reduce(reason) { .fellBack(from: $1.rule, why: $1.why, to: $0) }
    }

    /// Applies a rule and records the decision; records nothing if the rule does not fit.
    mutating func apply(
        _ rule: MergeRule, to member: MergeMember, after misfits: [Misfit] = []
    ) throws(MergeMisfit) -> Result {
        let because = Self.reason(.rule(rule.kind), after: misfits)
        switch rule {
        case .winner: return record(because, on: member, firstChange(of: member))
        case .leave: return record(Self.reason(.left, after: misfits), on: member, .left)
        case .sum: return record(because, on: member, .value(try MergeSum.merge(member, edits: edits(of: member))))
        case .union: return record(because, on: member, .value(try MergeUnion.merge(member)))
        case .lines: return record(because, on: member, .value(try MergeLines.merge(member)))
        case .array(let identity):
            let elements = try MergeElements(member, identifiedBy: identity)
            return recordAround(member, because: because) { $0.merge(elements, of: member, by: rule.kind) }
        case .custom(_, let decide):
            let clash = MergeClash(
                path: member.path.shown, base: member.base, versions: member.versions, changed: member.changed)
            return record(because, on: member, Result(decide(clash)))
        }
    }

    /// Merges the elements of an array by identity.
    private mutating func merge(_ elements: MergeElements, of array: MergeMember, by rule: MergeRule.Kind) -> Result {
        var merged: [JSONValue] = []
        var isComplete = true
        for identity in elements.order {
            let element = MergeMember(elements.values(of: identity), at: array.path.element(identity))
            switch settle(element, by: rule) {
            case .value(let value): merged.append(value)
            case .removed: break
            case .left: isComplete = false
            }
        }
        return isComplete ? .value(.array(merged)) : .left
    }

    /// Decides about one element. A change wins over a removal.
    private mutating func settle(_ element: MergeMember, by rule: MergeRule.Kind) -> Result {
        if let agreed = agreedResult(element, nil) { return agreed }
        if element.areObjects { return recordInside(element, because: .mergedInside) }
        guard element.isRemoved else { return settleClash(element) }
        let kept = element.withoutRemovals
        if kept.areObjects, kept.isClash {
            return recordAround(element, because: .rule(rule)) { $0.mergeInside(kept) }
        }
        return record(.rule(rule), on: element, firstChange(of: kept))
    }
}

// MARK: - MergeElements

/// The elements of an array in the base and in all versions, by identity.
struct MergeElements {
    /// The identities of all elements, in the order of the merge.
    let order: [JSONValue]
    /// The elements of the base, then of each version.
    private let elements: [[JSONValue: JSONValue]]

    /// Reads the arrays of a clash.
    ///
    /// - Complexity: O(*n*) in bytes.
    init(_ member: MergeMember, identifiedBy name: String) throws(MergeMisfit) {
        if member.isRemoved { throw .removed }
        var elements: [[JSONValue: JSONValue]] = []
        var identities: [[JSONValue]] = []
        for value in [member.base] + member.versions {
            guard let array = (value ?? []).array else { throw .notArrays }
            var found: [JSONValue: JSONValue] = [:]
            var order: [JSONValue] = []
            for element in array {
                guard let identity = element.object?[name], identity.string != nil || identity.number != nil,
                    found.updateValue(element, forKey: identity) == nil
                else { throw .noIdentity }
                order.append(identity)
            }
            elements.append(found)
            identities.append(order)
        }
        self.elements = elements
        order = Self.order(of: identities)
    }

    /// The element in the base and in each version; `nil` where it does not exist.
    func values(of identity: JSONValue) -> [JSONValue?] { elements.map { $0[identity] } }

    /// The order of the first version that has moved elements of the base, or of the first version; then the
    /// elements of the remaining versions.
    private static func order(of identities: [[JSONValue]]) -> [JSONValue] {
        let base = identities.first ?? []
        let versions = identities.dropFirst()
        let positions = Dictionary(base.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: min)
        let lead = versions.first { version in
            let kept = version.compactMap { positions[$0] }
            return zip(kept, kept.dropFirst()).contains { $0 > $1 }
        }
        var seen: Set<JSONValue> = []
        return ([lead ?? []] + versions + [base]).joined().filter { seen.insert($0).inserted }
    }
}

// MARK: - MergeUnion

/// Merges arrays as sets.
enum MergeUnion {
    /// The base without the values that any version has removed, followed by the values that versions have added;
    /// each value once.
    ///
    /// - Complexity: O(*n*) in bytes.
    static func merge(_ member: MergeMember) throws(MergeMisfit) -> JSONValue {
        if member.isRemoved { throw .removed }
        guard let base = (member.base ?? []).array else { throw .notArrays }
        var versions: [[JSONValue]] = []
        for change in member.changes {
            guard let array = change?.array else { throw .notArrays }
            versions.append(array)
        }
        let sets = versions.map { Set($0) }
        var merged = base.filter { value in sets.allSatisfy { $0.contains(value) } }
        let known = Set(base)
        for version in versions { merged += version.filter { !known.contains($0) } }
        var seen: Set<JSONValue> = []
        return .array(merged.filter { seen.insert($0).inserted })
    }
}
