extension Merger {
    /// A rule that did not fit, and the reason.
    struct Misfit {
        let rule: MergeRule.Kind
        let why: MergeMisfit
    }

    /// A reason with the rules that did not fit before it.
    static func reason(_ reason: MergeReason, after misfits: [Misfit]) -> MergeReason {
        misfits.reversed().reduce(reason) { .fellBack(from: $1.rule, why: $1.why, to: $0) }
    }

    /// Applies a rule and records the decision; records nothing if the rule does not fit.
    mutating func apply(
        _ rule: MergeRule, to member: MergeMember, after misfits: [Misfit] = []
    ) throws(MergeMisfit) -> Result {
        let because = Self.reason(.rule(rule.kind), after: misfits)
        switch rule {
        case .winner: return note(because, on: member, firstChange(of: member))
        case .leave: return note(Self.reason(.left, after: misfits), on: member, .left)
        case .sum: return note(because, on: member, .value(try MergeSum.merge(member, edits: edits(of: member))))
        case .union: return note(because, on: member, .value(try MergeUnion.merge(member)))
        case .lines: return note(because, on: member, .value(try MergeLines.merge(member)))
        case .array(let identity):
            let elements = try MergeElements(member, identifiedBy: identity)
            return noteAround(member, because: because) { $0.merge(elements, of: member, by: rule.kind) }
        case .custom(_, let decide):
            let clash = MergeClash(
                path: member.path.shown, base: member.base, versions: member.versions, changed: member.changed)
            return note(because, on: member, Result(decide(clash)))
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
        if let agreed = takeAgreed(element, nil) { return agreed }
        if element.areObjects { return noteInside(element, because: .mergedInside) }
        guard element.isRemoved else { return settleClash(element) }
        let kept = element.withoutRemovals
        if kept.areObjects, kept.isClash {
            return noteAround(element, because: .rule(rule)) { $0.mergeInside(kept) }
        }
        return note(.rule(rule), on: element, firstChange(of: kept))
    }
}
