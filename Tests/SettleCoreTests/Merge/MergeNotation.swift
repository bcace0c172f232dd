import SettleCore
import Testing

/// Reads an object from JSON text.
func object(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).object, sourceLocation: sourceLocation)
}

/// Merges objects given as JSON text, the winner first.
func merge(_ base: String, _ versions: String..., rules: MergeRules = MergeRules()) throws -> MergeOutcome {
    ThreeWayMerge.merge(base: try object(base), versions: try versions.map { try object($0) }, rules: rules)
}

extension MergeOutcome {
    /// The merged object as JSON text, or `left` if members clash.
    var text: String { merged.map { JSONValue.object($0).description } ?? "left" }

    /// The paths of all decisions, in order.
    var paths: [String] { decisions.map(\.path) }

    /// The reason of the decision about a member.
    func reason(_ path: String) -> MergeReason? { decisions.first { $0.path == path }?.reason }
}
