internal import RevisionTree
internal import SettlePlatform

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
        /// For which documents numbers were given since all entries were committed. Some may belong to a write that was
        /// undone, and then there is no such entry.
        var given: [(id: DocumentID, number: Int64)] = []
        /// The first so many of them, by document; made when somebody asks.
        var uncommitted: [DocumentID: [Int64]] = [:]
        var countFiled = 0

        mutating func noteCommit(of number: Int64) {
            newestNumber = max(newestNumber, number)
            lastNumber = max(lastNumber, number)
            guard newestNumber == lastNumber else { return }
            given.removeAll(keepingCapacity: given.count < 1000)
            if countFiled > 0 { (uncommitted, countFiled) = ([:], 0) }
        }

        mutating func uncommitted(of id: DocumentID) -> [Int64] {
            for (id, number) in given[countFiled...] { uncommitted[id, default: []].append(number) }
            countFiled = given.count
            return uncommitted[id] ?? []
        }
    }

    private let state = Guarded(State())
    let notifier = ChangeNotifier()

    /// Reads the journal once, a page at a time.
    init(reading engine: any StorageEngine) throws {
        try engine.snapshot { reader in
            var last: Int64 = 0
            while case let page = try reader.journalEntries(after: last, limit: 500), let end = page.last {
                for entry in try reader.resolved(page) { append(entry) }
                last = end.number
            }
        }
    }

    /// Takes an entry that was written behind all others.
    func append(_ entry: JournalEntry) {
        change { state in
            state.noteCommit(of: entry.number)
            Self.file(entry, in: &state.documents[entry.documentID])
        }
    }

    /// Hands the place of a document in the table over, so that it is looked up once.
    private static func file(_ entry: JournalEntry, in place: inout PendingDocument?) {
        if let document = place { document.take(entry) } else { place = PendingDocument(entry) }
    }

    /// A number for an entry behind all others; none is given twice while the database is open.
    func takeNumber(for id: DocumentID) -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            state.given.append((id, state.lastNumber))
            return state.lastNumber
        }
    }

    /// The entries of a document as they are stored: those it is known to have, and those of writes that are not committed
    /// yet. So the table needs no index, and a save writes one page less.
    func stored(of id: DocumentID, in reader: any StorageReader) throws -> [StoredJournalEntry] {
        try stored(numbers(of: id) { _ in true }, of: id, in: reader)
    }

    /// The same with their contents.
    func entries(of id: DocumentID, in reader: any StorageReader) throws -> [JournalEntry] {
        try reader.resolved(stored(of: id, in: reader))
    }

    private func stored(
        _ numbers: [Int64], of id: DocumentID, in reader: any StorageReader
    ) throws -> [StoredJournalEntry] {
        try numbers.compactMap { try reader.journalEntry($0) }.filter { $0.documentID == id }
    }

    /// The numbers of the entries a document may have, ascending: of those that are committed, the ones whose revisions are
    /// chosen.
    private func numbers(of id: DocumentID, where isChosen: (RevisionID) -> Bool) -> [Int64] {
        let (committed, others) = state.withLock { state in
            (state.documents[id]?.operations ?? [], state.uncommitted(of: id))
        }
        let known = committed.filter { isChosen($0.revision) }.map(\.number)
        guard !others.isEmpty else { return known }
        return Set(known + others).sorted()
    }

    /// Gives entries the contents that a document is about to let go of.
    ///
    /// - Parameters:
    ///   - doomed: The revisions whose contents go.
    ///   - record: The document as it is before, which need not be stored yet.
    ///   - writer: Where the entries are.
    /// - Throws: ``DatabaseError`` of the storage.
    func keepContents(
        of doomed: [RevisionNode], in record: DocumentRecord, with writer: any StorageWriter
    ) throws {
        let lost = Set(doomed.filter { $0.bodyToken != BodyToken.none }.map(\.revision))
        guard !lost.isEmpty else { return }
        let numbers = numbers(of: record.id) { revision in
            lost.contains(revision) || record.tree.parent(of: revision).map(lost.contains) ?? false
        }
        for entry in try stored(numbers, of: record.id, in: writer)
        where entry.needed(in: record.tree).contains(where: lost.contains) {
            for entry in try writer.resolved([entry], in: record) {
                try writer.putJournalEntry(StoredJournalEntry(entry))
            }
        }
    }

    /// Takes what is left of a document's entries.
    func set(_ id: DocumentID, to entries: [JournalEntry]) {
        change { state in
            state.documents[id] = PendingDocument(entries)
            for entry in entries { state.noteCommit(of: entry.number) }
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
