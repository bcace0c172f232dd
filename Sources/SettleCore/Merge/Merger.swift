/// Descends into the members, decides about each, and records the reasons.
struct Merger {
    /// The result for a member.
    enum Result {
        case value(JSONValue)
        case removed
        case left

        init(_ value: JSONValue?) { self = value.map(Result.value) ?? .removed }

        var value: JSONValue? { if case .value(let value) = self { value } else { nil } }
    }

    let rules: MergeRules
    /// For each version, whether an earlier one is equal as a whole.
    let repeats: [Bool]
    private(set) var decisions: [MergeDecision] = []

    init(rules: MergeRules, repeats: [Bool]) {
        self.rules = rules
        self.repeats = repeats
    }

    /// Merges objects member by member.
    mutating func mergeInside(_ object: MergeMember) -> Result {
        var merged = JSONObject()
        var isComplete = true
        for (name, member) in object.inside {
            switch settle(member) {
            case .value(let value): merged[name] = value
            case .removed: break
            case .left: isComplete = false
            }
        }
        return isComplete ? .value(.object(merged)) : .left
    }

    /// Decides about one member.
    mutating func settle(_ member: MergeMember) -> Result {
        let rule = rules[member.path.rule]
        if let agreed = agreedResult(member, rule) { return agreed }
        var misfits: [Misfit] = []
        if let rule {
            do throws(MergeMisfit) { return try apply(rule, to: member) } catch {
                misfits.append(Misfit(rule: rule.kind, why: error))
            }
        }
        if member.areObjects { return recordInside(member, because: Self.reason(.mergedInside, after: misfits)) }
        return settleClash(member, misfits)
    }

    /// Returns the result if there is nothing to decide: no version changed the member, or all changes agree.
    /// Counters add up even then.
    mutating func agreedResult(_ member: MergeMember, _ rule: MergeRule?) -> Result? {
        guard let first = member.changed.first else { return Result(member.versions.first ?? member.base) }
        if member.isClash { return nil }
        let value = Result(member.versions[first])
        if member.changed.count == 1 { return record(.onlyOneChanged(first), on: member, value) }
        if edits(of: member).count > 1, rules.mayCount(member.path), let counted = count(member, rule) {
            return counted
        }
        return record(.sameChange(member.changed), on: member, value)
    }

    /// Adds up equal changes of several versions, to this member or inside; `nil` if there is no counter.
    private mutating func count(_ member: MergeMember, _ rule: MergeRule?) -> Result? {
        switch rule {
        case .sum?, .array?: rule.flatMap { try? apply($0, to: member) }
        case nil where member.areObjects: recordInside(member, because: .mergedInside)
        default: nil
        }
    }

    /// The versions that have changed a member, without those that are equal to an earlier one as a whole.
    func edits(of member: MergeMember) -> [Int] { member.changed.filter { !repeats[$0] } }

    /// Decides a clash by the rule for all members, or for the winner if that rule does not fit.
    mutating func settleClash(_ member: MergeMember, _ misfits: [Misfit] = []) -> Result {
        do throws(MergeMisfit) { return try apply(rules.onClash, to: member, after: misfits) } catch {
            let all = misfits + [Misfit(rule: rules.onClash.kind, why: error)]
            return record(Self.reason(.rule(.winner), after: all), on: member, firstChange(of: member))
        }
    }

    /// The value in the first version that changed a member.
    func firstChange(of member: MergeMember) -> Result { Result(member.changes.first ?? member.base) }

    /// Merges the inside of an object; its own decision comes before those about its members.
    mutating func recordInside(_ member: MergeMember, because reason: MergeReason) -> Result {
        recordAround(member, because: reason) { $0.mergeInside(member) }
    }

    /// Records a decision whose result depends on the decisions about the members inside.
    mutating func recordAround(
        _ member: MergeMember, because reason: MergeReason, decide: (inout Merger) -> Result
    ) -> Result {
        let place = decisions.count
        _ = record(reason, on: member, .left)
        let result = decide(&self)
        decisions[place].result = result.value
        return result
    }

    /// Records a decision.
    mutating func record(_ reason: MergeReason, on member: MergeMember, _ result: Result) -> Result {
        decisions.append(
            MergeDecision(
                path: member.path.shown, base: member.base, versions: member.versions, result: result.value,
                reason: reason))
        return result
    }
}

/// The decision about one changed member, and its reason.
public struct MergeDecision: Hashable, Sendable {
    /// The member's JSON Pointer. An element of an array merged by identity is named by its identity instead of its
    /// index.
    public let path: String
    /// The value from which all versions started; `nil` if the member did not exist.
    public let base: JSONValue?
    /// Each version's value; `nil` if the member does not exist in it.
    public let versions: [JSONValue?]
    /// The merged value; `nil` if the member was removed, or if it or a member inside it was left undecided.
    public internal(set) var result: JSONValue?
    /// The reason.
    public let reason: MergeReason
}
