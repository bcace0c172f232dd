import Settle
import SettlePlatform
import SettleTesting

@testable import SettleDatabase

/// The engine of a node on a shared server.
struct SharedEngine: SharedStorage, BlobKeepingStorage, RestorableStorage, MaintainedStorage, LimitedStorage {
    let server: SharedServer
    let node: Int
    let longestID: Int
    private let isClosed = Guarded(false)

    init(_ server: SharedServer, node: Int, longestID: Int = 10_000) {
        (self.server, self.node, self.longestID) = (server, node, longestID)
    }

    private var engine: any RestorableStorage & MaintainedStorage {
        get throws {
            guard !isClosed.withLock({ $0 }) else { throw DatabaseError(.closed, "the database was closed") }
            return server.engine
        }
    }

    var isWriting: Bool { server.engine.isWriting }
    var blobs: any BlobStorage { SharedBlobs(server: server, node: node) }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try engine.read { try body(SharedReader($0, server)) }
    }
    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try engine.snapshot { try body(SharedReader($0, server)) }
    }
    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try engine.commit { [server, longestID] in try body(SharedWriter($0, server, longestID)) }
    }
    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        try engine.hold { try body(SharedWriter($0, server, longestID)) }
    }
    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) { server.listen(notify) }
    func refresh() {}
    func requireCurrentDesign() {}
    func restore(_ record: DocumentRecord) throws { try engine.restore(record) }
    func restoreSequence(_ sequence: UpdateSequence) throws { try engine.restoreSequence(sequence) }
    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport { try engine.maintain(task) }
    func close() { isClosed.withLock { $0 = true } }
}

/// A reader whose rows of contents name their places.
class SharedReader: StorageReader {
    private let reader: any StorageReader
    let server: SharedServer

    init(_ reader: any StorageReader, _ server: SharedServer) { (self.reader, self.server) = (reader, server) }

    var lastSequence: UpdateSequence { get throws { try reader.lastSequence } }
    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try reader.storedRecord(of: id, withContent: withContent)
    }
    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try reader.records(scan, limit: limit, withContent: withContent)
    }
    func ids(_ scan: DocumentScan, skipping skipped: Int, limit: Int) throws -> [DocumentID] {
        try reader.ids(scan, skipping: skipped, limit: limit)
    }
    func count(_ scan: DocumentScan) throws -> Int { try reader.count(scan) }
    func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? { try reader.sideRecord(key).map(placed) }
    func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord] {
        try reader.sideRecords(scan, limit: limit).map(placed)
    }

    private func placed(_ record: SideRecord) -> SideRecord {
        guard case .blob(let blob) = record, blob.isFile else { return record }
        return .blob(
            BlobRecord(
                digest: blob.digest, md5: blob.md5, length: blob.length, content: nil, isFile: true,
                place: server.places.withLock { $0[blob.digest] }))
    }
}

/// A writer that lets rows name pinned places only.
final class SharedWriter: SharedReader, StorageWriter {
    private let writer: any StorageWriter
    private let longestID: Int

    init(_ writer: any StorageWriter, _ server: SharedServer, _ longestID: Int) {
        (self.writer, self.longestID) = (writer, longestID)
        super.init(writer, server)
    }

    func put(_ record: SideRecord) throws {
        if case .blob(let blob) = record, let place = blob.place, try writer.blob(blob.digest) == nil {
            guard server.uploads.withLock({ $0[place]?.pin }) != nil else {
                throw DatabaseError(.attachmentMissing, "the upload of \(blob.digest) is not pinned any more")
            }
            server.places.withLock { $0[blob.digest] = place }
        }
        try writer.put(record)
        if case .content(let token, _) = record { server.restoredTokens.add(token) }
    }

    func apply(_ change: DocumentChange) throws -> UpdateSequence? {
        if case .insert(let record) = change, record.id.string.utf8.count > longestID {
            throw DatabaseError(.invalid, "an id has at most \(longestID) bytes")
        }
        return try writer.apply(change)
    }
    func putContent(_ content: RevisionContent) throws -> UInt64 { try writer.putContent(content) }
    func remove(_ key: SideRecord.Key) throws { try writer.remove(key) }
    func part<Result>(_ body: () throws -> Result) throws -> Result { try writer.part(body) }
    func afterCommit(_ action: @escaping @Sendable () -> Void) { writer.afterCommit(action) }
}
