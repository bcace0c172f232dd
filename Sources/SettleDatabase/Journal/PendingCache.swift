internal import SettleCore
internal import SettlePlatform

/// The documents with operations in the journal, in memory. It has the numbers and revisions of their entries, but
/// no contents; these are read on demand (SEMANTICS 154).
///
/// It gets operations after the commit of their transaction, in commit order, and before the writers that wait for
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
        /// The highest number assigned to an entry.
        var lastNumber: Int64 = 0
        /// The documents and numbers of entries that were assigned since all entries were committed. Some may
        /// belong to a write that was rolled back; their entries do not exist.
        var given: [(id: DocumentID, number: Int64)] = []
        /// The numbers in ``given`` by document; built on demand.
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

    /// Creates the cache of an empty journal.
    init() {}

    /// Reads the journal once, a page at a time.
    init(reading engine: any StorageEngine) throws { try readAgain(from: engine) }

    /// Reads the journal again, since another process may have written to it. Observers are not notified.
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
            // A number is assigned only once while the database is open.
            read.lastNumber = max(read.lastNumber, state.lastNumber)
            state = read
        }
    }

    /// Notifies observers that there may be a change.
    func announce() { bell.ring(at: version.number) }

    /// Adds the newest entry.
    func append(_ entry: StoredJournalEntry) { append(Operation(entry), of: entry.documentID) }

    /// Adds the newest operation.
    func append(_ operation: Operation, of id: DocumentID) {
        change { state in
            state.recordCommit(of: operation.number)
            state.documents[id, default: []].append(operation)
        }
    }

    /// The number for the next entry. Each is assigned only once while the database is open.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` if the newest number is the highest one.
    func nextNumber(for id: DocumentID) throws -> Int64 {
        try state.withLock { state in
            let (number, isPastEnd) = state.lastNumber.addingReportingOverflow(1)
            guard !isPastEnd else {
                throw DatabaseError(.corrupt, "the number of the newest operation is out of range")
            }
            state.lastNumber = number
            state.given.append((id, number))
            return number
        }
    }

    /// Assigns no number up to this one to a later entry.
    func reserveNumbers(through number: Int64) {
        state.withLock { $0.lastNumber = max($0.lastNumber, number) }
    }

    /// A document's entries in their stored form: the committed ones, and those of writes that are not committed
    /// yet. The cache makes an index of the table unnecessary, so a save writes one page less.
    func stored(of id: DocumentID, in reader: any StorageReader) throws -> [StoredJournalEntry] {
        try stored(numbers(of: id) { _ in true }, of: id, in: reader)
    }

    /// The same entries with their contents.
    func entries(of id: DocumentID, in reader: any StorageReader) throws -> [JournalEntry] {
        try reader.resolved(stored(of: id, in: reader))
    }

    private func stored(
        _ numbers: [Int64], of id: DocumentID, in reader: any StorageReader
    ) throws -> [StoredJournalEntry] {
        try numbers.compactMap { try reader.journalEntry($0) }.filter { $0.documentID == id }
    }

    /// The numbers of the entries a document may have, ascending. Committed ones are included if their revision is
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
    ///   - record: The document before the drop, which need not be stored yet.
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

    /// Replaces a document's operations with the remaining ones after a write is committed.
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

    /// Whether the journal is empty.
    var isEmpty: Bool { state.withLock { $0.documents.isEmpty } }

    /// The number of entries.
    var count: Int { state.withLock { state in state.documents.values.reduce(0) { $0 + $1.count } } }

    /// The documents with entries, in the order of their first entries; includes those of writes that are not
    /// committed yet.
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
