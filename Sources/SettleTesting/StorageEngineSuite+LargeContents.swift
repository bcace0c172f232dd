internal import Settle
import SettleDatabase

extension StorageEngineSuite {
    /// Checks the storage of large contents, if the engine has one.
    static func largeContents(_ engine: any StorageEngine, _ report: inout Report) throws {
        guard let blobs = engine.blobs, let digest = BlobDigest([UInt8](repeating: 7, count: 32)) else { return }
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        func record(_ place: [UInt8]?) -> BlobRecord {
            BlobRecord(
                digest: digest, md5: [UInt8](repeating: 1, count: 16), length: Int64(bytes.count), content: nil,
                isFile: true, place: place)
        }
        func put(_ place: [UInt8]?) throws { try engine.hold { try $0.put(.blob(record(place))) } }
        func read(_ place: [UInt8]?, from offset: Int) throws -> [UInt8] {
            let reader = try blobs.open(record(place), from: Int64(offset))
            var all: [UInt8] = []
            while case let piece = try reader.read(upTo: 100_000), !piece.isEmpty { all += piece }
            return all
        }
        func collect() throws {
            try blobs.collect(
                row: { digest in try engine.read { try $0.blob(digest) } },
                hold: { remove in try engine.hold { writer in try remove { try writer.blob($0) } } })
        }
        let first = try write(bytes, as: digest, to: blobs)
        report.expect(blobs.has(record(first.place)), "a finished content is there")
        try collect()
        report.expect(try read(first.place, from: 0) == bytes, "a pinned content is read as it was written")
        for offset in [1, 262_143, 262_144, 524_289, bytes.count] {
            let rest = Array(bytes[offset...])
            report.expect(try read(first.place, from: offset) == rest, "and from \(offset) on")
        }
        try put(first.place)
        report.expect(try engine.read { try $0.blob(digest) } == record(first.place), "its row names its place")
        let second = try write(bytes, as: digest, to: blobs)
        try put(second.place)
        report.expect(
            try engine.read { try $0.blob(digest) }?.place == first.place, "the row of a content stays as it is")
        report.expect(try blobs.sizeOnDisk() >= Int64(bytes.count), "the size of stored contents is known")
        try withExtendedLifetime((first, second)) { try collect() }
        report.expect(try read(first.place, from: 0) == bytes, "a content that a row names is not collected")
        guard first.place != nil else { return }
        try engine.hold { try $0.remove(.blob(digest)) }
        do {
            try put([0])
            report.expect(false, "a row names a place that nothing pins")
        } catch let error as DatabaseError where error.code == .attachmentMissing {}
        report.expect(try engine.read { try $0.blob(digest) } == nil, "a row that is refused is not there")
    }

    private static func write(
        _ bytes: [UInt8], as digest: BlobDigest, to blobs: any BlobStorage
    ) throws -> FinishedBlob {
        let writer = try blobs.newBlob()
        for start in stride(from: 0, to: bytes.count, by: 90_001) {
            try bytes[start..<min(start + 90_001, bytes.count)].withUnsafeBytes { try writer.write($0) }
        }
        return try writer.finish(as: digest)
    }
}
