internal import SettlePlatform

/// Turns the bytes of an input into UTF-8: expands gzip, and converts other encodings.
///
/// The beginning tells what the bytes are, unless an encoding is given. It is not read on before it is needed, so that a document
/// that is typed is taken without waiting for the next.
package final class TextInput {
    private let source: () throws -> [UInt8]
    private let given: TextEncoding?
    private var converter: TextConverter?
    private var gzip: Deflate?
    private var hasBegun = false
    private var isAtEnd = false

    /// Creates an input.
    ///
    /// - Parameters:
    ///   - encoding: The encoding of the text; `nil` to find it by the first bytes, and otherwise UTF-8.
    ///   - source: Returns pieces of bytes, and an empty one at the end.
    package init(encoding: TextEncoding? = nil, _ source: @escaping () throws -> [UInt8]) {
        given = encoding
        self.source = source
    }

    /// The next piece of text; empty at the end.
    ///
    /// - Throws: ``ForeignFileError`` for bytes that are no text, and for gzip that is damaged; what the source throws.
    package func read() throws -> [UInt8] {
        while !isAtEnd {
            var piece = try hasBegun ? expanded(source()) : begin()
            isAtEnd = piece == nil
            if let converter { piece = try converter.convert(piece ?? [], isLast: isAtEnd) }
            if let piece, !piece.isEmpty { return piece }
        }
        return []
    }

    private func begin() throws -> [UInt8] {
        hasBegun = true
        var head = try source()
        while head.count < 4, case let more = try source(), !more.isEmpty { head += more }
        if head.starts(with: [0x1F, 0x8B]) {
            gzip = try Deflate(.expand, .gzip)
            var text: [UInt8] = []
            var piece = try expanded(head)
            while let part = piece {
                text += part
                if text.count >= 4 { break }
                piece = try expanded(source())
            }
            head = text
        }
        if let given, given != .utf8 {
            converter = TextConverter(given)
            return head
        }
        if head.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(head.dropFirst(3)) }
        if let encoding = TextEncoding(of: head) {
            converter = TextConverter(encoding)
        } else if let name = Magic.name(of: head) {
            throw ForeignFileError(.unknown, name)
        }
        return head
    }

    /// A piece of the content of gzip, or the piece itself; `nil` at the end.
    private func expanded(_ piece: [UInt8]) throws -> [UInt8]? {
        guard let gzip else { return piece.isEmpty ? nil : piece }
        if piece.isEmpty {
            guard gzip.isAtEnd else { throw ForeignFileError(.damaged, "the gzip data end before their content does") }
            return nil
        }
        var content: [UInt8] = []
        do {
            try piece.withUnsafeBytes { try gzip.process($0) { content.append(contentsOf: $0) } }
        } catch is Deflate.Failure { throw ForeignFileError(.damaged, "the gzip data are damaged") }
        if gzip.hasRest { throw ForeignFileError(.damaged, "something else follows the gzip data") }
        return content
    }
}

// MARK: - Magic

/// The first bytes of files that are not texts.
enum Magic {
    private static let known: [(bytes: [UInt8], advice: String)] = [
        (Array("SQLite format 3\0".utf8), "it is an SQLite database: give its path, not its bytes"),
        ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed with zstd: unpack it with `zstd -d` first"),
        ([0x50, 0x4B, 3, 4], "it is a ZIP archive: unpack it first"),
        (Array("BZh".utf8), "it is compressed with bzip2: unpack it with `bunzip2` first"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "it is compressed with xz: unpack it with `unxz` first"),
    ]

    /// What the bytes are and what to do with them; `nil` for text.
    static func name(of head: [UInt8]) -> String? {
        if let magic = known.first(where: { head.starts(with: $0.bytes) }) { return magic.advice }
        guard head.prefix(4096).contains(0) else { return nil }
        return "it is a binary file of an unknown kind, and neither text nor a database that can be imported"
    }
}
