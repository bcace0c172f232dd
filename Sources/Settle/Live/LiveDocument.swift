public import Observation
public import SettleDatabase

/// A document that an app shows: an observable object that follows the database.
///
///     @State private var milk = LiveDocument("milk", as: Item.self, in: database)
///
///     if let item = milk.value { Text(item.name) }
///
/// It reads the document off the main actor, first when it is created, then after each change, including replicated
/// ones. It stops when it is released.
@MainActor @Observable
public final class LiveDocument<Model: Decodable & Sendable> {
    /// The document; `nil` for a missing or deleted one, and until it was read for the first time.
    public private(set) var document: Document?
    /// The document as a model, to show, or to change and save; `nil` without a document, and if it can't be
    /// decoded: see ``error``.
    public private(set) var saved: Saved<Model>?
    /// Whether the document has not been read yet.
    public private(set) var isLoading = true
    /// The reason why the document can't be read or decoded; `nil` if it can.
    public private(set) var error: (any Error)?

    /// The model of ``saved``.
    public var value: Model? { saved?.value }

    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates a live document and starts to follow it.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - model: The model's type; ``JSONValue`` accepts any document.
    ///   - database: The database.
    public init(_ id: DocumentID, as model: Model.Type, in database: Database) {
        let states = database.observe(id)
        task = Task { [weak self] in
            do {
                for try await state in states { self?.show(state) }
                self?.isLoading = false
            } catch { self?.end(error) }
        }
    }

    isolated deinit { task?.cancel() }

    private func show(_ state: Document?) {
        isLoading = false
        document = state
        do { (saved, error) = (try state.map { try Saved($0) }, nil) } catch { (saved, self.error) = (nil, error) }
    }

    private func end(_ error: any Error) { (self.error, isLoading) = (error, false) }
}
