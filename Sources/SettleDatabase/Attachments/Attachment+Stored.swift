extension Attachment {
    /// The same stored bytes under another name and type, as one who brings them knows them: an import, or a peer.
    ///
    /// The content is kept from being collected by this attachment too.
    ///
    /// - Parameters:
    ///   - name: The name in its document.
    ///   - contentType: The media type.
    ///   - revpos: The generation it came in, or 0.
    ///   - length: The length it is said to have without encoding; of compressed content that of the stored bytes too, which is
    ///     what CouchDB says where it does not know. Its own unless given.
    /// - Returns: The attachment.
    /// - Throws: ``DatabaseError`` with code `invalid` for a name that is empty or starts with an underscore, and for a length
    ///   that it has not.
    package func described(
        as name: String, contentType: String, revpos: UInt64, length: Int64? = nil
    ) throws -> Attachment {
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: "_") else {
            throw DatabaseError(.invalid, "\"\(name)\" is no name for an attachment: it is empty or starts with _")
        }
        if let length, length != self.length, encoding == .identity || length != encodedLength {
            throw DatabaseError(
                .invalid, "the attachment \"\(name)\" is said to have \(length) bytes, and has \(self.length)")
        }
        return Attachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length ?? self.length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }

    /// The same attachment, whose content is not collected as long as it lives.
    func holding(_ pending: PendingBlob) -> Attachment {
        Attachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }
}
