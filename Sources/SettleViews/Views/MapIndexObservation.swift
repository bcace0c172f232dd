import SettleDatabase

/// A live view: an endless sequence of its rows, first the current ones, then after each change of them.
///
///     for try await books in database.observe(byYear, in: .from(2000)) { show(books) }
///
/// ## Buffering
///
/// Nothing is buffered. After each change of the database the view is updated, and its rows are compared with the
/// last returned ones. A slow observer gets the newest state next, and may miss states in between. The sequence
/// ends when the database is closed or the task is cancelled.
public struct MapIndexObservation<Key: Codable & Sendable, Value: Codable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let view: MapIndex<Key, Value>
    let range: MapIndexRange<Key>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The iterator of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: MapIndexObservation
        private var given: [[UInt8]]?

        init(observation: MapIndexObservation) { self.observation = observation }

        /// Waits for the next change of the rows and returns them; `nil` when the database is closed or the task is
        /// cancelled.
        ///
        /// - Throws: ``DatabaseError`` when the rows can't be read, `DecodingError` when they don't fit.
        public mutating func next() async throws -> [MapIndexRow<Key, Value>]? {
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
                    // Keys with the same position may be spelled differently, as 1 and 1.0.
                    let bytes = rows.map { Array($0.position + $0.key + $0.value) }
                    if bytes != given {
                        given = bytes
                        return try rows.map { try MapIndexRow($0) }
                    }
                } catch let error as DatabaseError {
                    guard try await observation.database.waitsOut(error) else { return nil }
                    continue
                }
                guard await observation.database.waitForChange(after: sequence) else { return nil }
            }
            return nil
        }
    }
}
