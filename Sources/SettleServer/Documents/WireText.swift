internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// JSON to be sent, with attachments as base64: small ones are in memory, large ones are read when they are sent, so that
/// memory does not depend on their size.
struct WireText: Sendable {
    /// The text without the contents that are read later.
    var bytes: [UInt8] = []
    /// The contents to insert, and the byte before which each is inserted, in order.
    private(set) var contents: [(place: Int, attachment: DocumentAttachment)] = []

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Its size in memory, in bytes.
    var count: Int { bytes.count }

    var isEmpty: Bool { bytes.isEmpty && contents.isEmpty }

    /// Appends the base64 of a content that is read when it is sent.
    mutating func append(contentOf attachment: DocumentAttachment) { contents.append((bytes.count, attachment)) }

    static func += (text: inout WireText, more: some Sequence<UInt8>) { text.bytes.append(contentsOf: more) }

    static func += (text: inout WireText, more: WireText) {
        let start = text.bytes.count
        text.bytes.append(contentsOf: more.bytes)
        for (place, attachment) in more.contents { text.contents.append((start + place, attachment)) }
    }
}

// MARK: - TextPieces

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

// MARK: - TextOutbox

/// The unsent texts of a stream, in order.
struct TextOutbox {
    private var pieces: TextPieces?

    /// The next piece; `nil` when everything was sent.
    mutating func read() throws -> [UInt8]? {
        if let piece = try pieces?.read() { return piece }
        pieces = nil
        return nil
    }

    /// Sends a text: at once if it is in memory, else piece by piece.
    mutating func send(_ text: WireText, _ database: Database) throws -> ResponseStep {
        if text.contents.isEmpty { return .piece(text.bytes) }
        pieces = TextPieces(text, database)
        return .piece(try read() ?? [])
    }
}
