internal import RevisionTree

extension Conflict {
    /// Why a conflict has no ``Conflict/base``.
    package enum MissingBase: Sendable {
        /// The leaves have no revision in common: the documents were created apart.
        case noCommonRevision
        /// Which revision it is can't be told, for histories were cut.
        case unknown
        /// It is known, and its content is not kept any more.
        case contentNotKept
    }

    /// Why it has no base; `nil` when there is one.
    package var missingBase: MissingBase? {
        if base != nil { return nil }
        if let steps, !steps.allSatisfy(\.isCertain) { return .unknown }
        let ancestor = steps?.count == 1 ? steps?[0].base : tree.branchPoints(of: revisions).ancestor
        if ancestor != nil { return .contentNotKept }
        // Leaves that are merged were looked at; what is left are deletions, and more leaves than are merged.
        let isCut = revisions.contains { revision in
            tree.history(of: revision).map { $0.signatures.count < revision.generation } ?? false
        }
        return isCut ? .unknown : .noCommonRevision
    }
}
