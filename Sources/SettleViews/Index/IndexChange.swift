internal import RevisionTree

/// What became of a document: what it emits now, nothing when it is gone.
struct IndexChange {
    let id: DocumentID
    let emissions: [Emission]
}
