package import SettleCore

extension DocumentID {
    /// Checks an id that a literal may have made.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    func check() throws {
        if let problem { throw DatabaseError(.invalid, "\(problem)", cause: problem) }
    }
}

extension DocumentIDConvertible {
    /// The id of a document that an app names: a variable, a literal, or the id of a model.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for text that can't be an id, and for a model that has none yet.
    package func ofDocument() throws -> DocumentID {
        guard let id = try checked() else {
            throw DatabaseError(
                .invalid, "an id is nil, so no document is meant; save the model first, which gives it one")
        }
        return id
    }

    /// The id, or `nil` where one is to be made.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for text that can't be an id.
    func checked() throws -> DocumentID? {
        let id: DocumentID?
        do { id = try documentID } catch let problem as InvalidIdentifier {
            throw DatabaseError(.invalid, "\(problem)", cause: problem)
        }
        try id?.check()
        return id
    }
}
