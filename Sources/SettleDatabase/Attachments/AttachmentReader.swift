internal import SettleCrypto

/// Reads the content of an attachment piece by piece, in bounded memory.
///
///     let reader = try database.attachmentReader(for: photo)
///     while let piece = try reader.read() { socket.send(piece) }
///
/// Compressed content is expanded. The reader computes the digest of the stored bytes as it reads, and returns the
/// last piece only if the digest is right. The digest of a part of a large content can't be checked. A reader is
/// used by one thread at a time.
public final class AttachmentReader {
    private enum Source {
        case memory(ArraySlice<UInt8>)
        case stored(any BlobReader)
    }

    private var source: Source
    private let gzip: Gzip?
    private var remaining: Int64
    private let digest: BlobDigest
    /// Computes the digest of the stored bytes; `nil` for a part of them, or if the caller computes it.
    private let hash: SHA256?
    /// The maximum number of bytes read at once.
    private static let pieceLength = 64 * 1024
    /// The maximum number of compressed bytes read at once; each can expand to a thousand.
    private static let compressedPieceLength = 4 * 1024

    /// - Parameters:
    ///   - record: The content.
    ///   - store: The store that has the content.
    ///   - expands: Whether the bytes are gzip and are to be expanded.
    ///   - range: A part of the stored bytes; `nil` for all.
    ///   - checksDigest: Whether the reader compares the digest; if not, the caller does.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing` or `inputOutput`.
    init(
        _ record: BlobRecord, store: BlobStore, expands: Bool, range: Range<Int64>?, checksDigest: Bool = true
    ) throws {
        gzip = expands ? try Gzip(.expand) : nil
        digest = record.digest
        guard record.length >= 0, record.content.map({ $0.count == record.length }) ?? true else {
            throw DatabaseError(.attachmentMissing, "the content \(record.digest) has not the length it should have")
        }
        let range = (range ?? 0..<record.length).clamped(to: 0..<record.length)
        remaining = Int64(range.count)
        let isWhole = remaining == record.length
        hash = checksDigest && isWhole ? SHA256() : nil
        if let content = record.content {
            // The whole content is in memory, so its digest can be checked even if only a part is read.
            if checksDigest, !isWhole { try Self.check(SHA256.hash(content), digest) }
            source = .memory(content[Int(range.lowerBound)..<Int(range.upperBound)])
            return
        }
        source = .stored(try store.open(record, from: range.lowerBound))
    }

    /// The next piece of the content, never empty, or `nil` at the end.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`, or `attachmentMissing` if stored bytes are damaged.
    public func read() throws -> [UInt8]? {
        while remaining > 0 {
            let piece = try readStored()
            if piece.isEmpty {
                throw DatabaseError(.attachmentMissing, "the stored content of an attachment was cut short")
            }
            remaining -= Int64(piece.count)
            if let hash {
                piece.withUnsafeBytes { hash.update($0) }
                if remaining == 0 { try Self.check(hash.finish(), digest) }
            }
            guard let gzip else { return piece }
            var expanded: [UInt8] = []
            try piece.withUnsafeBytes { bytes in
                try gzip.process(bytes, isLast: remaining == 0) { expanded.append(contentsOf: $0) }
            }
            if remaining == 0, !gzip.isAtEnd {
                throw DatabaseError(.attachmentMissing, "the content of an attachment ends before its gzip does")
            }
            if !expanded.isEmpty { return expanded }
        }
        return nil
    }

    /// The rest of the content, which must be small.
    public func readAll() throws -> [UInt8] {
        var all: [UInt8] = []
        while let piece = try read() { all += piece }
        return all
    }

    private static func check(_ found: [UInt8], _ digest: BlobDigest) throws {
        guard found == digest.bytes else {
            throw DatabaseError(
                .attachmentMissing, "the content \(digest) of an attachment is damaged: its digest differs")
        }
    }

    private func readStored() throws -> [UInt8] {
        let most = gzip == nil ? Self.pieceLength : Self.compressedPieceLength
        let count = Int(min(Int64(most), remaining))
        switch source {
        case .stored(let reader): return try reader.read(upTo: count)
        case .memory(let bytes):
            source = .memory(bytes.dropFirst(count))
            return Array(bytes.prefix(count))
        }
    }
}
