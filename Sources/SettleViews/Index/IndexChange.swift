internal import SettleCore

/// A document's current emissions, none if it was removed.
struct IndexChange {
    let id: DocumentID
    let emissions: [Emission]
}
