internal import SettleCore
internal import SettleDatabase

/// The documents that a list includes.
enum ListingNamespace: Sendable {
    /// All except local ones: `_all_docs`.
    case all
    /// Design documents: `_design_docs`.
    case design
    /// Local documents: `_local_docs`.
    case local

    /// Whether a list has a row for a key, whether it is a document's id or not.
    func contains(_ key: JSONValue) -> Bool {
        switch self {
        case .all: true
        case .design: key.string?.utf8.starts(with: "_design/".utf8) ?? false
        case .local: key.string?.utf8.starts(with: "_local/".utf8) ?? false
        }
    }

    /// All ids of the namespace.
    var range: DocumentRange {
        self == .design
            ? DocumentRange(from: DocumentID(unchecked: "_design/"), before: DocumentID(unchecked: "_design0"))
            : DocumentRange()
    }
}
