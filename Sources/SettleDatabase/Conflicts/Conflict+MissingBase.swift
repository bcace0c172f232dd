internal import SettleCore

extension Conflict {
    /// Why a conflict has no ``Conflict/base``.
    package enum MissingBase: Sendable {
        /// The leaves have no common revision: the documents were created independently.
        case noCommonRevision
        /// It can't be determined, because histories were stemmed.
        case unknown
        /// It is known, but its content is no longer stored.
        case contentNotKept
    }

    /// Why the conflict has no base; `nil` if it has one.
    package var missingBase: MissingBase? {
        if base != nil { return nil }
        if let steps, !steps.allSatisfy(\.isCertain) { return .unknown }
        let ancestor = steps?.count == 1 ? steps?[0].base : tree.branchPoints(of: revisions).ancestor
        if ancestor != nil { return .contentNotKept }
        // The leaves to merge were considered; deletions remain, and leaves beyond the limit for merging.
        let isCut = revisions.contains { revision in
            tree.history(of: revision).map { $0.signatures.count < revision.generation } ?? false
        }
        return isCut ? .unknown : .noCommonRevision
    }
}
