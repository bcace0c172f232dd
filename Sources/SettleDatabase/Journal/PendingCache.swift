internal import RevisionTree

/// What is to be sent, in memory: it is kept with each write, so that asking for it reads nothing (SEMANTICS 154).
///
/// It takes entries after the commit of the transaction that wrote them, in the order of commits, and before those who
/// wait for that commit go on.
final class PendingCache: Sendable {
    private struct State {
        var documents: [DocumentID: PendingDocument] = [:]
        var version: UpdateSequence = 0
    }

    private let state = Guarded(State())
    let notifier = ChangeNotifier()

    /// Reads the journal once, a page at a time.
    init(reading engine: any StorageEngine) throws {
        try engine.snapshot { reader in
            var last: Int64 = 0
            while case let page = try reader.journalEntries(after: last, limit: 500), let end = page.last {
                for entry in page { append(entry) }
                last = end.number
            }
        }
    }

    /// Takes an entry that was written behind all others.
    func append(_ entry: JournalEntry) {
        change { documents in
            if documents[entry.documentID]?.take(entry) == nil {
                documents[entry.documentID] = PendingDocument(entry)
            }
        }
    }

    /// Takes what is left of a document's entries.
    func set(_ id: DocumentID, to entries: [JournalEntry]) { change { $0[id] = PendingDocument(entries) } }

    private func change(_ body: (inout [DocumentID: PendingDocument]) -> Void) {
        let version = state.withLock { state in
            body(&state.documents)
            state.version = UpdateSequence(state.version.number + 1)
            return state.version
        }
        notifier.announce(version)
    }

    /// Whether the journal has no entry.
    var isEmpty: Bool { state.withLock { $0.documents.isEmpty } }

    /// How many entries there are.
    var count: Int { state.withLock { state in state.documents.values.reduce(0) { $0 + $1.count } } }

    /// What is to be sent of one document.
    func change(of id: DocumentID) -> PendingChange? { state.withLock { $0.documents[id]?.change(of: id) } }

    /// What is to be sent, in the order of the documents' first operations, and how often it has changed so far.
    func changes() -> (changes: [PendingChange], version: UpdateSequence) {
        state.withLock { state in
            let ordered = state.documents.sorted { $0.value.firstNumber < $1.value.firstNumber }.map(\.key)
            return (ordered.compactMap { state.documents[$0]?.change(of: $0) }, state.version)
        }
    }
}
