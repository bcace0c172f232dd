internal import SettleCore
internal import SettleCrypto
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Writes the content of a new attachment piece by piece, in bounded memory.
///
///     let writer = try database.attachmentWriter(contentType: "video/mp4")
///     while let piece = try camera.next() { try writer.write(piece) }
///     document.attach(try writer.finish(name: "holiday.mp4"))
///     try database.save(document, onConflict: .fail)
///
/// When ``finish(name:)`` returns, the content is on the disk. It belongs to a document once the document is saved;
/// compaction removes contents of unsaved attachments. A writer is used by one thread at a time.
public final class AttachmentWriter {
    private let store: BlobStore
    private let contentType: String
    private let encoding: DocumentAttachment.Encoding
    private let gzip: Gzip?
    /// Validates content that arrives compressed.
    private var check: GzipCheck?
    private var md5 = MD5()
    private var sha256 = SHA256()
    private var length: Int64 = 0
    private var encodedLength: Int64 = 0
    private var inMemory: [UInt8] = []
    /// Stores a content that is too large for a row.
    private var stored: (any BlobWriter)?
    /// The same writer, if it continues an unfinished download.
    private var resumed: (any ResumableBlobWriter)?
    private var isFinished = false
    /// Whether a piece was lost. The digests then have bytes that the stored content may lack.
    private var hasFailed = false

    init(store: BlobStore, contentType: String, encoding: DocumentAttachment.Encoding?) throws {
        self.store = store
        self.contentType = contentType
        let compresses = encoding == nil && Gzip.isCompressible(contentType)
        gzip = compresses ? try Gzip(.compress) : nil
        check = encoding == .gzip ? try GzipCheck() : nil
        self.encoding = compresses ? .gzip : encoding ?? .identity
    }

    /// Continues the partial content of an earlier writer, if there is one. Its bytes are read once.
    init(
        store: BlobStore, resuming digest: AttachmentDigest, length: Int64, encoding: DocumentAttachment.Encoding
    ) throws {
        self.store = store
        contentType = "application/octet-stream"
        gzip = nil
        self.encoding = encoding
        check = encoding == .gzip ? try GzipCheck() : nil
        guard length > Int64(BlobStore.largestInRow),
            let resumed = try store.storage?.resumedBlob(digest, length: length)
        else { return }
        (stored, self.resumed) = (resumed, resumed)
        do { try readRest(resumed.storedBytes()) } catch let error as DatabaseError where error.code == .invalid {
            // The remaining bytes are damaged, so writing starts over.
            (md5, sha256, check, self.length) = (MD5(), SHA256(), try GzipCheck(), 0)
            try resumed.restart()
        } catch {
            resumed.discard()
            throw error
        }
        encodedLength = self.length
    }

    private func readRest(_ reader: any BlobReader) throws {
        while case let piece = try reader.read(upTo: 256 * 1024), !piece.isEmpty {
            try piece.withUnsafeBytes { bytes in
                try check?.validate(bytes)
                md5.update(bytes)
                sha256.update(bytes)
            }
            length += Int64(piece.count)
        }
    }

    /// The number of bytes that are stored.
    package var storedLength: Int64 { encodedLength }

    /// Discards the bytes written so far.
    package func discard() { resumed?.discard() }

    /// Writes the next piece of the content: `Data`, `[UInt8]`, or other bytes.
    ///
    /// If it throws, a part of the piece may be written, and the content can't be continued: begin it again with a new
    /// writer.
    ///
    /// - Throws: ``DatabaseError`` with code `diskFull` or `inputOutput`; `invalid` after ``finish(name:)`` or an
    ///   earlier error, and for bytes that are declared as gzip but are not.
    public func write(_ bytes: some ContiguousBytes) throws {
        try bytes.withUnsafeBytes { try write(raw: $0) }
    }

    private func write(raw bytes: UnsafeRawBufferPointer) throws {
        try checkIsOpen()
        do {
            length += Int64(bytes.count)
            if let gzip { try gzip.process(bytes, isLast: false, emit: keep) } else { try keep(bytes) }
        } catch {
            hasFailed = true
            throw error
        }
    }

    /// Finishes the content.
    ///
    /// - Parameter name: The attachment's name in the document.
    /// - Returns: The attachment, to be attached to a document of the same database.
    /// - Throws: ``DatabaseError`` with code `diskFull`, `inputOutput`, or `invalid` for a name that starts with an
    ///   underscore, for a content that is declared as gzip and can't be expanded, or if a piece could not be written.
    public func finish(name: String) throws -> DocumentAttachment {
        guard name.utf8.first != UInt8(ascii: "_") else {
            throw DatabaseError(.invalid, "\"\(name)\" can't name an attachment: it starts with _")
        }
        try checkIsOpen()
        isFinished = true
        try gzip?.process(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, emit: keep)
        try check?.finish()
        guard let digest = AttachmentDigest(md5: md5.finish()), let blob = BlobDigest(sha256.finish()) else {
            throw DatabaseError(.storage, "the digest of an attachment could not be computed")
        }
        // The content is pinned before it can be found by its digest; otherwise a running compaction could remove
        // it.
        let pin = store.pins.pin(blob)
        let finished = try stored?.finish(as: blob)
        let record = BlobRecord(
            digest: blob, md5: digest.md5, length: encodedLength, content: finished == nil ? inMemory : nil,
            isFile: finished != nil, place: finished?.place)
        (stored, resumed) = (nil, nil)
        return DocumentAttachment(
            name: name, contentType: contentType, revpos: 0, digest: digest, length: check?.length ?? length,
            encodedLength: encodedLength, encoding: encoding, blob: blob,
            pending: PendingBlob(record, pin, finished?.pin))
    }

    /// Checks that bytes can still be added.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    private func checkIsOpen() throws {
        guard !isFinished else {
            throw DatabaseError(.invalid, "the attachment was finished already; begin another with a new writer")
        }
        guard !hasFailed else {
            throw DatabaseError(
                .invalid, "a piece of the attachment could not be written; begin it again with a new writer")
        }
    }

    /// Stores a piece: in memory while the content is small, later in the storage of large contents.
    private func keep(_ bytes: UnsafeRawBufferPointer) throws {
        try check?.validate(bytes)
        md5.update(bytes)
        sha256.update(bytes)
        encodedLength += Int64(bytes.count)
        if let stored { return try stored.write(bytes) }
        inMemory.append(contentsOf: bytes)
        guard inMemory.count > BlobStore.largestInRow, let writer = try store.storage?.newBlob() else { return }
        stored = writer
        try inMemory.withUnsafeBytes { try writer.write($0) }
        inMemory = []
    }
}
