internal import SettleDatabase
internal import SettlePlatform

/// Sends one text.
final class TextStream: ResponseStream {
    private let pieces: Guarded<TextPieces>

    init(_ text: WireText, _ database: Database) { pieces = Guarded(TextPieces(text, database)) }

    func next() throws -> ResponseStep { try pieces.withLock { try $0.read().map { .piece($0) } ?? .end } }
}
