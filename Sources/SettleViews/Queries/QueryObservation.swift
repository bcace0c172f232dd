internal import RevisionTree
import SettleDatabase

/// What a query finds as it changes, without end: first as it is, then each time it is something else.
///
///     for try await people in database.observe(Query<Person>().where { $0.age > 30 }) { show(people) }
///
/// ## Buffering
///
/// Nothing is buffered. After each change of the database the query is asked again, and what it finds is compared with what
/// was given out last; a slow observer sees the newest state next and may miss those between. It ends when the database is
/// closed or the task is cancelled.
public struct QueryObservation<Model: Decodable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let query: Query<Model>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The place of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: QueryObservation
        private var given: [String]?

        init(observation: QueryObservation) { self.observation = observation }

        /// The next state of what is found; waits for one. `nil` when the database is closed or the task is cancelled.
        ///
        /// - Throws: As ``Database/find(_:)``.
        public mutating func next() async throws -> [QueryRow<Model>]? {
            while !Task.isCancelled {
                let observation = observation
                let sequence: UpdateSequence
                do {
                    let (found, seen) = try await observation.database.perform { database in
                        // What is written meanwhile is seen once more.
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
    /// What tells it from others, and from itself as it was before.
    var mark: String {
        switch self {
        case .whole(let record): "\(record.tree.winner?.revision.description ?? "") \(record.id)"
        case .part(let json, let id): "\(id) \(json)"
        }
    }
}
