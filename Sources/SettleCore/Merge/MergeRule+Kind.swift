extension MergeRule {
    /// A rule without its function, for comparison and display.
    public enum Kind: Hashable, Sendable {
        /// See ``MergeRule/winner``.
        case winner
        /// See ``MergeRule/sum``.
        case sum
        /// See ``MergeRule/union``.
        case union
        /// See ``MergeRule/array(identifiedBy:)``.
        case array(identifiedBy: String)
        /// See ``MergeRule/lines``.
        case lines
        /// See ``MergeRule/leave``.
        case leave
        /// See ``MergeRule/custom(_:_:)``.
        case custom(String)
    }

    /// The rule without its function.
    public var kind: Kind {
        switch self {
        case .winner: .winner
        case .sum: .sum
        case .union: .union
        case .array(let identity): .array(identifiedBy: identity)
        case .lines: .lines
        case .leave: .leave
        case .custom(let name, _): .custom(name)
        }
    }
}

extension MergeRule.Kind: CustomStringConvertible {
    /// The rule's name in plain words.
    public var description: String {
        switch self {
        case .winner: "winner"
        case .sum: "sum"
        case .union: "union"
        case .array(let identity): "array identified by \(identity)"
        case .lines: "lines"
        case .leave: "leave"
        case .custom(let name): name
        }
    }
}
