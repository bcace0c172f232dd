internal import Settle

extension Invocation {
    /// A document at a revision that is to be edited.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` when there is no such document, or `conflict` when the revision
    ///   can't be edited.
    static func document(_ id: DocumentID, at revision: RevisionID, in database: Database) throws -> Document {
        if let document = try database.document(id, revision: revision) { return document }
        guard let winner = try database.tree(of: id)?.winner else {
            throw CommandError.notFound("there is no document \"\(id)\"")
        }
        throw conflict("\(revision) of \"\(id)\" can't be edited", winner.revision)
    }

    /// The document as it is shown, for a change that adds to it: at `--rev`, or else the winner.
    func documentToAdd(to id: DocumentID, in database: Database) throws -> Document? {
        if let revision = try revision() { return try Self.document(id, at: revision, in: database) }
        return try database.document(id)
    }

    /// Does a write again that lost against another one at a server in between, as long as the last write is to win.
    func retrying<Result>(_ isForced: Bool, _ write: () throws -> Result) throws -> Result {
        for _ in 0..<(isForced ? 9 : 0) {
            do { return try write() } catch let error as CommandError where error.status == .conflict {}
        }
        return try write()
    }

    /// The error of a write that was made without knowing what is there.
    static func conflict(_ message: String, _ winner: RevisionID) -> CommandError {
        CommandError(
            "conflict",
            "\(message): \(winner) is stored. Look at it and give --rev \(winner), or give --force to overwrite it",
            status: .conflict)
    }
}
