internal import SettleCore
import SettleDatabase

/// A live query: an endless sequence of its results, first the current ones, then after each change of them.
///
///     for try await people in database.observe(DocumentQuery<Person>().where { $0.age > 30 }) { show(people.rows) }
///
/// ## Buffering
///
/// Nothing is buffered. After a change of the database the sequence looks at the documents that changed. The query runs again if
/// one of them was found or matches now, and its results are compared with those returned last. A slow observer gets the newest
/// state next and may miss those in between. The sequence ends when the database is closed or the task is cancelled.
public struct QueryObservation<Model: Decodable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let query: DocumentQuery<Model>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The iterator of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: QueryObservation
        private var watch: QueryWatch?
        /// How often the query ran.
        package private(set) var runs = 0

        init(observation: QueryObservation) { self.observation = observation }

        /// Waits for the next change of the results and returns them. `nil` when the database is closed or the task
        /// is cancelled.
        ///
        /// - Throws: As ``Database/find(_:)``.
        public mutating func next() async throws -> QueryResult<Model>? {
            while !Task.isCancelled {
                let (observation, known) = (observation, watch)
                do {
                    let (result, watch) = try await observation.database.perform { try observation.look($0, known) }
                    self.watch = watch
                    if let result {
                        runs += 1
                        if watch.marks != known?.marks { return result }
                    }
                    guard await observation.database.waitForChange(after: watch.sequence) else { return nil }
                } catch let error as DatabaseError {
                    guard try await observation.database.waitsOut(error) else { return nil }
                    continue
                }
            }
            return nil
        }
    }

    /// Runs the query, unless nothing that can matter has happened since it ran.
    private func look(_ database: Database, _ known: QueryWatch?) throws -> (QueryResult<Model>?, QueryWatch) {
        if var watch = known, try !watch.hasToRun(in: database) { return (nil, watch) }
        // Read first, so that a concurrent write triggers another look.
        let sequence = try database.lastSequence()
        let options = try query.options()
        var cursor = try FindCursor(options, in: database)
        try cursor.update()
        var found: [FoundDocument] = []
        while !cursor.isDone {
            try cursor.next(lookingAt: 1000) { document in
                found.append(document)
                return true
            }
        }
        let watch = try QueryWatch(found, options, at: sequence, in: database)
        var result = QueryResult<Model>()
        if watch.marks != known?.marks {
            for document in found { result.append(document, in: database) }
            result.finish(cursor)
        }
        return (result, watch)
    }
}
