internal import Dispatch
internal import SettleCore
internal import SettlePlatform

/// Results for the items of a batch, computed on another core ahead of the thread that uses them.
///
///     caller   0 ─ write 0 ─ write 1 ─ write 2 ─ …     takes what is ready
///     helper   1 2 3 4 5 6 …                           stays ahead of the caller
///
/// The caller never waits. It computes a result itself if it needs it before the helper has it, so that a batch is not
/// slower where all cores are busy. The results must therefore depend on their items alone.
final class WorkAhead<Item: Sendable, Output: Sendable>: Sendable {
    private struct State {
        /// The results that are ready and were not taken yet.
        var ready: [Output?]
        /// The first item that the helper has not begun.
        var next = 0
        /// The item that the caller works on.
        var current = 0
    }

    /// The items, in the order in which the caller needs their results.
    let items: [Item]
    private let atOnce: Int
    private let work: @Sendable (Item) -> Output?
    private let state: Guarded<State>

    /// Starts the helper. The caller ends it with ``end()``.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - atOnce: The number of results that are handed over at once.
    ///   - work: Computes the result of an item; `nil` leaves it to the caller.
    init(_ items: [Item], atOnce: Int = 1, _ work: @escaping @Sendable (Item) -> Output?) {
        (self.items, self.atOnce, self.work) = (items, atOnce, work)
        state = Guarded(State(ready: Array(repeating: nil, count: items.count)))
        DispatchQueue.global(qos: .userInitiated).async { self.run() }
    }

    /// Removes the result of an item; `nil` if the caller has to compute it. The items before it are not needed any more.
    func dequeue(_ index: Int) -> Output? {
        state.withLock { state in
            state.current = index
            let output = state.ready[index]
            state.ready[index] = nil
            return output
        }
    }

    /// Ends the helper after the items that it works on.
    func end() { state.withLock { $0.current = items.count } }

    private func run() {
        while let range = nextRange() {
            let outputs = items[range].map(work)
            state.withLock { state in
                for (index, output) in zip(range, outputs) where index > state.current { state.ready[index] = output }
            }
        }
    }

    private func nextRange() -> Range<Int>? {
        state.withLock { state in
            let first = max(state.next, state.current + 1)
            guard first < items.count else { return nil }
            state.next = min(first + atOnce, items.count)
            return first..<state.next
        }
    }
}

// MARK: - RevisionForecast

/// The revision ids of a batch of edits, computed while the batch is written.
///
/// The id of an edit is known before the write, unless the write finds another parent or stamps the body. The forecast is
/// compared with the actual edit, so an id never depends on the thread that computed it.
struct RevisionForecast: Sendable {
    /// An edit's place in the batch.
    struct Place: Sendable {
        fileprivate let ids: WorkAhead<DocumentEdit, RevisionID>
        fileprivate let index: Int

        /// The id of an edit; `nil` if it is not ready, or was computed for another edit.
        func revision(
            of body: DocumentBody, parent: RevisionID?, isDeleted: Bool, attachments: [AttachmentSignature]
        ) -> RevisionID? {
            let edit = ids.items[index]
            // Nearly always both are the same array, which is compared by its address.
            guard let revision = ids.dequeue(index), edit.parent == parent, edit.isDeleted == isDeleted,
                edit.body.utf8 == body.utf8, edit.attachments.map(\.signature) == attachments
            else { return nil }
            return revision
        }
    }

    /// The number of edits from which a helper is worth its start.
    private static let minimumCount = 32
    private let ids: WorkAhead<DocumentEdit, RevisionID>

    /// Starts to compute the ids of edits; `nil` for a batch that is too small.
    init?(_ edits: [DocumentEdit]) {
        guard edits.count >= Self.minimumCount else { return nil }
        ids = WorkAhead(edits, atOnce: 16) { edit in
            RevisionHasher().revision(
                of: edit.body, parent: edit.parent, isDeleted: edit.isDeleted,
                attachments: edit.attachments.map(\.signature))
        }
    }

    /// The place of an edit, by its index in the batch.
    func place(_ index: Int) -> Place { Place(ids: ids, index: index) }

    /// Ends the computation.
    func end() { ids.end() }
}
