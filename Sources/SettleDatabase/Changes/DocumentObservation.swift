internal import SettleCore

/// One document as it changes, without end: first its current state, then each change of its winner.
///
/// Nothing is buffered: a slow observer gets the newest state next and may miss intermediate ones. A missing or deleted
/// document is `nil`. It ends if the database is closed or the task is cancelled.
public struct DocumentObservation: AsyncSequence, Sendable {
    let database: Database
    let id: Result<DocumentID, any Error>

    /// Starts observing.
    public func makeAsyncIterator() -> Iterator { Iterator(database: database, id: id) }

    /// The position of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let database: Database
        private let id: Result<DocumentID, any Error>
        private var seen: UpdateSequence = -1
        private var given: Document??

        init(database: Database, id: Result<DocumentID, any Error>) {
            self.database = database
            self.id = id
        }

        /// The next state of the document; waits for one. `nil` at the outer level is the end.
        ///
        /// - Throws: ``DatabaseError`` if the database can't be read, or with code `invalid` for what can't be an id.
        public mutating func next() async throws -> Document?? {
            let id = try id.get()
            while !Task.isCancelled {
                do {
                    let (sequence, document) = try await database.perform { database in
                        try database.snapshot { (try database.lastSequence(), try database.document(id)) }
                    }
                    seen = sequence
                    if given == nil || given??.revision != document?.revision {
                        given = .some(document)
                        return .some(document)
                    }
                } catch let error as DatabaseError {
                    guard try await database.waitsOut(error) else { return nil }
                    continue
                }
                guard await database.notifier.wait(after: seen) else { return nil }
            }
            return nil
        }
    }
}
