internal import SettleDatabase

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
