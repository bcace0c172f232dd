internal import SettleDatabase
internal import SettlePlatform

/// The contents of large attachments, in chunks of 256 KiB under the random name of an upload.
///
///     uploads   a4f0… until 12:10         pinned: prolonged once a minute while a writer or a document to come needs it
///     chunks    a4f0… 0 │ a4f0… 1 │ …
///     blobs     sha-256 → a4f0…           written by the commit of the document, which takes the pin away
///
/// Any node removes an expired upload without a pin.
final class PostgresBlobs: BlobStorage {
    private let database: Int64
    private let pool: PostgresPool
    /// The uploads that this process pins, and those that it has released.
    private let pins = Guarded(Pins())

    private struct Pins {
        var live: Set<[UInt8]> = []
        var released: [[UInt8]] = []
    }

    /// The size of each chunk except for the last, in bytes.
    static let chunkLength = 256 * 1024

    init(_ database: Int64, _ pool: PostgresPool) { (self.database, self.pool) = (database, pool) }

    func newBlob() throws -> any BlobWriter {
        let name = SecureRandom.bytes(16)
        let made = try pool.runOnce([PostgresCall(.newUpload, .integer(database), .bytes(name))])
        guard made.first?.changed == 1 else { throw DatabaseError(.closed, "the database was deleted") }
        pins.withLock { _ = $0.live.insert(name) }
        return PostgresBlobWriter(self, UploadPin(name) { [weak self] in self?.release($0) })
    }

    func open(_ record: BlobRecord, from offset: Int64) throws -> any BlobReader {
        guard let place = record.place else {
            throw DatabaseError(.attachmentMissing, "the content \(record.digest) names no upload")
        }
        return PostgresBlobReader(self, place, offset: offset, length: record.length)
    }

    func collect(row: BlobLookup, hold: (_ remove: (BlobLookup) throws -> Void) throws -> Void) throws {
        try tend()
        let house = Housekeeping(pool: pool)
        while try house.collectUploads(of: database) > 0 {}
    }

    func sizeOnDisk() throws -> Int64 {
        try pool.ask([PostgresCall(.blobBytes, .integer(database))]).first?.integer(0, 0) ?? 0
    }

    // MARK: - Uploads

    /// Writes chunks in one transaction, which also extends the pin. Without a pin nothing is written, because nobody
    /// would remove it.
    func put(_ chunks: [[UInt8]], from number: Int64, of name: [UInt8]) throws {
        let calls = chunks.enumerated().map { index, bytes in
            PostgresCall(.putChunk, .integer(database), .bytes(name), .integer(number + Int64(index)), .bytes(bytes))
        }
        let results = try pool.runOnce([PostgresCall(.prolongUploads, .integer(database), .byteArrays([name]))] + calls)
        guard results.first?.changed == 1 else {
            throw DatabaseError(
                .attachmentMissing, "an upload was given up, as nothing came for ten minutes; send the attachment again"
            )
        }
    }

    /// Reads a chunk of an upload; returns `nil` if the upload was collected.
    func chunk(_ number: Int64, of name: [UInt8]) throws -> [UInt8]? {
        let rows = try pool.ask([PostgresCall(.chunk, .integer(database), .bytes(name), .integer(number))])
        return rows.first.flatMap { $0.count > 0 ? $0.bytes(0, 0) : nil }
    }

    private func release(_ name: [UInt8]) {
        pins.withLock { pins in
            pins.live.remove(name)
            pins.released.append(name)
        }
    }

    /// Extends the pins that are needed, and ends all others. Called once a minute.
    func tend() throws {
        let (live, released) = pins.withLock { pins in
            defer { pins.released = [] }
            return (Array(pins.live), pins.released)
        }
        guard !live.isEmpty || !released.isEmpty else { return }
        // An update locks rows in any order, so all are locked before it.
        var calls = [PostgresCall.lock(live + released, of: database)]
        if !live.isEmpty { calls.append(PostgresCall(.prolongUploads, .integer(database), .byteArrays(live))) }
        if !released.isEmpty { calls.append(PostgresCall(.endUploads, .integer(database), .byteArrays(released))) }
        _ = try pool.runOnce(calls)
    }
}

extension PostgresCall {
    /// Locks the pins of uploads, and returns the uploads that are there.
    ///
    /// Each call locks several pins in the order of their names. In any other order, one that prolongs them and a commit
    /// that needs them could wait for each other.
    static func lock(_ uploads: [[UInt8]], of database: Int64) -> PostgresCall {
        let sorted = uploads.sorted { $0.lexicographicallyPrecedes($1) }
        return PostgresCall(.uploadsThere, .integer(database), .byteArrays(sorted))
    }
}

/// Keeps an upload from being collected while it exists.
final class UploadPin: Sendable {
    let name: [UInt8]
    private let release: @Sendable ([UInt8]) -> Void

    init(_ name: [UInt8], release: @escaping @Sendable ([UInt8]) -> Void) {
        (self.name, self.release) = (name, release)
    }

    deinit { release(name) }
}

// MARK: - PostgresBlobWriter

/// Writes one content in chunks. If an answer is lost, the upload fails and the client has to start it again.
final class PostgresBlobWriter: BlobWriter {
    private let blobs: PostgresBlobs
    private let pin: UploadPin
    private var buffer: [UInt8] = []
    private var sent: Int64 = 0
    /// The number of chunks per transaction.
    private static let chunksAtOnce = 16

    init(_ blobs: PostgresBlobs, _ pin: UploadPin) { (self.blobs, self.pin) = (blobs, pin) }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.chunksAtOnce * PostgresBlobs.chunkLength { try send(isLast: false) }
    }

    func finish(as digest: BlobDigest) throws -> FinishedBlob {
        try send(isLast: true)
        return FinishedBlob(place: pin.name, pin: pin)
    }

    /// Sends full chunks, and the rest if it is the last.
    private func send(isLast: Bool) throws {
        let length = PostgresBlobs.chunkLength
        var start = 0
        while buffer.count - start >= (isLast ? 1 : length) {
            var chunks: [[UInt8]] = []
            while chunks.count < Self.chunksAtOnce, buffer.count - start >= (isLast ? 1 : length) {
                let end = min(start + length, buffer.count)
                chunks.append(Array(buffer[start..<end]))
                start = end
            }
            try blobs.put(chunks, from: sent, of: pin.name)
            sent += Int64(chunks.count)
        }
        buffer.removeFirst(start)
    }
}

/// Reads a content, a chunk at a time.
final class PostgresBlobReader: BlobReader {
    private let blobs: PostgresBlobs
    private let place: [UInt8]
    private var offset: Int64
    private let length: Int64
    private var chunk: (number: Int64, bytes: [UInt8])?

    init(_ blobs: PostgresBlobs, _ place: [UInt8], offset: Int64, length: Int64) {
        (self.blobs, self.place, self.offset, self.length) = (blobs, place, offset, length)
    }

    func read(upTo count: Int) throws -> [UInt8] {
        guard offset < length, count > 0 else { return [] }
        let (number, start) = offset.quotientAndRemainder(dividingBy: Int64(PostgresBlobs.chunkLength))
        if chunk?.number != number {
            guard let bytes = try blobs.chunk(number, of: place) else {
                throw DatabaseError(.attachmentMissing, "a part of the content of an attachment is no longer there")
            }
            chunk = (number, bytes)
        }
        guard let bytes = chunk?.bytes, Int(start) < bytes.count else {
            throw DatabaseError(.attachmentMissing, "a part of the content of an attachment is shorter than it was")
        }
        let piece = Array(bytes[Int(start)..<min(Int(start) + count, bytes.count)])
        offset += Int64(piece.count)
        return piece
    }
}
