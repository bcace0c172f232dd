internal import SettleCore

/// The latest changes of documents, one per document.
struct ChangeBatch {
    private(set) var changes: [IndexChange] = []
    /// The approximate memory of the rows, in bytes.
    private(set) var bytes = 0
    private var places: [DocumentID: Int] = [:]

    /// Adds a document's emissions.
    mutating func add(_ id: DocumentID, _ emissions: [Emission]) {
        let change = IndexChange(id: id, emissions: emissions)
        bytes += emissions.reduce(64) { $0 + $1.key.count * 3 + $1.value.count + 64 }
        if let place = places[id] {
            changes[place] = change
        } else {
            places[id] = changes.count
            changes.append(change)
        }
    }
}

/// A document's current emissions, none if it was removed.
struct IndexChange {
    let id: DocumentID
    let emissions: [Emission]
}
