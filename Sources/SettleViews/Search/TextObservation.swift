internal import SettleDatabase

/// A live search: an endless sequence of its matches, first the current ones, then after each change of them.
///
///     for try await matches in database.observe("deb*", in: books) { show(matches) }
///
/// ## Buffering
///
/// Nothing is buffered. After each change of the database the search runs again, and its matches are compared with
/// the last returned ones by documents, order and snippets. A slow observer gets the newest state next, and may
/// miss states in between. The sequence ends when the database is closed or the task is cancelled.
public struct TextObservation: AsyncSequence, Sendable {
    let database: Database
    let text: String
    let index: TextIndex
    let limit: Int

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The iterator of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: TextObservation
        private var given: [TextMatch]?

        init(observation: TextObservation) { self.observation = observation }

        /// Waits for the next change of the matches and returns them; `nil` when the database is closed or the task
        /// is cancelled.
        ///
        /// - Throws: ``DatabaseError`` when the search is invalid, or the index can't be read.
        public mutating func next() async throws -> [TextMatch]? {
            while !Task.isCancelled {
                let observation = observation
                let sequence: UpdateSequence
                do {
                    let (matches, seen) = try await observation.database.perform { database in
                        let index = observation.index
                        let expression = try TextParser.parse(observation.text, in: index).fts5
                        let rows = try index.rows(in: database)
                        try rows.update(from: database)
                        return try rows.read { reader in
                            (
                                try reader.matches(expression, in: index, limit: observation.limit, skip: 0, words: 16),
                                try reader.sequence()
                            )
                        }
                    }
                    sequence = seen
                    let isSame = given.map { old in
                        old.count == matches.count
                            && zip(old, matches).allSatisfy { $0.id == $1.id && $0.snippets == $1.snippets }
                    }
                    if isSame != true {
                        given = matches
                        return matches
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
