extension Database {
    /// Begins a new attachment whose content is written piece by piece.
    ///
    /// - Parameters:
    ///   - contentType: Its media type.
    ///   - encoding: How the bytes that will be written are encoded already; `nil`, the usual case, for plain content,
    ///     which is then compressed if its type is one that CouchDB compresses. What comes as gzip is checked, and the
    ///     attachment has the length it expands to.
    /// - Returns: A writer for the content.
    /// - Throws: ``DatabaseError`` with code `inputOutput`.
    public func attachmentWriter(
        contentType: String, encoding: Attachment.Encoding? = nil
    ) throws -> AttachmentWriter {
        try AttachmentWriter(store: blobs, contentType: contentType, encoding: encoding)
    }

    /// Begins to write a content that is known by its digest and comes from elsewhere, or goes on with one of which an earlier
    /// writer has left the first bytes, in this process or in one before: ``AttachmentWriter/storedLength`` says how many.
    ///
    /// What it has when it goes without being finished is kept until the next compaction, if it is too large for a row.
    ///
    /// - Parameters:
    ///   - digest: The MD5 of the stored bytes.
    ///   - length: How many of them there will be.
    ///   - encoding: How they are encoded; gzip is checked as it comes.
    /// - Returns: A writer that keeps bytes as they come. Whether they are what the digest says is for the caller to see, and
    ///   then to ``AttachmentWriter/discard()``.
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `closed`.
    package func attachmentWriter(
        resuming digest: AttachmentDigest, length: Int64, encoding: Attachment.Encoding
    ) throws -> AttachmentWriter {
        try AttachmentWriter(store: blobs, resuming: digest, length: length, encoding: encoding)
    }

    /// The same attachment, whose content is not collected as long as it lives: for who reads it later.
    ///
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`.
    package func held(_ attachment: Attachment) throws -> Attachment {
        if attachment.pending != nil { return attachment }
        guard let record = try engine.read({ try $0.blob(attachment.blob) }) else {
            throw DatabaseError(.attachmentMissing, "the content of \"\(attachment.name)\" is not in this database")
        }
        return attachment.holding(blobs.pin(record))
    }

    /// Stored bytes as what they expand to, after a look whether they are gzip.
    ///
    /// - Parameter attachment: One whose bytes were kept as they came.
    /// - Returns: The same content under the encoding gzip, with the length it expands to.
    /// - Throws: ``DatabaseError`` with code `invalid` for bytes that are not gzip, or as ``attachmentReader(for:encoded:range:)``.
    package func expanded(_ attachment: Attachment) throws -> Attachment {
        let check = try GzipCheck()
        let reader = try attachmentReader(for: attachment, encoded: true)
        while let piece = try reader.read() { try piece.withUnsafeBytes { try check.take($0) } }
        try check.finish()
        return Attachment(
            name: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
            digest: attachment.digest, length: check.length, encodedLength: attachment.encodedLength, encoding: .gzip,
            blob: attachment.blob, pending: attachment.pending)
    }

    /// Makes an attachment of content that is in memory.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", content: [UInt8]
    ) throws -> Attachment {
        let writer = try attachmentWriter(contentType: contentType)
        try writer.write(content)
        return try writer.finish(name: name)
    }

    /// Makes an attachment of a file, in bounded memory.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", file path: String
    ) throws -> Attachment {
        let file = try FileHandleReader(path: path)
        let writer = try attachmentWriter(contentType: contentType)
        while case let piece = try file.read(upTo: 256 * 1024), !piece.isEmpty { try writer.write(piece) }
        return try writer.finish(name: name)
    }

    /// Opens the content of an attachment for reading.
    ///
    /// - Parameters:
    ///   - attachment: One of a document of this database.
    ///   - encoded: Whether compressed content is given as it is stored.
    ///   - range: A part of the stored bytes, clamped to them; only for content that is not to be expanded.
    /// - Returns: A reader of the content.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`, or `invalid` for a range of compressed content.
    public func attachmentReader(
        for attachment: Attachment, encoded: Bool = false, range: Range<Int64>? = nil
    ) throws -> AttachmentReader {
        let expands = attachment.encoding == .gzip && !encoded
        guard range == nil || !expands else {
            throw DatabaseError(.invalid, "\"\(attachment.name)\" is compressed; a range of it can't be read")
        }
        let pending = blobs.isPinned(attachment.blob) ? attachment.pending?.record : nil
        let stored = try pending ?? engine.read { try $0.blob(attachment.blob) }
        guard let stored else {
            throw DatabaseError(
                .attachmentMissing, "the content of \"\(attachment.name)\" is not in this database")
        }
        return try AttachmentReader(
            stored, store: blobs, expands: expands, range: range)
    }

    /// The whole content of an attachment, for contents known to be small.
    public func content(of attachment: Attachment) throws -> [UInt8] {
        try attachmentReader(for: attachment).readAll()
    }
}
