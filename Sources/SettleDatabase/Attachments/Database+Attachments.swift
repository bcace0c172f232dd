internal import SettleCore
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Database {
    /// Creates an attachment from content in memory.
    ///
    ///     note.attach(try database.makeAttachment("photo.jpg", contentType: "image/jpeg", content: data))
    ///     try database.save(note)
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for a name that starts with an underscore, `diskFull` or
    ///   `inputOutput`.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", content: Data
    ) throws -> DocumentAttachment {
        let writer = try attachmentWriter(contentType: contentType)
        try writer.write(content)
        return try writer.finish(name: name)
    }

    /// Creates an attachment from bytes in memory; see ``makeAttachment(_:contentType:content:)-(_,_,Data)``.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", content: [UInt8]
    ) throws -> DocumentAttachment {
        let writer = try attachmentWriter(contentType: contentType)
        try writer.write(content)
        return try writer.finish(name: name)
    }

    /// Creates an attachment from a file, in bounded memory.
    ///
    ///     let movie = try database.makeAttachment("holiday.mp4", contentType: "video/mp4", file: url)
    ///
    /// Afterwards the content is in the database, and the file is no longer needed. This takes long for a large
    /// file: call it within `perform`.
    ///
    /// - Parameters:
    ///   - name: The attachment's name in the document.
    ///   - contentType: The media type.
    ///   - file: The URL of a file.
    ///   - progress: Called after each piece with the bytes read so far, and the length of the file. If it throws, nothing is
    ///     stored; `{ _, _ in try Task.checkCancellation() }` makes the call end with its task.
    /// - Returns: The attachment, to be attached to a document of this database.
    /// - Throws: ``DatabaseError`` with code `notFound` if the file does not exist, `invalid` for a URL that is not
    ///   a file's and for a name that starts with an underscore, `inputOutput` if the file can't be read, or
    ///   `diskFull`; errors of `progress`.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", file: URL,
        progress: (_ done: Int64, _ total: Int64) throws -> Void = { _, _ in }
    ) throws -> DocumentAttachment {
        let path = try Self.path(of: file)
        guard let status = FileStatus(path: path) else {
            throw DatabaseError(.notFound, "there is no file at \(path) to attach as \"\(name)\"")
        }
        guard !status.isFolder else {
            throw DatabaseError(.invalid, "\(path) is a folder; attach its files one by one, or an archive of it")
        }
        let source = try FileHandleReader(path: path)
        let total = try source.size()
        let writer = try attachmentWriter(contentType: contentType)
        var done: Int64 = 0
        while case let piece = try source.read(upTo: 256 * 1024), !piece.isEmpty {
            try writer.write(piece)
            done += Int64(piece.count)
            try progress(done, max(done, total))
        }
        return try writer.finish(name: name)
    }

    /// Writes the content of an attachment to a file, in bounded memory.
    ///
    ///     try database.write(movie, to: FileManager.default.temporaryDirectory.appending(path: movie.name))
    ///
    /// An existing file is replaced when the content is complete. If the call throws, the existing file stays
    /// unchanged and no temporary file remains. A symbolic link is followed, and a device or a pipe is written
    /// into.
    ///
    /// - Parameters:
    ///   - attachment: An attachment of this database.
    ///   - file: The URL of the file.
    ///   - progress: Called after each piece with the bytes written so far, and the length of the content. If it throws, nothing
    ///     is written.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`, `notFound` if the folder of the file does not
    ///   exist, `invalid` for a URL that is not a file's, `diskFull`, or `inputOutput` if the file can't be
    ///   written; errors of `progress`.
    public func write(
        _ attachment: DocumentAttachment, to file: URL,
        progress: (_ done: Int64, _ total: Int64) throws -> Void = { _, _ in }
    ) throws {
        let path = try Self.path(of: file)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileStatus(path: folder)?.isFolder == true else {
            throw DatabaseError(
                .notFound, "there is no folder \(folder) to write \"\(attachment.name)\" to; make it first")
        }
        guard FileStatus(path: path)?.isFolder != true else {
            throw DatabaseError(.invalid, "\(path) is a folder; add the name of a file, such as \"\(attachment.name)\"")
        }
        let reader = try attachmentReader(for: attachment)
        guard case .file(let whole) = FileTarget(path) else {
            return try copy(reader, attachment.length, to: FileHandleWriter(path: path), progress)
        }
        // The file's own name may be as long as the file system allows, so only its beginning is used.
        let destination = URL(fileURLWithPath: whole)
        let name = String(decoding: destination.lastPathComponent.utf8.prefix(200), as: UTF8.self)
        let unfinished = destination.deletingLastPathComponent().path + "/\(name).\(DocumentID.unique())"
        do {
            let target = try FileHandleWriter(path: unfinished)
            try copy(reader, attachment.length, to: target, progress)
            try target.synchronize()
            try renameDurably(unfinished, to: whole)
        } catch {
            try? removeIfThere(unfinished)
            throw error
        }
    }

    private func copy(
        _ reader: AttachmentReader, _ length: Int64, to target: FileHandleWriter,
        _ progress: (_ done: Int64, _ total: Int64) throws -> Void
    ) throws {
        var done: Int64 = 0
        while let piece = try reader.read() {
            try piece.withUnsafeBytes { try target.write($0) }
            done += Int64(piece.count)
            try progress(done, max(done, length))
        }
    }

    private static func path(of file: URL) throws -> String {
        guard file.isFileURL, !file.path.isEmpty else {
            throw DatabaseError(
                .invalid, "\(file.absoluteString) is not the URL of a file; make one with URL(filePath:)")
        }
        return file.path
    }
}

// MARK: - Attachments

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

    /// Creates a writer for a content of a known digest, such as a download. It continues after the bytes that an
    /// earlier writer has left, in this process or an earlier one; ``AttachmentWriter/storedLength`` is their
    /// number.
    ///
    /// The bytes of an unfinished writer are kept until the next compaction, if they are too many for a row.
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

    /// Returns the attachment with a pin on its content, so that it can be read later.
    ///
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`.
    package func held(_ attachment: DocumentAttachment) throws -> DocumentAttachment {
        if attachment.pending != nil { return attachment }
        guard let record = try engine.read({ try $0.blob(attachment.blob) }) else {
            throw DatabaseError(.attachmentMissing, "the content of \"\(attachment.name)\" is not in this database")
        }
        return attachment.holding(blobs.pin(record))
    }

    /// Validates stored bytes as gzip, and declares them so.
    ///
    /// - Parameter attachment: An attachment whose bytes were stored unchanged.
    /// - Returns: The same content with the encoding gzip, and its expanded length.
    /// - Throws: ``DatabaseError`` with code `invalid` for bytes that are not gzip, or as ``attachmentReader(for:encoded:range:)``.
    package func expanded(_ attachment: DocumentAttachment) throws -> DocumentAttachment {
        let check = try GzipCheck()
        let reader = try attachmentReader(for: attachment, encoded: true)
        while let piece = try reader.read() { try piece.withUnsafeBytes { try check.validate($0) } }
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
    ///   - encoded: Whether compressed content is returned without expanding it.
    ///   - range: A range of the stored bytes, clamped to them; only for content that is not expanded.
    /// - Returns: A reader of the content.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`, or `invalid` for a range of compressed content.
    public func attachmentReader(
        for attachment: DocumentAttachment, encoded: Bool = false, range: Range<Int64>? = nil
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
        return try AttachmentReader(stored, store: blobs, expands: expands, range: range)
    }

    /// The whole content of an attachment, which must be small. ``write(_:to:progress:)`` writes a large one to a file.
    public func content(of attachment: DocumentAttachment) throws -> [UInt8] {
        try attachmentReader(for: attachment).readAll()
    }
}
