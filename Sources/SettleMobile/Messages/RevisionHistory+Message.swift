package import SettleCore
internal import SettlePlatform

extension RevisionHistory {
    /// The maximum number of ancestors in a message.
    package static let maximumInMessage = 1000

    /// Parses the properties `rev` and `history` of a message; `nil` for names that are not revision ids, or whose
    /// generations don't descend by one.
    package init?(_ revision: String, history: String) {
        let names = [revision] + history.split(separator: ",").map { String($0).trimmingBlanks() }
        let revisions = names.compactMap { RevisionID($0) }
        guard revisions.count == names.count else { return nil }
        self.init(revisions)
    }

    /// The property `history`: the ancestors, newest first.
    package func ancestors(most: Int = maximumInMessage) -> String {
        revisions.dropFirst().prefix(most).map(\.description).joined(separator: ",")
    }
}
