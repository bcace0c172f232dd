internal import SettleCore
internal import SettlePlatform

/// The changes of a database as they happen, without end.
///
///     for try await change in try database.observe() {
///         print(change.id, change.winner)
///     }
///
/// ## Buffering
///
/// Nothing is buffered. The observation stores the position of the last change it returned and continues reading
/// from there, a page at a time. So a slow observer costs no memory and misses no document; a document that changed
/// several times between two reads is returned once, in its newest state.
///
/// It ends when the database is closed or the task is cancelled.
public struct ChangeObservation: AsyncSequence, Sendable {
    let database: Database
    let since: UpdateSequence
    let style: Change.Style
    let includingDocuments: Bool
    let isIncluded: @Sendable (Change) -> Bool

    /// Starts observing.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The position of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: ChangeObservation
        private var since: UpdateSequence
        private var page: ArraySlice<Change> = []
        private static let pageLength = 100

        init(observation: ChangeObservation) {
            self.observation = observation
            since = observation.since
        }

        /// Waits for the next change; `nil` if the database is closed or the task is cancelled.
        ///
        /// - Throws: ``DatabaseError`` if the database can't be read.
        public mutating func next() async throws -> Change? {
            while true {
                while let change = page.popFirst() {
                    since = change.sequence
                    if observation.isIncluded(change) { return change }
                }
                if Task.isCancelled { return nil }
                let (observation, seen) = (observation, since)
                let newest: UpdateSequence
                do {
                    // A purge advances the sequence without a change, so the position comes from the page even if that
                    // is empty.
                    (page, newest) = try await observation.database.perform { database in
                        try database.snapshot {
                            let newest = try database.lastSequence()
                            let page = try database.changes(
                                since: seen, limit: Self.pageLength, style: observation.style,
                                includingDocuments: observation.includingDocuments)
                            return (ArraySlice(page), newest)
                        }
                    }
                } catch let error as DatabaseError {
                    guard try await observation.database.waitsOut(error) else { return nil }
                    continue
                }
                guard page.isEmpty else { continue }
                if newest > since { since = newest }
                guard await observation.database.changeBell.wait(after: since.number) else { return nil }
            }
        }
    }
}

// MARK: - DocumentObservation

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

        /// Waits for the next state of the document. `nil` at the outer level is the end.
        ///
        /// - Throws: ``DatabaseError`` if the database can't be read, or with code `invalid` for an invalid id.
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
                guard await database.changeBell.wait(after: seen.number) else { return nil }
            }
            return nil
        }
    }
}
