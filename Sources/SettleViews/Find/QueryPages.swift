public import SettleCore
public import SettleDatabase

/// The documents of a query in pages.
///
/// ## Buffering
///
/// A page is read on demand; nothing is read ahead. Each page is from one snapshot of the database.
public struct QueryPages<Model: Decodable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let query: Query<Model>
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
        public mutating func next() async throws -> [QueryRow<Model>]? {
            guard !hasEnded, !Task.isCancelled else { return nil }
            let (pages, known) = (pages, cursor)
            let (rows, cursor) = try await pages.database.perform { database in
                var cursor = try known ?? FindCursor(pages.query.options(), in: database)
                if known == nil { try cursor.update() }
                var rows: [QueryRow<Model>] = []
                while !cursor.isDone, rows.count < pages.size {
                    try cursor.next(lookingAt: 1000) { found in
                        rows.append(try QueryRow(found))
                        return rows.count < pages.size
                    }
                }
                return (rows, cursor)
            }
            self.cursor = cursor
            hasEnded = cursor.isDone
            return rows.isEmpty ? nil : rows
        }
    }
}

/// A document that a query found.
public struct QueryRow<Model: Sendable>: Sendable, Identifiable {
    /// The document's id.
    public let id: DocumentID
    /// The revision that was found; `nil` if only some members were requested.
    public let revision: RevisionID?
    /// Its members as a model, without `_id` and `_rev` unless they were requested.
    public let value: Model

    /// Reads the current document; `nil` when it was deleted meanwhile.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read.
    public func document(in database: Database) throws -> Document? { try database.document(id) }
}

extension QueryRow: Equatable where Model: Equatable {}
