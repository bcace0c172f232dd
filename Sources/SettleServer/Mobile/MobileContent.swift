internal import SettleMobile

/// A content that a revision names by its SHA-1: of a blob, or of an attachment of CouchDB's kind.
struct MobileContent: Hashable {
    let attachmentName: String
    let digest: String
    let contentType: String
    let revpos: UInt64

    init(_ blob: MobileBlob, revpos: UInt64) {
        (attachmentName, digest, contentType) = (blob.attachmentName, blob.digest, blob.contentType)
        self.revpos = revpos
    }

    /// The content of a stub; `nil` for another attachment, or a stub that names no SHA-1.
    init?(_ attachment: WireAttachment) {
        guard case .stub(_, let digest?) = attachment.content, digest.hasPrefix("sha1-") else { return nil }
        (attachmentName, contentType) = (attachment.name, attachment.contentType)
        (self.digest, revpos) = (digest, attachment.revpos)
    }
}
