internal import Settle

extension Invocation {
    /// A document at a revision that is to be edited.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` when there is no such document, or `conflict` when the revision
    ///   can't be edited.
    func document(_ id: DocumentID, at revision: RevisionID, in database: Database) throws -> Document {
        if let document = try database.document(id, revision: revision) { return document }
        guard let winner = try database.tree(of: id)?.winner else {
            throw CommandError.notFound("there is no document \"\(id)\"")
        }
        throw Self.conflict("\(revision) of \"\(id)\" can't be edited", winner.revision)
    }

    /// The document as it is shown, for a change that adds to it: at `--rev`, or else the winner.
    func documentToAdd(to id: DocumentID, in database: Database) throws -> Document? {
        if let revision = try revision() { return try document(id, at: revision, in: database) }
        return try database.document(id)
    }

    /// The error of a write that was made without knowing what is there.
    static func conflict(_ message: String, _ winner: RevisionID) -> CommandError {
        CommandError(
            "conflict",
            "\(message): \(winner) is stored. Look at it and give --rev \(winner), or give --force to overwrite it",
            status: .conflict)
    }
}
