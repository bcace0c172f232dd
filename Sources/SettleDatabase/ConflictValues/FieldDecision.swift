public import SettleCore

/// A merge's decision about one field, with the reason.
public struct FieldDecision: Sendable, Hashable {
    /// One side's value.
    public struct Side: Sendable, Hashable {
        /// The revision, or `merge of …` if branches were merged before.
        public let name: String
        /// Its value; `nil` if the field is absent.
        public let value: JSONValue?
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
    /// Whether the field was left in conflict, and with it the document.
    public let isLeft: Bool

    /// Makes the decision of a person about a field, in place of a merge's.
    init(_ decision: FieldDecision, picking result: JSONValue?) {
        (path, base, sides, self.result) = (decision.path, decision.base, decision.sides, result)
        (reason, isClash, isLeft) = ("picked", decision.isClash, false)
    }

    init(_ decision: MergeDecision, names: [String]) {
        func name(_ index: Int) -> String { names.indices.contains(index) ? names[index] : "side \(index)" }
        path = decision.path
        base = decision.base
        sides = decision.versions.enumerated().map { Side(name: name($0.offset), value: $0.element) }
        result = decision.result
        reason = decision.reason.explained(naming: name)
        isLeft = decision.reason.isLeft
        isClash =
            switch decision.reason {
            case .onlyOneChanged, .sameChange, .mergedInside: false
            case .latest: Set(decision.versions.filter { $0 != decision.base }).count > 1
            case .rule, .fellBack, .left: true
            }
    }
}
