package import SettleCore

/// The ready policies and merge rules by the names that the command line and the server have for them.
package enum PolicyNames {
    /// The policies.
    package static let policies = [
        "keepAll", "mostRevisions", "deletesWin", "localWins", "remoteWins", "threeWayMerge", "latestAttributeWins",
        "latestDocumentWins",
    ]
    /// The rules; the last one is followed by the name of a member.
    package static let rules = ["winner", "sum", "union", "lines", "leave", "array:KEY"]

    /// The policy of a name; `nil` for an unknown one. Policies that merge decide clashes by the rules, and a deletion against an
    /// edit as said.
    package static func policy(
        _ name: String, _ rules: MergeRules = MergeRules(), deletionsWin: Bool = false
    ) -> ConflictPolicy? {
        switch name {
        case "keepAll": .keepAll
        case "mostRevisions": .mostRevisions
        case "deletesWin": .deletesWin
        case "localWins": .localWins
        case "remoteWins": .remoteWins
        case "threeWayMerge": .threeWayMerge(rules, deletionsWin: deletionsWin)
        case "latestAttributeWins": .latestFieldWins(onClash: rules.onClash)
        case "latestDocumentWins": .latestDocumentWins
        default: nil
        }
    }

    /// The rule of a name; `nil` for an unknown one.
    package static func rule(_ text: String) -> MergeRule? {
        switch text {
        case "winner": .winner
        case "sum": .sum
        case "union": .union
        case "lines": .lines
        case "leave": .leave
        case _ where text.hasPrefix("array:") && text.utf8.count > 6: .array(identifiedBy: String(text.dropFirst(6)))
        default: nil
        }
    }
}
