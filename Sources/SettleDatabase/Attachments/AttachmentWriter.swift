internal import SettleCore
internal import SettleCrypto
internal import SettlePlatform

/// Writes the content of a new attachment piece by piece, in bounded memory.
///
///     let writer = try database.attachmentWriter(contentType: "video/mp4")
///     while let piece = try camera.next() { try writer.write(piece) }
///     document.attach(try writer.finish(name: "holiday.mp4"))
///     try database.save(document, onConflict: .fail)
///
/// The content is on the disk when ``finish(name:)`` returns, and belongs to a document once that is saved; compaction
/// collects unsaved content. A writer is used by one thread at a time.
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
    private var file: (path: String, writer: FileHandleWriter)?
    /// The file of an unfinished download.
    private var place: PartialBlobs.Place?
    private var isFinished = false

    init(store: BlobStore, contentType: String, encoding: DocumentAttachment.Encoding?) throws {
        self.store = store
        self.contentType = contentType
        let compresses = encoding == nil && Gzip.isCompressible(contentType)
        gzip = compresses ? try Gzip(.compress) : nil
        check = encoding == .gzip ? try GzipCheck() : nil
        self.encoding = compresses ? .gzip : encoding ?? .identity
    }

    /// Continues the partial content of an earlier writer, if there is one, whose bytes are read once.
    init(
        store: BlobStore, resuming digest: AttachmentDigest, length: Int64, encoding: DocumentAttachment.Encoding
    ) throws {
        self.store = store
        contentType = "application/octet-stream"
        gzip = nil
        self.encoding = encoding
        check = encoding == .gzip ? try GzipCheck() : nil
        guard length > Int64(BlobStore.largestInRow), let place = try store.partial.take(digest, length: length) else {
            return
        }
        self.place = place
        file = (place.path, try FileHandleWriter(path: place.path, goesOn: true))
        let reader = try FileHandleReader(path: place.path)
        guard try reader.size() <= length else {
            file = (place.path, try FileHandleWriter(path: place.path))
            return
        }
        do { try takeLeft(reader) } catch let error as DatabaseError where error.code == .invalid {
            // The remaining bytes are damaged, so writing starts over.
            (md5, sha256, check, self.length) = (MD5(), SHA256(), try GzipCheck(), 0)
            file = (place.path, try FileHandleWriter(path: place.path))
        }
        encodedLength = self.length
    }

    private func takeLeft(_ reader: FileHandleReader) throws {
        while case let piece = try reader.read(upTo: 256 * 1024), !piece.isEmpty {
            try piece.withUnsafeBytes { bytes in
                try check?.take(bytes)
                md5.update(bytes)
                sha256.update(bytes)
            }
            length += Int64(piece.count)
        }
    }

    /// How many bytes are stored.
    package var storedLength: Int64 { encodedLength }

    /// Discards the bytes written so far.
    package func discard() { place = nil }

    /// Unfinished content leaves no file, unless another writer may resume it.
    deinit {
        if let file, place == nil || encodedLength == 0 { try? removeIfThere(file.path) }
    }

    /// Writes the next piece of the content.
    ///
    /// - Throws: ``DatabaseError`` with code `diskFull` or `inputOutput`, or `invalid` after ``finish(name:)`` and for bytes
    ///   declared as gzip that are not.
    public func write(_ bytes: some ContiguousBytesLike) throws {
        try bytes.withRawBytes { try write(raw: $0) }
    }

    private func write(raw bytes: UnsafeRawBufferPointer) throws {
        guard !isFinished else { throw Self.alreadyFinished }
        length += Int64(bytes.count)
        if let gzip { try gzip.process(bytes, isLast: false, emit: keep) } else { try keep(bytes) }
    }

    /// Finishes the content.
    ///
    /// - Parameter name: The attachment's name in the document.
    /// - Returns: The attachment, to be attached to a document of the same database.
    /// - Throws: ``DatabaseError`` with code `diskFull`, `inputOutput`, or `invalid` for a name that is empty or starts
    ///   with an underscore, or for a content that is declared as gzip and can't be expanded.
    public func finish(name: String) throws -> DocumentAttachment {
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: "_") else {
            throw DatabaseError(.invalid, "\"\(name)\" is no name for an attachment: it is empty or starts with _")
        }
        guard !isFinished else { throw Self.alreadyFinished }
        isFinished = true
        try gzip?.process(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, emit: keep)
        try check?.finish()
        guard let digest = AttachmentDigest(md5: md5.finish()), let blob = BlobDigest(sha256.finish()) else {
            throw DatabaseError(.storage, "the digest of an attachment could not be computed")
        }
        let isFile = file != nil
        let record = BlobRecord(
            digest: blob, md5: digest.md5, length: encodedLength, content: isFile ? nil : inMemory, isFile: isFile)
        // Pinned before the file has its name; otherwise a running compaction could remove it.
        let pending = store.pin(record)
        if let file {
            try file.writer.synchronize()
            try store.adopt(file.path, as: blob)
        }
        (file, place) = (nil, nil)
        return DocumentAttachment(
            name: name, contentType: contentType, revpos: 0, digest: digest, length: check?.length ?? length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }

    private static var alreadyFinished: DatabaseError {
        DatabaseError(.invalid, "the attachment was finished already; begin another with a new writer")
    }

    /// Stores a piece: in memory while the content is small, then in a file.
    private func keep(_ bytes: UnsafeRawBufferPointer) throws {
        try check?.take(bytes)
        md5.update(bytes)
        sha256.update(bytes)
        encodedLength += Int64(bytes.count)
        if let file { return try file.writer.write(bytes) }
        inMemory.append(contentsOf: bytes)
        guard inMemory.count > BlobStore.largestInRow, let path = try store.newFile() else { return }
        let writer = try FileHandleWriter(path: path)
        file = (path, writer)
        try inMemory.withUnsafeBytes { try writer.write($0) }
        inMemory = []
    }
}

/// Contiguous bytes in memory.
public protocol ContiguousBytesLike {
    /// Calls a closure with the bytes.
    func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
}

extension [UInt8]: ContiguousBytesLike {
    /// Calls a closure with the array's bytes.
    public func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(body)
    }
}

extension UnsafeRawBufferPointer: ContiguousBytesLike {
    /// Calls a closure with itself.
    public func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(self)
    }
}
