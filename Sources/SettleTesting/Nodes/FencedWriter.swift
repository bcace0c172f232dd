internal import SettleCore
internal import SettleDatabase

/// A writer that knows leases; everything else it leaves to another one.
struct FencedWriter: StorageWriter {
    private let writer: any StorageWriter
    private let leases: SharedLeases
    private let node: String

    init(_ writer: any StorageWriter, _ leases: SharedLeases, _ node: String) {
        (self.writer, self.leases, self.node) = (writer, leases, node)
    }

    func require(_ lease: JobLease) throws {
        guard leases.has(lease, node) else {
            throw DatabaseError(.conflict, "the lease of \(lease.job) is not this node's any more")
        }
    }

    func apply(_ change: DocumentChange) throws -> UpdateSequence? { try writer.apply(change) }
    func requireCurrentDesign() throws { try writer.requireCurrentDesign() }
    func restore(_ record: DocumentRecord) throws { try writer.restore(record) }
    func restoreContent(_ content: RevisionContent, at token: UInt64) throws {
        try writer.restoreContent(content, at: token)
    }
    func restoreSequence(_ sequence: UpdateSequence) throws { try writer.restoreSequence(sequence) }
    func putContent(_ content: RevisionContent) throws -> UInt64 { try writer.putContent(content) }
    func removeContent(at token: UInt64) throws { try writer.removeContent(at: token) }
    func put(_ record: SideRecord) throws { try writer.put(record) }
    func remove(_ key: SideRecord.Key) throws { try writer.remove(key) }
    func removeJournal() throws { try writer.removeJournal() }
    func part<Result>(_ body: () throws -> Result) throws -> Result { try writer.part(body) }
    func afterCommit(_ action: @escaping @Sendable () -> Void) { writer.afterCommit(action) }

    var lastSequence: UpdateSequence { get throws { try writer.lastSequence } }

    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try writer.storedRecord(of: id, withContent: withContent)
    }

    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try writer.records(scan, limit: limit, withContent: withContent)
    }

    func ids(_ scan: DocumentScan, limit: Int) throws -> [DocumentID] { try writer.ids(scan, limit: limit) }
    func count(_ scan: DocumentScan) throws -> Int { try writer.count(scan) }
    func liveID(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        try writer.liveID(at: place, in: range)
    }
    func content(at token: UInt64) throws -> RevisionContent? { try writer.content(at: token) }

    func contentTokens(after token: UInt64, descending: Bool, limit: Int) throws -> [UInt64] {
        try writer.contentTokens(after: token, descending: descending, limit: limit)
    }

    func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? { try writer.sideRecord(key) }

    func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord] {
        try writer.sideRecords(scan, limit: limit)
    }
}
