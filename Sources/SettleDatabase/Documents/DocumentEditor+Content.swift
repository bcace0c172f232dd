internal import SettleCore

extension DocumentEditor {
    /// The content of a revision; `nil` if it is not kept or not readable.
    func content(of revision: RevisionID, in record: DocumentRecord?) throws -> RevisionContent? {
        guard let record, let node = record.tree[revision] else { return nil }
        return try writer.readableContent(of: node, in: record)
    }

    /// The attachments of a new revision: each with its content in the database and its `revpos`.
    ///
    /// An attachment that the parent has, with the same bytes and type, keeps its `revpos`, unless its own `revpos` is this
    /// revision's. An attachment from a peer has the peer's `revpos`. Any other was added with this revision.
    func settled(
        _ attachments: [DocumentAttachment], of id: DocumentID, before: RevisionContent?, generation: UInt64,
        keepsRevpos: Bool = false, keepsZero: Bool = false
    ) throws -> [DocumentAttachment] {
        guard !attachments.isEmpty else { return [] }
        var names: Set<[UInt8]> = []
        return try attachments.map { attachment in
            try attachment.checkNumbers(of: id)
            guard names.insert(Array(attachment.name.utf8)).inserted else {
                throw DatabaseError(.invalid, "\"\(id)\" has two attachments named \"\(attachment.name)\"")
            }
            if let pending = blobs.storable(attachment.pending) {
                try writer.put(.blob(pending))
            } else if try writer.blob(attachment.blob) == nil {
                throw DatabaseError(
                    .attachmentMissing,
                    "the content of \"\(attachment.name)\" of \"\(id)\" is not in this database; attach it anew")
            }
            let same = before?.attachments.first {
                $0.isNamed(attachment.name) && $0.digest == attachment.digest
                    && $0.contentType == attachment.contentType
            }
            let given = keepsRevpos && (attachment.revpos > 0 || keepsZero) ? attachment.revpos : generation
            let revpos = attachment.revpos == generation ? generation : same?.revpos ?? given
            return DocumentAttachment(
                name: attachment.name, contentType: attachment.contentType, revpos: revpos,
                digest: attachment.digest, length: attachment.length, encodedLength: attachment.encodedLength,
                encoding: attachment.encoding, blob: attachment.blob)
        }
    }
}
