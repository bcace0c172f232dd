public import Observation
public import SettleDatabase

/// A query whose results an app shows: an observable object that follows the database.
///
///     @State private var people = LiveQuery(DocumentQuery<Person>().where { $0.age > 30 }, in: database)
///
///     List(people.rows) { Text($0.name) }
///
/// It runs the query off the main actor, first when it is created, then whenever a change can matter (see
/// ``QueryObservation``). It stops when it is released.
@MainActor @Observable
public final class LiveQuery<Model: Decodable & Sendable> {
    /// The documents found, in the query's order; empty until the first result.
    public private(set) var rows: [Saved<Model>] = []
    /// The documents that match but can't be decoded as the model.
    public private(set) var misfits: [MisfitDocument] = []
    /// Whether there is no result yet.
    public private(set) var isLoading = true
    /// The reason why the query ended; `nil` while it follows the database, and after the database was closed. Setting ``query`` starts again.
    public private(set) var error: (any Error)?

    /// The query. Setting it starts again; the rows stay until there are new ones.
    @ObservationIgnored public var query: DocumentQuery<Model> { didSet { start() } }

    @ObservationIgnored private let database: Database
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates a live query and starts it.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - database: The database.
    public init(_ query: DocumentQuery<Model>, in database: Database) {
        self.query = query
        self.database = database
        start()
    }

    isolated deinit { task?.cancel() }

    /// The documents' fields as models.
    public var values: [Model] { rows.map(\.value) }

    private func start() {
        task?.cancel()
        (isLoading, error) = (true, nil)
        let results = database.observe(query)
        task = Task { [weak self] in
            do {
                for try await result in results { self?.show(result) }
                self?.end(nil)
            } catch { self?.end(error) }
        }
    }

    private func show(_ result: QueryResult<Model>) {
        guard !Task.isCancelled else { return }
        (rows, misfits, isLoading) = (result.rows, result.misfits, false)
    }

    private func end(_ error: (any Error)?) {
        guard !Task.isCancelled else { return }
        (self.error, isLoading) = (error, false)
    }
}
