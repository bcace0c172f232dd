internal import Foundation
internal import SettlePlatform

/// Reads contents of attachments that are in files or at hand.
enum AttachmentContent {
    /// The largest piece that is passed, in bytes.
    static let piece = 64 << 10

    /// Passes a content in pieces.
    ///
    /// - Returns: Whether the content is at such a place; otherwise the reader has to find it.
    /// - Throws: ``ForeignFileError`` with code `missing` or `inputOutput`; what `body` throws.
    static func read(
        _ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        switch attachment.place {
        case .file(let url): try read(url, of: attachment, body)
        case .bytes(let bytes): try AttachmentPieces.pass(bytes, body)
        case .missing(let reason): throw ForeignFileError(.missing, reason)
        case .key, .chunks: return false
        }
        return true
    }

    private static func read(
        _ url: URL, of attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
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
