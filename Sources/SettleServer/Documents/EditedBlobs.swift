internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// Keeps the blobs of Couchbase Lite whole where a client of CouchDB edits their document.
///
/// A blob is a member of the body with the digest of its content, and the content is the attachment `blob_` and the member's path.
/// A client of CouchDB knows attachments alone:
///
///     a new content of `blob_/photo`           the member gets its digest, type and length
///     a save without `blob_/photo`             the attachment stays while the member does
///     a member that has moved                  the content moves along
///
/// Replicated revisions are stored as they come; ``MobileAttachments/stubs(of:)`` corrects them on their way to a device.
struct EditedBlobs {
    let database: Database

    /// Adapts an edit.
    ///
    /// - Parameters:
    ///   - body: The body of the edit.
    ///   - attachments: Its attachments.
    ///   - id: The document.
    ///   - parent: The revision that is edited; `nil` if the document is made.
    /// - Returns: The body and the attachments to store.
    /// - Throws: ``HTTPError`` with status 403 for a content of a blob that is too large for Couchbase Lite; ``DatabaseError``.
    func adapt(
        _ body: DocumentBody, _ attachments: [DocumentAttachment], of id: DocumentID, parent: RevisionID?
    ) throws -> (body: DocumentBody, attachments: [DocumentAttachment]) {
        let blobs = MobileBlob.all(in: body)
        guard !blobs.isEmpty else { return (body, attachments) }
        let before = try parent.flatMap { parent in
            try database.record(of: id).flatMap { try database.content(of: parent, in: $0) }
        }
        let earlier = before?.attachments ?? []
        let digests = before.map { MobileBlob.digests(in: $0.body) } ?? [:]
        var (all, changed) = (attachments, [ExactText: MobileBlob.Content]())
        for blob in blobs {
            let name = blob.attachmentName
            let same = earlier.first { Self.isNamed($0, name) }
            guard let given = attachments.first(where: { Self.isNamed($0, name) }) else {
                let source =
                    digests[ExactText(name)] == blob.digest
                    ? same : earlier.first { digests[ExactText($0.name)] == blob.digest }
                guard let source else { continue }
                let revpos = source == same ? source.revpos : (parent?.generation ?? 0) + 1
                all.append(try source.described(as: name, contentType: blob.contentType, revpos: revpos))
                continue
            }
            if given == same, digests[ExactText(name)] == blob.digest { continue }
            changed[ExactText(blob.path)] = try content(of: given, unlike: blob)
        }
        return (changed.isEmpty ? body : try MobileBlob.put(changed, into: body), all)
    }

    /// The member of a blob for a content; `nil` if the member is the same already.
    private func content(of attachment: DocumentAttachment, unlike blob: MobileBlob) throws -> MobileBlob.Content? {
        guard attachment.length <= MobileLimits.largestContent else {
            throw HTTPError.forbidden(
                "The attachment \(attachment.name) is the content of a blob of Couchbase Lite, which has at most \(MobileLimits.largestContent) bytes."
            )
        }
        let digest = MobileDigest.of(try database.content(of: attachment))
        guard digest != blob.digest else { return nil }
        return MobileBlob.Content(digest: digest, contentType: attachment.contentType, length: attachment.length)
    }

    /// Checks that an attachment may be deleted.
    ///
    /// - Throws: ``HTTPError`` with status 403 for the content of a blob.
    static func checkDeletion(of name: String, from body: DocumentBody) throws {
        guard let blob = MobileBlob.all(in: body).first(where: { $0.attachmentName.utf8.elementsEqual(name.utf8) })
        else { return }
        throw HTTPError.forbidden(
            "The attachment \(name) is the content of the blob at \(blob.path). Remove that member of the document instead."
        )
    }

    private static func isNamed(_ attachment: DocumentAttachment, _ name: String) -> Bool {
        attachment.name.utf8.elementsEqual(name.utf8)
    }
}
