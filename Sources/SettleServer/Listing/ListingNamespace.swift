internal import RevisionTree
internal import SettleDatabase

/// Which documents a list is of.
enum ListingNamespace: Sendable {
    /// All but local ones: `_all_docs`.
    case all
    /// Design documents: `_design_docs`.
    case design
    /// Local documents: `_local_docs`.
    case local

    /// Whether a key may be the id of one.
    func contains(_ key: String) -> Bool {
        switch self {
        case .all: true
        case .design: key.utf8.starts(with: "_design/".utf8)
        case .local: key.utf8.starts(with: "_local/".utf8)
        }
    }

    /// All ids of the namespace.
    var range: DocumentRange {
        self == .design
            ? DocumentRange(from: DocumentID(unchecked: "_design/"), before: DocumentID(unchecked: "_design0"))
            : DocumentRange()
    }
}
