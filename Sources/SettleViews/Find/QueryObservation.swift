internal import SettleCore
import SettleDatabase

/// A live query: an endless sequence of its results, first the current ones, then after each change of them.
///
///     for try await people in database.observe(Query<Person>().where { $0.age > 30 }) { show(people) }
///
/// ## Buffering
///
/// Nothing is buffered. After each change of the database the query runs again, and its results are compared with
/// those returned last; a slow observer gets the newest state next and may miss those in between. The sequence ends
/// when the database is closed or the task is cancelled.
public struct QueryObservation<Model: Decodable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let query: Query<Model>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The iterator of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: QueryObservation
        private var given: [String]?

        init(observation: QueryObservation) { self.observation = observation }

        /// Waits for the next change of the results and returns them. `nil` when the database is closed or the task
        /// is cancelled.
        ///
        /// - Throws: As ``Database/find(_:)``.
        public mutating func next() async throws -> [QueryRow<Model>]? {
            while !Task.isCancelled {
                let observation = observation
                let sequence: UpdateSequence
                do {
                    let (found, seen) = try await observation.database.perform { database in
                        // Read first, so that a concurrent write triggers another run.
                        let sequence = try database.lastSequence()
                        return (try observation.found(in: database), sequence)
                    }
                    sequence = seen
                    let marks = found.map(\.mark)
                    if marks != given {
                        given = marks
                        return try found.map { try QueryRow($0) }
                    }
                } catch let error as DatabaseError where error.code == .closed { return nil }
                guard await observation.database.waitForChange(after: sequence) else { return nil }
            }
            return nil
        }
    }

    private func found(in database: Database) throws -> [FoundDocument] {
        var cursor = try FindCursor(query.options(), in: database)
        try cursor.update()
        var found: [FoundDocument] = []
        while !cursor.isDone {
            try cursor.next(lookingAt: 1000) { document in
                found.append(document)
                return true
            }
        }
        return found
    }
}

extension FoundDocument {
    /// Identifies the row and its content, to detect changes.
    var mark: String {
        switch self {
        case .whole(let record): "\(record.tree.winner?.revision.description ?? "") \(record.id)"
        case .part(let json, let id): "\(id) \(json)"
        }
    }
}
