package import SettleDatabase

/// Maps documents to rows.
package protocol ViewMapper: Sendable {
    /// Starts to map documents, which are not deleted; further calls may come before the first ones are done.
    func start(_ documents: [DocumentRecord]) throws -> any ViewMapping
}
