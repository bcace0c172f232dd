internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Lists of documents: `_all_docs`, `_design_docs`, `_local_docs`.
enum ListingEndpoints {
    /// `GET /{db}/_all_docs` and its kin.
    static func list(_ namespace: ListingNamespace) -> Endpoint {
        .work { context in
            let database = try context.database()
            var query = ListingQuery(context.request)
            try query.parse(context.query)
            return .json(
                stream: try ListingStream([listing(database, query, namespace, context.metrics)], of: database))
        }
    }

    /// `POST /{db}/_all_docs` and its kin.
    static func listSome(_ namespace: ListingNamespace) -> Endpoint {
        .work { context in
            try context.requireContentType()
            let database = try context.database()
            let body = try context.jsonObject()
            if let keys = body["keys"], keys.array == nil {
                throw HTTPError.badRequest("`keys` body member must be an array.")
            }
            var query = ListingQuery(context.request)
            try query.parse(body)
            // The query takes precedence over the body, as in CouchDB.
            try query.parse(context.query)
            return .json(
                stream: try ListingStream([listing(database, query, namespace, context.metrics)], of: database))
        }
    }

    /// `POST /{db}/_all_docs/queries` and its kin.
    static func queries(_ namespace: ListingNamespace) -> Endpoint {
        .work { context in
            let database = try context.database()
            guard let queries = try context.jsonObject()["queries"] else {
                throw HTTPError.badRequest("POST body must include `queries` parameter.")
            }
            guard let list = queries.array else { throw HTTPError.badRequest("`queries` member must be an array.") }
            try RequestLimits.check(queries: list.count)
            let listings = try list.map { item in
                var query = ListingQuery(context.request)
                try query.parse(context.query)
                try query.parse(query: item.object ?? JSONObject())
                return try listing(database, query, namespace, context.metrics)
            }
            return .json(stream: ListingStream(listings, of: database, isMany: true))
        }
    }

    private static func listing(
        _ database: Database, _ query: ListingQuery, _ namespace: ListingNamespace,
        _ metrics: Metrics
    ) throws -> DocumentListing {
        try query.check()
        return DocumentListing(database: database, query: query, namespace: namespace, metrics: metrics)
    }
}

// MARK: - ListingStream

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
