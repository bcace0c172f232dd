internal import Foundation
internal import SettlePlatform

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
    /// - Throws: ``ForeignFileError`` with code `missing` or `inputOutput`; what `body` and `stored` throw.
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
        let file = open(url.path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            let code: ForeignFileError.Code = errno == ENOENT ? .missing : .inputOutput
            throw ForeignFileError(
                code, "the file \(url.lastPathComponent) can't be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: piece)
        while true {
            let count = buffer.withUnsafeMutableBytes { SettlePlatform.read(file, $0.baseAddress, $0.count) }
            if count == 0 { return }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw ForeignFileError(
                    .inputOutput, "the file \(url.lastPathComponent) can't be read: \(String(cString: strerror(errno)))"
                )
            }
            try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
