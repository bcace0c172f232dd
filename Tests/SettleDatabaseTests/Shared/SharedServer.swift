import Foundation
import Settle
import SettlePlatform
import SettleTesting

@testable import SettleDatabase

/// What several nodes share: an engine in memory, and contents of attachments under the names of their uploads, as a database server
/// would keep them.
final class SharedServer: Sendable {
    struct Upload {
        var bytes: [UInt8] = []
        /// Known once the upload is finished.
        var digest: BlobDigest?
        /// The node whose pin it has.
        var pin: Int?
    }

    let engine: SQLiteEngine
    let uploads = Guarded<[[UInt8]: Upload]>([:])
    /// The places that rows name, for the engine in memory has no column for them. What a write left that was undone is
    /// replaced by the next one.
    let places = Guarded<[BlobDigest: [UInt8]]>([:])
    /// The tokens of contents that a copy has brought.
    let restoredTokens = Log<UInt64>()
    private let listeners = Guarded<[Listener]>([])
    private let counter = Guarded(0)

    private struct Listener: Sendable {
        let notify: @Sendable (CommitNotice) -> Void
    }

    init() throws {
        engine = try SQLiteEngine(path: nil, durability: .normal, cacheBytes: 1 << 20)
        let listeners = listeners
        engine.onCommit { notice in for listener in listeners.withLock({ $0 }) { listener.notify(notice) } }
    }

    func listen(_ notify: @escaping @Sendable (CommitNotice) -> Void) {
        listeners.withLock { $0.append(Listener(notify: notify)) }
    }

    /// A new node, with a database on this server.
    func node() throws -> (number: Int, database: Database) {
        let number = number()
        return (number, try Database.make(on: SharedEngine(self, node: number)))
    }

    /// A number that was not given before.
    func number() -> Int {
        counter.withLock { count in
            count += 1
            return count
        }
    }

    /// What a node leaves that was killed: its pins run out.
    func kill(_ node: Int) {
        uploads.withLock { uploads in
            for name in uploads.keys where uploads[name]?.pin == node { uploads[name]?.pin = nil }
        }
    }

    /// The pin of an upload of a node.
    final class Pin: Sendable {
        private let server: SharedServer
        let name: [UInt8]
        private let node: Int

        init(_ name: [UInt8], of node: Int, on server: SharedServer) {
            (self.server, self.name, self.node) = (server, name, node)
            server.uploads.withLock { $0[name] = Upload(pin: node) }
        }

        deinit {
            let (name, node) = (name, node)
            server.uploads.withLock { uploads in
                guard let upload = uploads[name], upload.pin == node else { return }
                uploads[name]?.pin = nil
                if upload.digest == nil { uploads[name] = nil }
            }
        }
    }
}

/// The contents on a server, as a node sees them.
struct SharedBlobs: BlobStorage {
    let server: SharedServer
    let node: Int

    private final class Writer: BlobWriter {
        let server: SharedServer
        let pin: SharedServer.Pin

        init(_ server: SharedServer, _ pin: SharedServer.Pin) { (self.server, self.pin) = (server, pin) }

        func write(_ bytes: UnsafeRawBufferPointer) {
            let bytes = Array(bytes)
            server.uploads.withLock { $0[pin.name]?.bytes += bytes }
        }

        func finish(as digest: BlobDigest) -> FinishedBlob {
            server.uploads.withLock { $0[pin.name]?.digest = digest }
            return FinishedBlob(place: pin.name, pin: pin)
        }
    }

    private final class Reader: BlobReader {
        private var bytes: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

        func read(upTo count: Int) -> [UInt8] {
            defer { bytes = bytes.dropFirst(count) }
            return Array(bytes.prefix(count))
        }
    }

    func newBlob() -> any BlobWriter {
        Writer(server, SharedServer.Pin(Array("upload \(server.number())".utf8), of: node, on: server))
    }

    func open(_ record: BlobRecord, from offset: Int64) throws -> any BlobReader {
        guard let place = record.place, let upload = server.uploads.withLock({ $0[place] }) else {
            throw DatabaseError(.attachmentMissing, "there is no such upload")
        }
        return Reader(upload.bytes[Int(offset)...])
    }

    func collect(row: BlobLookup, hold: (_ remove: (BlobLookup) throws -> Void) throws -> Void) throws {
        for (name, upload) in server.uploads.withLock({ $0 }) where upload.pin == nil {
            try hold { row in
                guard try upload.digest.flatMap({ try row($0) })?.place != name else { return }
                server.uploads.withLock { if $0[name]?.pin == nil { $0[name] = nil } }
            }
        }
    }

    func sizeOnDisk() -> Int64 {
        server.uploads.withLock { $0.values.reduce(0) { $0 + Int64($1.bytes.count) } }
    }
}
