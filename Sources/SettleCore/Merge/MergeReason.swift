/// Why a merged member has the value it has. Versions are named by their position.
public indirect enum MergeReason: Hashable, Sendable {
    /// One version changed the member, so its value was taken.
    case onlyOneChanged(Int)
    /// Several versions made the same change, so it was taken.
    case sameChange([Int])
    /// Several versions changed an object, which was merged member by member; decisions about its members follow.
    case mergedInside
    /// This version's change was the latest, by the clocks in the versions.
    case latest(Int)
    /// The versions clashed and a rule decided.
    case rule(MergeRule.Kind)
    /// The versions clashed, and a rule did not fit; the last associated value is what decided instead.
    case fellBack(from: MergeRule.Kind, why: MergeMisfit, to: MergeReason)
    /// The versions clashed, and the rule was to leave the document in conflict.
    case left

    /// Whether the member was left undecided.
    public var isLeft: Bool {
        switch self {
        case .left: true
        case .fellBack(_, _, let reason): reason.isLeft
        default: false
        }
    }

    /// The reason as text, such as `only 3-abc changed it`.
    ///
    /// - Parameter name: Names the version at a position.
    /// - Returns: A clause without a full stop.
    public func explained(naming name: (Int) -> String) -> String {
        switch self {
        case .onlyOneChanged(let version): "only \(name(version)) changed it"
        case .sameChange(let versions):
            versions.map(name).joined(separator: ", ") + " made the same change"
        case .mergedInside: "merged member by member"
        case .latest(let version): "\(name(version)) changed it last"
        case .rule(let kind): "clash, decided by the rule “\(kind)”"
        case .fellBack(let kind, let misfit, let reason):
            "the rule “\(kind)” does not fit, for \(misfit); \(reason.explained(naming: name))"
        case .left: "clash, left in conflict"
        }
    }
}
