internal import SettleDatabase

/// Sends one or more lists of documents as JSON, a page at a time.
final class ListingStream: ResponseStream {
    private struct State {
        var rest: ArraySlice<DocumentListing>
        var current: (listing: DocumentListing, position: DocumentListing.Position)?
        var isFirstRow = true
        var isFirstList = true
        var hasEnded = false
    }

    private let isMany: Bool
    private let state: Guarded<State>

    /// - Parameters:
    ///   - listings: The lists.
    ///   - isMany: Whether they come as an array under `results`.
    init(_ listings: [DocumentListing], isMany: Bool = false) {
        self.isMany = isMany
        state = Guarded(State(rest: ArraySlice(listings)))
    }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            if state.hasEnded { return .end }
            var bytes: [UInt8] = []
            if state.isFirstList, state.current == nil, isMany { bytes += Array("{\"results\":[".utf8) }
            while bytes.count < 64 * 1024 {
                if case (let listing, var position)? = state.current {
                    let rows = try listing.next(&position)
                    state.current = (listing, position)
                    guard let rows else {
                        bytes += Array("\r\n]}".utf8)
                        state.current = nil
                        continue
                    }
                    // Much may have been deleted, or is skipped: then others go on meanwhile.
                    if rows.isEmpty { return .piece(bytes) }
                    for row in rows {
                        if !state.isFirstRow { bytes += Array(",\r\n".utf8) }
                        state.isFirstRow = false
                        bytes += row
                    }
                } else if let listing = state.rest.popFirst() {
                    if isMany { bytes += Array(state.isFirstList ? "\r\n".utf8 : ",\r\n".utf8) }
                    let (head, position) = try listing.begin()
                    bytes += Array(head.utf8)
                    (state.isFirstList, state.isFirstRow, state.current) = (false, true, (listing, position))
                } else {
                    bytes += Array(isMany ? "\r\n]}\n".utf8 : "\n".utf8)
                    state.hasEnded = true
                    break
                }
            }
            return .piece(bytes)
        }
    }
}
