internal import SettleDatabase
internal import SettlePlatform

/// The large contents of a ``SharedStore``, under the names of their uploads, as a database server would keep them.
package final class SharedContents: Sendable {
    private struct Upload {
        var bytes: [UInt8] = []
        /// Known once the upload is finished.
        var digest: BlobDigest?
        /// The node whose pin it has.
        var pin: String?
    }

    private struct State {
        var uploads: [[UInt8]: Upload] = [:]
        /// The places that rows name, because the engine in memory has no column for them. A place that an undone write left is
        /// replaced by the next one.
        var places: [BlobDigest: [UInt8]] = [:]
        var names = 0
    }

    private let state = Guarded(State())

    init() {}

    /// The number of uploads.
    package var count: Int { state.withLock { $0.uploads.count } }

    /// Removes the pins of a node, as if its process was killed a while ago.
    package func kill(_ node: String) {
        state.withLock { state in
            for name in state.uploads.keys where state.uploads[name]?.pin == node { state.uploads[name]?.pin = nil }
        }
    }

    /// The sum of the lengths of all uploads.
    var size: Int64 { state.withLock { $0.uploads.values.reduce(0) { $0 + Int64($1.bytes.count) } } }

    /// Lets the row of a content name its place.
    ///
    /// - Throws: ``DatabaseError`` with code `attachmentMissing` for a place that is not pinned.
    func place(_ blob: BlobRecord) throws {
        guard let place = blob.place else { return }
        try state.withLock { state in
            guard state.uploads[place]?.pin != nil else {
                throw DatabaseError(.attachmentMissing, "the upload of \(blob.digest) is no longer pinned")
            }
            state.places[blob.digest] = place
        }
    }

    /// A side record, with the place of its content.
    func placed(_ record: SideRecord) -> SideRecord {
        guard case .blob(let blob) = record, blob.isFile else { return record }
        return .blob(
            BlobRecord(
                digest: blob.digest, md5: blob.md5, length: blob.length, content: nil, isFile: true,
                place: state.withLock { $0.places[blob.digest] }))
    }

    /// Begins an upload, which has a pin of a node.
    fileprivate func begin(by node: String) -> [UInt8] {
        state.withLock { state in
            state.names += 1
            let name = Array("upload \(state.names)".utf8)
            state.uploads[name] = Upload(pin: node)
            return name
        }
    }

    fileprivate func append(_ bytes: [UInt8], to name: [UInt8]) { state.withLock { $0.uploads[name]?.bytes += bytes } }

    fileprivate func finish(_ name: [UInt8], as digest: BlobDigest) {
        state.withLock { $0.uploads[name]?.digest = digest }
    }

    /// Releases the pin of an upload, and removes it if it is not finished.
    fileprivate func release(_ name: [UInt8], of node: String) {
        state.withLock { state in
            guard let upload = state.uploads[name], upload.pin == node else { return }
            state.uploads[name]?.pin = nil
            if upload.digest == nil { state.uploads[name] = nil }
        }
    }

    fileprivate func bytes(at name: [UInt8]) -> [UInt8]? { state.withLock { $0.uploads[name]?.bytes } }

    /// The uploads without a pin, and their digests.
    fileprivate var unpinned: [(name: [UInt8], digest: BlobDigest?)] {
        state.withLock { state in state.uploads.filter { $0.value.pin == nil }.map { ($0.key, $0.value.digest) } }
    }

    fileprivate func removeUnlessPinned(_ name: [UInt8]) {
        state.withLock { if $0.uploads[name]?.pin == nil { $0.uploads[name] = nil } }
    }
}

// MARK: - SharedBlobs

/// The contents of a ``SharedStore`` as a node sees them.
struct SharedBlobs: BlobStorage {
    let contents: SharedContents
    let node: String

    /// The pin of an upload of a node.
    private final class Pin: Sendable {
        let contents: SharedContents
        let name: [UInt8]
        private let node: String

        init(_ contents: SharedContents, of node: String) {
            (self.contents, self.node, name) = (contents, node, contents.begin(by: node))
        }

        deinit { contents.release(name, of: node) }
    }

    private final class Writer: BlobWriter {
        let pin: Pin

        init(_ pin: Pin) { self.pin = pin }

        func write(_ bytes: UnsafeRawBufferPointer) { pin.contents.append(Array(bytes), to: pin.name) }

        func finish(as digest: BlobDigest) -> FinishedBlob {
            pin.contents.finish(pin.name, as: digest)
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

    func newBlob() -> any BlobWriter { Writer(Pin(contents, of: node)) }

    func open(_ record: BlobRecord, from offset: Int64) throws -> any BlobReader {
        guard let bytes = record.place.flatMap(contents.bytes) else {
            throw DatabaseError(.attachmentMissing, "there is no such upload")
        }
        return Reader(bytes[Int(offset)...])
    }

    func collect(row: BlobLookup, hold: (_ remove: (BlobLookup) throws -> Void) throws -> Void) throws {
        for (name, digest) in contents.unpinned {
            try hold { row in
                guard try digest.flatMap({ try row($0) })?.place != name else { return }
                contents.removeUnlessPinned(name)
            }
        }
    }

    func sizeOnDisk() -> Int64 { contents.size }
}
