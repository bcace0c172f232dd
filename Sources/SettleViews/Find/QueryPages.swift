internal import SettleDatabase

/// The documents of a query in pages.
///
/// ## Buffering
///
/// A page is read on demand; nothing is read ahead. Each page is from one snapshot of the database.
public struct QueryPages<Model: Decodable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let query: DocumentQuery<Model>
    let size: Int

    /// Starts at the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// The iterator of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: QueryPages
        private var cursor: FindCursor?
        private var hasEnded = false

        init(pages: QueryPages) { self.pages = pages }

        /// The next page; `nil` at the end, or when the task is cancelled.
        ///
        /// - Throws: As ``Database/find(_:)``.
        public mutating func next() async throws -> QueryResult<Model>? {
            guard !hasEnded, !Task.isCancelled else { return nil }
            let (pages, known) = (pages, cursor)
            let (page, cursor) = try await pages.database.perform { database in
                var cursor = try known ?? FindCursor(pages.query.options(), in: database)
                if known == nil { try cursor.update() }
                var page = QueryResult<Model>()
                while !cursor.isDone, page.found < pages.size {
                    try cursor.next(lookingAt: 1000) { found in
                        page.append(found, in: database)
                        return page.found < pages.size
                    }
                }
                page.finish(cursor)
                return (page, cursor)
            }
            self.cursor = cursor
            hasEnded = cursor.isDone
            return page.found == 0 ? nil : page
        }
    }
}
