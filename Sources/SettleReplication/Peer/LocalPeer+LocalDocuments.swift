public import SettleCore
internal import SettleDatabase

extension LocalPeer {
    /// A local document; see ``Peer/localDocument(_:)``.
    public func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        try await perform { database in
            try database.localDocument(id).map { PeerLocalDocument(revision: $0.revision, body: $0.body.json) }
        }
    }

    /// Writes a local document; see ``Peer/saveLocalDocument(_:body:revision:)``.
    public func saveLocalDocument(_ id: DocumentID, body: JSON, revision: String?) async throws -> String {
        try await perform { database in
            let members: DocumentBody
            do { members = try DocumentBody(body) } catch let error as JSONError {
                throw DatabaseError(.invalid, "the body of \"\(id)\" can't be stored: \(error.message)", cause: error)
            }
            return try database.saveLocalDocument(id, body: members, expecting: revision).revision
        }
    }
}
