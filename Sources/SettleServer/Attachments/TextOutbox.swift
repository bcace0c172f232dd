internal import SettleDatabase

/// Texts of a stream on their way out, one after the other.
struct TextOutbox {
    private var pieces: TextPieces?

    /// The next piece of what is on its way; `nil` when all of it was sent.
    mutating func read() throws -> [UInt8]? {
        if let piece = try pieces?.read() { return piece }
        pieces = nil
        return nil
    }

    /// Sends a text: at once where all of it is here, else piece by piece.
    mutating func send(_ text: WireText, _ database: Database) throws -> ResponseStep {
        if text.contents.isEmpty { return .piece(text.bytes) }
        pieces = TextPieces(text, database)
        return .piece(try read() ?? [])
    }
}
