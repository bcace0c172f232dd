internal import SettleDatabase
internal import SettlePlatform

/// Sends one or more lists of documents as JSON, a page at a time.
final class ListingStream: ResponseStream {
    private struct State {
        var rest: ArraySlice<DocumentListing>
        var current: (listing: DocumentListing, position: DocumentListing.Position)?
        var isFirstRow = true
        var isFirstList = true
        var hasEnded = false
        var outbox = TextOutbox()
    }

    private let database: Database
    private let isMany: Bool
    private let state: Guarded<State>

    /// - Parameters:
    ///   - listings: The lists.
    ///   - database: Their database.
    ///   - isMany: Whether the answer has them as an array under `results`.
    init(_ listings: [DocumentListing], of database: Database, isMany: Bool = false) {
        self.database = database
        self.isMany = isMany
        state = Guarded(State(rest: ArraySlice(listings)))
    }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            if let piece = try state.outbox.read() { return .piece(piece) }
            if state.hasEnded { return .end }
            var text = WireText()
            if state.isFirstList, state.current == nil, isMany { text += Array("{\"results\":[".utf8) }
            while text.count < 64 * 1024 {
                if case (let listing, var position)? = state.current {
                    let rows = try listing.next(&position)
                    state.current = (listing, position)
                    guard let rows else {
                        text += Array("\r\n]}".utf8)
                        state.current = nil
                        continue
                    }
                    // Many documents may be deleted or skipped, so other requests get the thread meanwhile.
                    if rows.isEmpty { return try state.outbox.send(text, database) }
                    for row in rows {
                        if !state.isFirstRow { text += Array(",\r\n".utf8) }
                        state.isFirstRow = false
                        text += row
                    }
                } else if let listing = state.rest.popFirst() {
                    if isMany { text += Array(state.isFirstList ? "\r\n".utf8 : ",\r\n".utf8) }
                    let (head, position) = try listing.begin()
                    text += Array(head.utf8)
                    (state.isFirstList, state.isFirstRow, state.current) = (false, true, (listing, position))
                } else {
                    text += Array(isMany ? "\r\n]}\n".utf8 : "\n".utf8)
                    state.hasEnded = true
                    break
                }
            }
            return try state.outbox.send(text, database)
        }
    }
}
