internal import Foundation

/// Passes the contents of attachments in pieces.
enum AttachmentContent {
    /// The largest piece that is passed, in bytes.
    static let piece = 64 << 10

    /// Passes a content in pieces.
    ///
    /// - Parameters:
    ///   - attachment: The attachment.
    ///   - body: Receives a piece.
    ///   - stored: The content that the reader has under a key; `nil` if it has none.
    /// - Throws: ``ForeignFileError`` with code `missing`, `damaged` or `inputOutput`; what `body` and `stored` throw.
    static func read(
        _ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void,
        stored: (String) throws -> [UInt8]? = { _ in nil }
    ) throws {
        switch attachment.place {
        case .file(let url): try read(url, body)
        case .bytes(let bytes): try pass(bytes, body)
        case .key(let key):
            guard let bytes = try stored(key) else { throw missing(attachment) }
            try pass(bytes, body)
        case .missing(let reason): throw ForeignFileError(.missing, reason)
        case .chunks: throw missing(attachment)
        }
    }

    /// Passes bytes in pieces.
    static func pass(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: piece) {
                try body(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + piece, bytes.count)]))
            }
        }
    }

    /// The error for a content that is nowhere.
    static func missing(_ attachment: ForeignAttachment) -> ForeignFileError {
        ForeignFileError(.missing, "the content of \(attachment.name) is not in the file")
    }

    private static func read(_ url: URL, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let file = try ForeignFile(url)
        for start in stride(from: 0, to: file.size, by: piece) {
            try pass(file.read(at: start, count: min(piece, file.size - start)), body)
        }
    }
}
