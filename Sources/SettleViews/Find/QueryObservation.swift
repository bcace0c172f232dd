internal import SettleCore
import SettleDatabase
internal import SettleQuery

/// A live query: an endless sequence of its results, first the current ones, then after each change of them.
///
///     for try await people in database.observe(DocumentQuery<Person>().where { $0.age > 30 }) { show(people.rows) }
///
/// ## Buffering
///
/// Nothing is buffered. After a change of the database the sequence examines the changed documents. If one of them
/// was in the result or matches now, the query runs again, and its results are compared with the last returned
/// ones. A slow observer gets the newest state next, and may miss states in between. The sequence ends when the
/// database is closed or the task is cancelled.
public struct QueryObservation<Model: Decodable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let query: DocumentQuery<Model>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The iterator of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: QueryObservation
        private var watch: QueryWatch?
        /// The number of times that the query ran.
        package private(set) var runs = 0

        init(observation: QueryObservation) { self.observation = observation }

        /// Waits for the next change of the results and returns them; `nil` when the database is closed or the task
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

    /// Runs the query, unless nothing relevant has happened since the last run.
    private func look(_ database: Database, _ known: QueryWatch?) throws -> (QueryResult<Model>?, QueryWatch) {
        if var watch = known, try !watch.hasToRun(in: database) { return (nil, watch) }
        // Read first, so that a concurrent write or purge is examined later.
        let (sequence, purges) = (try database.lastSequence(), try PurgeLog.count(in: database))
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
        let watch = QueryWatch(found, options, at: sequence, purges: purges)
        var result = QueryResult<Model>()
        if watch.marks != known?.marks {
            for document in found { result.append(document, in: database) }
            result.finish(cursor)
        }
        return (result, watch)
    }
}

// MARK: - QueryWatch

/// The results that a live query has read. They decide whether later changes can matter.
///
///     change of …                                        the query
///     a document of the result                           runs again
///     a document that matches the conditions now         runs again
///     any other document                                 need not
///
/// A document that matched but was not in the result was beyond the limit, so its change does not affect the
/// documents before it. In some cases each change runs the query: if documents are skipped, in a search for text,
/// with conflicts, and when examining the changes would cost more than running the query. So do purges of documents
/// in the result.
struct QueryWatch: Sendable {
    /// The number of changes above which examining each costs more than running the query.
    private static let few = 200

    /// The sequence up to which changes are in the result, or can't matter to it.
    private(set) var sequence: UpdateSequence
    private var purges: Int64
    /// The marks that identify the rows and their content, to detect changes.
    let marks: [String]
    private let ids: Set<DocumentID>
    /// The conditions; `nil` if each change runs the query.
    private let selector: MangoSelector?

    /// - Parameters:
    ///   - found: The results.
    ///   - options: The query.
    ///   - sequence: The newest sequence before the query ran.
    ///   - purges: The number of purges before the query ran.
    init(_ found: [FoundDocument], _ options: FindOptions, at sequence: UpdateSequence, purges: Int64) {
        self.sequence = sequence
        self.purges = purges
        marks = found.map(\.mark)
        ids = Set(found.map(\.id))
        // A changed document is examined without its conflicts.
        let isSimple =
            options.skip == 0 && options.bookmark == nil && options.selector.searches.isEmpty && !options.hasConflicts
        selector = isSimple ? options.selector : nil
    }

    /// Examines the changes since then.
    ///
    /// - Returns: Whether the query has to run again. If not, these changes are not examined again.
    /// - Throws: ``DatabaseError`` when the database can't be read.
    mutating func hasToRun(in database: Database) throws -> Bool {
        guard let selector else { return true }
        let newest = try database.lastSequence()
        let range = SequenceRange(after: sequence, through: newest)
        guard try database.count(changedIn: range) <= Self.few else { return true }
        let purged = try PurgeLog.purged(after: purges, in: database)
        guard let purged, ids.isDisjoint(with: purged) else { return true }
        var matters = false
        try database.forEachChange(in: range, includingDocuments: true) { change in
            matters =
                ids.contains(change.id) || (change.document.map { !change.isDeleted && selector.matches($0) } ?? false)
            return !matters
        }
        if !matters {
            sequence = newest
            purges += Int64(purged.count)
        }
        return matters
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
