internal import SettleCore

extension Database {
    /// Calls a closure with the name of every attachment content that documents changed after a sequence hold, a page of
    /// documents at a time; some come more than once.
    ///
    /// Of a damaged document that is all that looks like such a name, so that nothing is collected that somebody could
    /// still want to save.
    func forEachNamedBlob(since: UpdateSequence, _ body: (BlobDigest) -> Void) throws {
        var range = SequenceRange(after: since)
        var hasLostTree = false
        while true {
            let last: UpdateSequence? = try engine.snapshot { reader in
                let page = try reader.records(changedIn: range, limit: 200, withContent: true)
                for record in noting(page) {
                    for blob in record.damage?.namedBlobs ?? [] { body(blob) }
                    for attachment in record.content?.attachments ?? [] { body(attachment.blob) }
                    if record.tree.isEmpty { hasLostTree = true }
                    for node in record.tree.allNodes where node.bodyToken >= BodyToken.firstApart {
                        try nameBlobs(at: node.bodyToken, reader, of: record.id, body)
                    }
                }
                return page.last?.sequence
            }
            guard let last else { break }
            range.after = last
        }
        // Contents kept apart may be those of a document of which nobody knows the revisions.
        if hasLostTree { try forEachContentToken { try nameBlobs(at: $1, $0, of: nil, body) } }
    }

    private func nameBlobs(
        at token: UInt64, _ reader: any StorageReader, of id: DocumentID?, _ body: (BlobDigest) -> Void
    ) throws {
        do {
            for attachment in try reader.content(at: token)?.attachments ?? [] { body(attachment.blob) }
        } catch let error as DatabaseError where error.code == .damagedDocument {
            for blob in error.namedBlobs { body(blob) }
            if let id { note(.damaged(id, "one of its old revisions", cause: error), of: id) }
        }
    }

    /// Calls a closure with the token of every content that is kept apart.
    func forEachContentToken(_ body: (any StorageReader, UInt64) throws -> Void) throws {
        var token: UInt64 = 0
        while true {
            let last = try engine.snapshot { reader in
                let page = try reader.contentTokens(after: token, limit: 500)
                for token in page { try body(reader, token) }
                return page.last
            }
            guard let last else { return }
            token = last
        }
    }
}
