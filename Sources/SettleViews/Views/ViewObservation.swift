import SettleDatabase

/// The rows of a view as they change, without end: first as they are, then each time they are others.
///
///     for try await books in database.observe(byYear, in: .from(2000)) { show(books) }
///
/// ## Buffering
///
/// Nothing is buffered. After each change of the database the view is brought up to date and its rows are compared with
/// those given out last; a slow observer sees the newest state next and may miss those between. It ends when the database
/// is closed or the task is cancelled.
public struct ViewObservation<Key: Codable & Sendable, Value: Codable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let view: View<Key, Value>
    let range: ViewRange<Key>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The place of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: ViewObservation
        private var given: [[UInt8]]?

        init(observation: ViewObservation) { self.observation = observation }

        /// The next state of the rows; waits for one. `nil` when the database is closed or the task is cancelled.
        ///
        /// - Throws: ``DatabaseError`` when the rows can't be read, `DecodingError` when they don't fit.
        public mutating func next() async throws -> [ViewRow<Key, Value>]? {
            while !Task.isCancelled {
                let observation = observation
                let sequence: UpdateSequence
                do {
                    let (rows, seen) = try await observation.database.perform { database in
                        let index = try observation.view.index(of: database)
                        try index.update(from: database, by: observation.view.mapper)
                        return try index.read { (try $0.indexRows(observation.range), $0.sequence) }
                    }
                    sequence = seen
                    let bytes = rows.map { $0.position + $0.value }.map { Array($0) }
                    if bytes != given {
                        given = bytes
                        return try rows.map { try ViewRow($0) }
                    }
                } catch let error as DatabaseError where error.code == .closed { return nil }
                guard await observation.database.waitForChange(after: sequence) else { return nil }
            }
            return nil
        }
    }
}
