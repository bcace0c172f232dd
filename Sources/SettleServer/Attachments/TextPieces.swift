internal import SettleDatabase

/// Returns the pieces of a text, and reads the attachments in it as needed, in bounded memory.
struct TextPieces {
    private let database: Database
    private var text: WireText
    private var next = 0
    private var position = 0
    private var reader: AttachmentReader?
    /// The last bytes of a content, too few to be encoded as base64 yet.
    private var rest: [UInt8] = []

    init(_ text: WireText, _ database: Database) {
        self.text = text
        self.database = database
    }

    /// The next piece, never empty, or `nil` at the end.
    ///
    /// - Throws: ``DatabaseError`` if a content can't be read.
    mutating func read() throws -> [UInt8]? {
        while true {
            if let reader {
                if let piece = try encoded(reader) { return piece }
                self.reader = nil
            }
            let end = next < text.contents.count ? text.contents[next].place : text.bytes.count
            if position < end {
                defer { position = end }
                return Array(text.bytes[position..<end])
            }
            guard next < text.contents.count else { return nil }
            reader = try database.attachmentReader(for: text.contents[next].attachment)
            next += 1
        }
    }

    /// The next piece of a content as base64; `nil` at its end.
    private mutating func encoded(_ reader: AttachmentReader) throws -> [UInt8]? {
        while let piece = try reader.read() {
            let bytes = rest + piece
            let whole = bytes.count - bytes.count % 3
            rest = Array(bytes[whole...])
            if whole > 0 { return Array(Base64.encode(Array(bytes[..<whole])).utf8) }
        }
        defer { rest = [] }
        return rest.isEmpty ? nil : Array(Base64.encode(rest).utf8)
    }
}
