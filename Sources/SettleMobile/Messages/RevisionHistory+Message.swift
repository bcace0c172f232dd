package import SettleCore
internal import SettlePlatform

extension RevisionHistory {
    /// The number of ancestors that a message names at most.
    package static let maximumInMessage = 1000

    /// Reads the properties `rev` and `history` of a message; `nil` for names that are not ids, or do not count down by one.
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
