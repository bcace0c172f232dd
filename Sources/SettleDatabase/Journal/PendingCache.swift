internal import SettleCore
internal import SettlePlatform

/// Which documents have operations in the journal, in memory: the numbers and revisions of their entries, but no contents,
/// which are read when they are asked for (SEMANTICS 154).
///
/// It receives operations after the commit of their transaction, in commit order, and before the writers that wait for
/// that commit continue.
final class PendingCache: Sendable {
    /// An entry of the journal, without its contents.
    struct Operation {
        let number: Int64
        let revision: RevisionID

        init(_ entry: StoredJournalEntry) { (number, revision) = (entry.number, entry.revision) }
    }

    private struct State {
        /// The operations of each document that has some, in order.
        var documents: [DocumentID: [Operation]] = [:]
        var version: UpdateSequence = 0
        /// The highest number of a committed entry.
        var newestNumber: Int64 = 0
        /// The highest number given to an entry.
        var lastNumber: Int64 = 0
        /// The documents and numbers of entries since all were committed. Some may belong to a write that was rolled
        /// back, and then the entry does not exist.
        var given: [(id: DocumentID, number: Int64)] = []
        /// The first of them, by document; built on demand.
        var uncommitted: [DocumentID: [Int64]] = [:]
        var countFiled = 0

        mutating func recordCommit(of number: Int64) {
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
    let bell = Bell()

    /// Reads the journal once, a page at a time.
    init(reading engine: any StorageEngine) throws { try readAgain(from: engine) }

    /// Reads the journal again, since another process may have written to it, and notifies nobody.
    func readAgain(from engine: any StorageEngine) throws {
        var read = State()
        try engine.snapshot { reader in
            var last: Int64 = 0
            while case let page = try reader.journalEntries(after: last, limit: 500), let end = page.last {
                for entry in page {
                    read.recordCommit(of: entry.number)
                    read.documents[entry.documentID, default: []].append(Operation(entry))
                }
                last = end.number
            }
        }
        state.withLock { state in
            read.version = UpdateSequence(state.version.number + 1)
            // No number is given twice while the database is open.
            read.lastNumber = max(read.lastNumber, state.lastNumber)
            state = read
        }
    }

    /// Notifies observers that there may be a change.
    func announce() { bell.ring(at: version.number) }

    /// Adds an entry that was written after all others.
    func append(_ entry: StoredJournalEntry) { append(Operation(entry), of: entry.documentID) }

    /// Adds an operation that was written after all others.
    func append(_ operation: Operation, of id: DocumentID) {
        change { state in
            state.recordCommit(of: operation.number)
            state.documents[id, default: []].append(operation)
        }
    }

    /// The number for the next entry; none is given twice while the database is open.
    func nextNumber(for id: DocumentID) -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            state.given.append((id, state.lastNumber))
            return state.lastNumber
        }
    }

    /// A document's entries as they are stored: the committed ones, and those of writes that are not committed yet. So
    /// the table needs no index, and a save writes one page less.
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

    /// The numbers of the entries a document may have, ascending: of the committed ones, those whose revisions are
    /// chosen.
    private func numbers(of id: DocumentID, where isChosen: (RevisionID) -> Bool) -> [Int64] {
        let (committed, others) = state.withLock { state in
            (state.documents[id] ?? [], state.uncommitted(of: id))
        }
        let known = committed.filter { isChosen($0.revision) }.map(\.number)
        guard !others.isEmpty else { return known }
        return Set(known + others).sorted()
    }

    /// Copies contents that a document is about to drop into the entries that need them.
    ///
    /// - Parameters:
    ///   - doomed: The revisions whose contents are dropped.
    ///   - record: The document before that, which need not be stored yet.
    ///   - writer: The storage with the entries.
    /// - Throws: ``DatabaseError`` if the storage fails.
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
                try writer.put(.journal(StoredJournalEntry(entry)))
            }
        }
    }

    /// Replaces a document's operations with the remaining ones once a write is committed.
    func set(_ id: DocumentID, to entries: [StoredJournalEntry], after writer: any StorageWriter) {
        let operations = entries.map(Operation.init)
        writer.afterCommit { [self] in
            change { state in
                state.documents[id] = operations.isEmpty ? nil : operations
                for operation in operations { state.recordCommit(of: operation.number) }
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let version = state.withLock { state in
            body(&state)
            state.version = UpdateSequence(state.version.number + 1)
            return state.version
        }
        bell.ring(at: version.number)
    }

    /// Whether the journal has no entry.
    var isEmpty: Bool { state.withLock { $0.documents.isEmpty } }

    /// The number of entries.
    var count: Int { state.withLock { state in state.documents.values.reduce(0) { $0 + $1.count } } }

    /// The documents with entries, in the order of their first ones; also those of writes that are not committed yet.
    var documents: [DocumentID] {
        let firsts = state.withLock { state in
            state.given.reduce(into: state.documents.compactMapValues(\.first?.number)) { firsts, given in
                firsts[given.id] = firsts[given.id] ?? given.number
            }
        }
        return firsts.sorted { $0.value < $1.value }.map(\.key)
    }

    /// The number of changes so far.
    var version: UpdateSequence { state.withLock(\.version) }
}
