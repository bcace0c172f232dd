package import SettleDatabase

/// What makes rows of documents.
package protocol ViewMapper: Sendable {
    /// Begins to map documents, which are not deleted; others may follow before the first ones are done.
    func start(_ documents: [DocumentRecord]) throws -> any ViewMapping
}
