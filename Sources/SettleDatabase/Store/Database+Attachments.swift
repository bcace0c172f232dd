extension Database {
    /// Creates a writer for a new attachment.
    ///
    /// - Parameters:
    ///   - contentType: Its media type.
    ///   - encoding: The encoding of the bytes to be written; `nil`, the usual case, for plain content, which is then
    ///     compressed if its type is one that CouchDB compresses. Bytes declared as gzip are validated, and the attachment has
    ///     their expanded length.
    /// - Returns: A writer for the content.
    /// - Throws: ``DatabaseError`` with code `inputOutput`.
    public func attachmentWriter(
        contentType: String, encoding: DocumentAttachment.Encoding? = nil
    ) throws -> AttachmentWriter {
        try AttachmentWriter(store: blobs, contentType: contentType, encoding: encoding)
    }

    /// Creates a writer for a content of a known digest, such as a download, which resumes the bytes that an earlier writer
    /// has left, in this process or an earlier one; ``AttachmentWriter/storedLength`` is their number.
    ///
    /// Bytes of an unfinished writer are kept until the next compaction, if they are too many for a row.
    ///
    /// - Parameters:
    ///   - digest: The MD5 of the stored bytes.
    ///   - length: Their number.
    ///   - encoding: Their encoding; gzip is validated.
    /// - Returns: A writer that stores bytes unchanged. The caller compares them with the digest, and calls
    ///   ``AttachmentWriter/discard()`` if they differ.
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `closed`.
    package func attachmentWriter(
        resuming digest: AttachmentDigest, length: Int64, encoding: DocumentAttachment.Encoding
    ) throws -> AttachmentWriter {
        try AttachmentWriter(store: blobs, resuming: digest, length: length, encoding: encoding)
    }

    /// The same attachment with a pin on its content, so that it can be read later.
    ///
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`.
    package func held(_ attachment: DocumentAttachment) throws -> DocumentAttachment {
        if attachment.pending != nil { return attachment }
        guard let record = try engine.read({ try $0.blob(attachment.blob) }) else {
            throw DatabaseError(.attachmentMissing, "the content of \"\(attachment.name)\" is not in this database")
        }
        return attachment.holding(blobs.pin(record))
    }

    /// Declares stored bytes as gzip after validating them.
    ///
    /// - Parameter attachment: An attachment whose bytes were stored unchanged.
    /// - Returns: The same content with the encoding gzip, and its expanded length.
    /// - Throws: ``DatabaseError`` with code `invalid` for bytes that are not gzip, or as ``attachmentReader(for:encoded:range:)``.
    package func expanded(_ attachment: DocumentAttachment) throws -> DocumentAttachment {
        let check = try GzipCheck()
        let reader = try attachmentReader(for: attachment, encoded: true)
        while let piece = try reader.read() { try piece.withUnsafeBytes { try check.take($0) } }
        try check.finish()
        return DocumentAttachment(
            name: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
            digest: attachment.digest, length: check.length, encodedLength: attachment.encodedLength, encoding: .gzip,
            blob: attachment.blob, pending: attachment.pending)
    }

    /// Opens the content of an attachment for reading.
    ///
    /// - Parameters:
    ///   - attachment: An attachment of this database.
    ///   - encoded: Whether compressed content is returned as it is stored.
    ///   - range: A range of the stored bytes, clamped to them; only for content that is not expanded.
    /// - Returns: A reader of the content.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`, or `invalid` for a range of compressed content.
    public func attachmentReader(
        for attachment: DocumentAttachment, encoded: Bool = false, range: Range<Int64>? = nil
    ) throws -> AttachmentReader {
        try attachmentReader(for: attachment, encoded: encoded, range: range, checksDigest: true)
    }

    /// Makes a reader as above. If it does not check the digest, the caller has to.
    package func attachmentReader(
        for attachment: DocumentAttachment, encoded: Bool, range: Range<Int64>?, checksDigest: Bool
    ) throws -> AttachmentReader {
        let expands = attachment.encoding == .gzip && !encoded
        guard range == nil || !expands else {
            throw DatabaseError(.invalid, "\"\(attachment.name)\" is compressed; a range of it can't be read")
        }
        let stored = try blobs.record(of: attachment.pending) ?? engine.read { try $0.blob(attachment.blob) }
        guard let stored else {
            throw DatabaseError(
                .attachmentMissing, "the content of \"\(attachment.name)\" is not in this database")
        }
        return try AttachmentReader(
            stored, store: blobs, expands: expands, range: range, checksDigest: checksDigest)
    }

    /// The whole content of an attachment, which must be small. ``write(_:to:progress:)`` writes a large one to a file.
    public func content(of attachment: DocumentAttachment) throws -> [UInt8] {
        try attachmentReader(for: attachment).readAll()
    }
}
