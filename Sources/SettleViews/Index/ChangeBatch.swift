internal import RevisionTree

/// What became of documents, each of which is in it once, as it was last.
struct ChangeBatch {
    private(set) var changes: [IndexChange] = []
    /// About how much memory the rows take, in bytes.
    private(set) var bytes = 0
    private var places: [DocumentID: Int] = [:]

    /// Takes note of a document's emissions.
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
