internal import RevisionTree

/// What is to be sent, in memory: it is kept with each write, so that asking for it reads nothing (SEMANTICS 154).
///
/// It takes entries after the commit of the transaction that wrote them, in the order of commits, and before those who
/// wait for that commit go on.
final class PendingCache: Sendable {
    private struct State {
        var documents: [DocumentID: PendingDocument] = [:]
        var version: UpdateSequence = 0
        /// The highest number of an entry that was committed.
        var newestNumber: Int64 = 0
        /// The highest number that was given to an entry.
        var lastNumber: Int64 = 0
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
        change { state in
            state.newestNumber = max(state.newestNumber, entry.number)
            state.lastNumber = max(state.lastNumber, entry.number)
            if state.documents[entry.documentID]?.take(entry) == nil {
                state.documents[entry.documentID] = PendingDocument(entry)
            }
        }
    }

    /// A number for an entry behind all others; none is given twice while the database is open.
    func takeNumber() -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// The entries of a document as they are stored: those it is known to have, and those of writes that are not committed
    /// yet, which have higher numbers than all that are. So the table needs no index, and a save writes one page less.
    func entries(of id: DocumentID, in reader: any StorageReader) throws -> [JournalEntry] {
        var (numbers, last) = state.withLock { ($0.documents[id]?.numbers ?? [], $0.newestNumber) }
        numbers.removeAll { $0 > last }
        var entries = try numbers.compactMap { try reader.journalEntry($0) }.filter { $0.documentID == id }
        while case let page = try reader.journalEntries(after: last, limit: 500), let end = page.last {
            entries += page.filter { $0.documentID == id }
            last = end.number
        }
        return entries
    }

    /// Takes what is left of a document's entries.
    func set(_ id: DocumentID, to entries: [JournalEntry]) {
        change { state in
            state.documents[id] = PendingDocument(entries)
            for entry in entries { state.newestNumber = max(state.newestNumber, entry.number) }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let version = state.withLock { state in
            body(&state)
            state.version = UpdateSequence(state.version.number + 1)
            return state.version
        }
        notifier.announce(version)
    }

    /// Whether the journal has no entry.
    var isEmpty: Bool { state.withLock { $0.documents.isEmpty } }

    /// How many entries there are.
    var count: Int { state.withLock { state in state.documents.values.reduce(0) { $0 + $1.numbers.count } } }

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
