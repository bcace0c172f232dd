extension Attachment {
    /// The same stored bytes under another description, as one who brings them knows it: an import, or a peer.
    ///
    /// Bytes can be written before it is known what they are: as `identity`, which keeps them as they come, and told
    /// later to be gzip. The content is kept from being collected by this attachment too.
    ///
    /// - Parameters:
    ///   - name: The name in its document.
    ///   - contentType: The media type.
    ///   - revpos: The generation it came in, or 0.
    ///   - encoding: How the stored bytes are encoded.
    ///   - length: The length of the content without encoding; it is not checked here.
    /// - Returns: The attachment.
    /// - Throws: ``DatabaseError`` with code `invalid` for a name that is empty or starts with an underscore.
    package func described(
        as name: String, contentType: String, revpos: UInt64, encoding: Encoding, length: Int64
    ) throws -> Attachment {
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: "_") else {
            throw DatabaseError(.invalid, "\"\(name)\" is no name for an attachment: it is empty or starts with _")
        }
        return Attachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }

    /// An attachment whose content is elsewhere, in place of this one, whose few bytes are kept instead: so that a document
    /// can be looked at and edited without what is large in it.
    ///
    /// - Parameters:
    ///   - name: The name in its document.
    ///   - contentType: The media type.
    ///   - revpos: The generation it came in.
    ///   - digest: The digest of the stored bytes that are elsewhere.
    ///   - length: The length of the content.
    ///   - encodedLength: The length of the stored bytes.
    ///   - encoding: How the stored bytes are encoded.
    /// - Returns: The attachment, whose content can't be read here.
    package func standingIn(
        for name: String, contentType: String, revpos: UInt64, digest: AttachmentDigest, length: Int64,
        encodedLength: Int64, encoding: Encoding
    ) -> Attachment {
        Attachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }
}
