internal import SettleCore

extension Database {
    /// The document's winner, by an id that is text; `nil` also for text that can't be an id.
    ///
    /// - Throws: As with a ``DocumentID``.
    @_disfavoredOverload
    public func document(_ id: String) throws -> Document? {
        try (try? DocumentID(validating: id)).flatMap { (id: DocumentID) in try document(id) }
    }
}
