import Dispatch
import Settle
import SettlePlatform

@testable import SettleDatabase

/// A storage engine in dictionaries: a small one that keeps what every engine promises.
///
///     hold      a copy of the state ── the closure changes it ──→ the copy becomes the state
///     read      the state
///
/// The state is a value, so a snapshot is a copy of it, and a write that fails is a copy that is dropped. docs/STORAGE_ENGINES.md
/// explains it.
final class MemoryEngine: StorageEngine {
    private let committed = Guarded(MemoryState())
    /// Given to one writer after the other.
    private let turn = DispatchSemaphore(value: 1)
    /// The writes and snapshots of threads, the innermost last.
    private let threads = Guarded<[ThreadID: [Lent<MemoryView>]]>([:])
    private let listener = Guarded<(@Sendable (CommitNotice) -> Void)?>(nil)
    private let isClosed = Guarded(false)

    var isWriting: Bool { inner?.isWriter == true }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        if let inner { return try body(inner) }
        return try body(MemoryView(state(), isWriter: false))
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        if let inner { return try body(inner) }
        return try within(MemoryView(state(), isWriter: false)) { try body($0) }
    }

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try hold(body)
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        if let inner, inner.isWriter { return try inner.joined(body) }
        turn.wait()
        defer { turn.signal() }
        let before = try state()
        let writer = MemoryView(before, isWriter: true)
        let result = try within(writer) { try $0.whole(body) }
        let after = writer.state
        committed.withLock { $0 = after }
        for action in writer.actions { action() }
        let sequence = UpdateSequence(after.sequence)
        listener.withLock { $0 }?(
            CommitNotice(sequence: sequence, changesDocuments: after.sequence != before.sequence))
        return result
    }

    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) { listener.withLock { $0 = notify } }

    func close() { isClosed.withLock { $0 = true } }

    private func state() throws -> MemoryState {
        guard !isClosed.withLock({ $0 }) else { throw DatabaseError(.closed, "the database was closed") }
        return committed.withLock { $0 }
    }

    private var inner: MemoryView? {
        threads.withLock { threads in threads[ThreadID.current]?.last.map { Lent($0.value) } }?.value
    }

    /// Runs a closure with a view that further calls on this thread use too.
    private func within<Result>(_ view: MemoryView, _ body: (MemoryView) throws -> Result) throws -> Result {
        let (thread, lent) = (ThreadID.current, Lent(view))
        threads.withLock { $0[thread, default: []].append(lent) }
        defer {
            threads.withLock { threads in
                _ = threads[thread]?.popLast()
                if threads[thread]?.isEmpty == true { threads[thread] = nil }
            }
        }
        return try body(view)
    }
}

// MARK: - Exact copies

extension MemoryEngine: RestorableStorage {
    func restore(_ record: DocumentRecord) throws { try ownWriter().restore(record) }

    func restoreSequence(_ sequence: UpdateSequence) throws { try ownWriter().restoreSequence(sequence) }

    private func ownWriter() throws -> MemoryView {
        guard let inner, inner.isWriter else { throw DatabaseError(.invalid, "this belongs into a transaction") }
        return inner
    }
}

// MARK: - MemoryState

/// All that a ``MemoryEngine`` has.
struct MemoryState: Sendable {
    var sequence: Int64 = 0
    /// The highest token of a content that was given out.
    var token = BodyToken.firstApart - 1
    var documents: [DocumentID: DocumentRecord] = [:]
    var side: [SideRecord.Key: SideRecord] = [:]

    /// The documents of a scan, in its order.
    func records(_ scan: DocumentScan) -> [DocumentRecord] {
        switch scan.part {
        case .changes(let range):
            let found = documents.values.filter { $0.sequence > range.after && $0.sequence <= range.through }
                .sorted { $0.sequence < $1.sequence }
            return range.descending ? found.reversed() : found
        case .documents(let range, let kind):
            let (low, high) = (range.low, range.high)
            let found = documents.values.filter { record in
                let id = Array(record.id.string.utf8)
                return !id.precedes(low) && id.precedes(high) && kind.includes(RecordFlags(record.tree))
            }.sorted { $0.id < $1.id }
            return range.descending ? found.reversed() : found
        }
    }

    /// The side records of a scan, in its order.
    func sideRecords(_ scan: SideRecord.Scan) -> [SideRecord] {
        switch scan {
        case .locals(let id):
            return listed(after: id) { if case .local(let document) = $0 { document.id } else { nil } }
        case .expirations(let time):
            return listed(after: nil) {
                if case .expiration(let id, let due) = $0, due <= time { Due(time: due, id: id) } else { nil }
            }
        case .expirationsByID(let id):
            return listed(after: id) { if case .expiration(let id, _) = $0 { id } else { nil } }
        case .settings(let name):
            return listed(after: name.map { DocumentID(unchecked: $0) }) {
                if case .setting(let name, _) = $0 { DocumentID(unchecked: name) } else { nil }
            }
        case .blobs(let digest):
            return listed(after: digest) { if case .blob(let blob) = $0 { blob.digest } else { nil } }
                .map(\.withoutContent)
        case .contents(let token): return contents(after: token)
        case .newestContents: return contents(after: 0).reversed()
        case .journal, .newestJournal: return []
        }
    }

    private func contents(after token: UInt64) -> [SideRecord] {
        listed(after: token) { if case .content(let token, _) = $0 { token } else { nil } }.map(\.withoutContent)
    }

    /// The records of which a closure returns a place, in the order of these.
    private func listed<Place: Comparable>(after start: Place?, _ place: (SideRecord) -> Place?) -> [SideRecord] {
        side.values.compactMap { record in place(record).map { ($0, record) } }
            .filter { found in start.map { $0 < found.0 } ?? true }
            .sorted { $0.0 < $1.0 }
            .map(\.1)
    }
}

/// The place of an expiration among all.
private struct Due: Comparable {
    let time: Int64
    let id: DocumentID

    static func < (left: Due, right: Due) -> Bool { (left.time, left.id) < (right.time, right.id) }
}

extension SideRecord {
    /// The record as a list shows it.
    fileprivate var withoutContent: SideRecord {
        switch self {
        case .blob(let blob):
            .blob(
                BlobRecord(
                    digest: blob.digest, md5: blob.md5, length: blob.length, content: nil, isFile: blob.isFile,
                    place: blob.place))
        case .content(let token, _): .content(token, nil)
        default: self
        }
    }
}

// MARK: - MemoryView

/// A state as a read or a snapshot sees it, or as a write changes it.
final class MemoryView: StorageWriter {
    private(set) var state: MemoryState
    let isWriter: Bool
    private(set) var actions: [@Sendable () -> Void] = []
    /// How many changes were begun.
    private var changes = 0
    /// Why the open write or part can't succeed any more, though its closure may continue.
    private var failure: (any Error)?

    init(_ state: MemoryState, isWriter: Bool) { (self.state, self.isWriter) = (state, isWriter) }

    // MARK: - Reading

    var lastSequence: UpdateSequence { UpdateSequence(state.sequence) }

    func storedRecord(of id: DocumentID, withContent: Bool) -> DocumentRecord? {
        state.documents[id].map { withContent ? $0 : $0.withoutContent }
    }

    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) -> [DocumentRecord] {
        state.records(scan).prefix(max(limit, 0)).map { withContent ? $0 : $0.withoutContent }
    }

    func ids(_ scan: DocumentScan, skipping skipped: Int, limit: Int) -> [DocumentID] {
        state.records(scan).dropFirst(skipped).prefix(max(limit, 0)).map(\.id)
    }

    func count(_ scan: DocumentScan) -> Int { state.records(scan).count }

    func sideRecord(_ key: SideRecord.Key) -> SideRecord? { state.side[key] }

    func sideRecords(_ scan: SideRecord.Scan, limit: Int) -> [SideRecord] {
        Array(state.sideRecords(scan).prefix(max(limit, 0)))
    }

    // MARK: - Writing

    func apply(_ change: DocumentChange) throws -> UpdateSequence? {
        switch change {
        case .insert(let record):
            guard state.documents[record.id] == nil else { return nil }
            return try write(record)
        case .update(let record):
            guard isExpected(record) else { return nil }
            return try write(record)
        case .updateTree(let record):
            guard isExpected(record) else { return nil }
            changes += 1
            state.documents[record.id]?.tree = record.tree
            return record.sequence
        case .remove(let record):
            guard isExpected(record) else { return nil }
            changes += 1
            state.documents[record.id] = nil
            state.sequence += 1
            return lastSequence
        }
    }

    /// Whether a document is stored under the sequence that a change expects.
    private func isExpected(_ record: DocumentRecord) -> Bool {
        state.documents[record.id]?.sequence == record.sequence
    }

    private func write(_ record: DocumentRecord) throws -> UpdateSequence {
        guard record.content != nil else {
            throw DatabaseError(.storage, "a record of \"\(record.id)\" was to be written without its content")
        }
        changes += 1
        state.sequence += 1
        var stored = record
        stored.sequence = lastSequence
        state.documents[record.id] = stored
        return stored.sequence
    }

    func putContent(_ content: RevisionContent) -> UInt64 {
        changes += 1
        state.token += 1
        state.side[.content(state.token)] = .content(state.token, content)
        return state.token
    }

    func put(_ record: SideRecord) throws {
        switch record {
        case .blob:
            // The content of an attachment that is there stays as it is.
            if state.side[record.key] != nil { return }
        case .content(let token, let content):
            guard content != nil, token >= BodyToken.firstApart, token < UInt64.max else {
                throw DatabaseError(.invalid, "no content can have the token \(token)")
            }
            guard state.side[record.key] == nil else {
                throw DatabaseError(.conflict, "there is a content with the token \(token) already")
            }
            state.token = max(state.token, token)
        default: break
        }
        changes += 1
        state.side[record.key] = record
    }

    func remove(_ key: SideRecord.Key) {
        changes += 1
        state.side[key] = nil
    }

    // MARK: - Parts

    func afterCommit(_ action: @escaping @Sendable () -> Void) { actions.append(action) }

    func part<Result>(_ body: () throws -> Result) throws -> Result {
        let before = (state, actions, changes, failure)
        failure = nil
        do {
            let result = try whole { _ in try body() }
            failure = before.3
            return result
        } catch {
            (state, actions, changes, failure) = before
            throw error
        }
    }

    /// Runs a closure as all there is in this write.
    func whole<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        let result = try body(self)
        if let failure { throw failure }
        return result
    }

    /// Runs a closure that shares the fate of the write around it: if it fails half way, that one can't succeed.
    func joined<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        let before = changes
        do { return try body(self) } catch {
            if changes != before, failure == nil { failure = error }
            throw error
        }
    }
}

extension MemoryView {
    func restore(_ record: DocumentRecord) throws {
        guard record.sequence > lastSequence else {
            throw DatabaseError(.invalid, "\"\(record.id)\" can't be restored at \(record.sequence)")
        }
        guard state.documents[record.id] == nil else {
            throw DatabaseError(.conflict, "\"\(record.id)\" can't be restored, for it is there already")
        }
        changes += 1
        state.documents[record.id] = record
        state.sequence = record.sequence.number
    }

    func restoreSequence(_ sequence: UpdateSequence) throws {
        guard sequence >= lastSequence else {
            throw DatabaseError(.invalid, "the newest sequence is \(lastSequence) and can't become \(sequence)")
        }
        changes += 1
        state.sequence = sequence.number
    }
}

extension DocumentRecord {
    /// The record of a reader that did not ask for the content.
    fileprivate var withoutContent: DocumentRecord {
        var record = self
        record.content = nil
        return record
    }
}

extension DocumentKind {
    /// Whether a document with these flags is of the kind.
    fileprivate func includes(_ flags: RecordFlags) -> Bool {
        switch self {
        case .any: true
        case .live: flags != .deleted
        case .flagged(let wanted): flags == wanted
        }
    }
}
