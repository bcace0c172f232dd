internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Where contents of attachments lie: small ones as rows of the storage engine, large ones as files named by their
/// SHA-256.
///
/// A large content is written to a file of its own, forced to the disk, and renamed to its name before the row that
/// mentions it is written; so a row never names a file that is not whole. What no row names after a crash is removed by
/// compaction. A content that is not yet in a document is pinned, so that compaction does not collect it.
final class BlobStore: Sendable {
    /// Contents larger than this get a file of their own.
    static let largestInRow = 64 * 1024

    private let files: DatabaseFiles?
    private struct Pins {
        var counts: [BlobDigest: Int] = [:]
        /// What was pinned at any time since the removal of files that runs began, if one does.
        var sinceRemoval: Set<BlobDigest>?
    }

    private let pins = Mutex(Pins())
    private let counter = Atomic<Int>(0)

    init(files: DatabaseFiles?) throws {
        self.files = files
        guard let files, FileManager.default.fileExists(atPath: files.newAttachments) else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: files.newAttachments)) ?? [] {
            try? FileManager.default.removeItem(atPath: files.newAttachments + "/" + name)
        }
    }

    /// Where a file that is being written may lie, or `nil` in memory.
    func newFile() -> String? {
        guard let files else { return nil }
        return files.newAttachments + "/\(counter.add(1, ordering: .relaxed).newValue)"
    }

    /// Where the file of a large content lies, or `nil` in memory.
    func path(of digest: BlobDigest) -> String? {
        let name = digest.description
        return files.map { "\($0.attachments)/\(name.prefix(2))/\(name)" }
    }

    /// Gives a file that was written and forced to the disk its name; one that is there already stays.
    func adopt(_ file: String, as digest: BlobDigest) throws {
        guard let path = path(of: digest), let files else { return }
        if FileManager.default.fileExists(atPath: path) {
            try? FileManager.default.removeItem(atPath: file)
            return
        }
        let folder = "\(files.attachments)/\(digest.description.prefix(2))"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw DatabaseError(.inputOutput, "can't make the folder \(folder)", cause: error)
        }
        try renameDurably(file, to: path)
    }

    /// Keeps a content from being collected until the returned object goes.
    func pin(_ record: BlobRecord) -> PendingBlob {
        pins.withLock { pins in
            pins.counts[record.digest, default: 0] += 1
            pins.sinceRemoval?.insert(record.digest)
        }
        return PendingBlob(record: record) { [weak self] in
            self?.pins.withLock { pins in
                pins.counts[record.digest] = pins.counts[record.digest].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
        }
    }

    /// Whether a content must not be collected now.
    func isPinned(_ digest: BlobDigest) -> Bool { pins.withLock { $0.counts[digest] != nil } }

    /// Removes the files that no row names and nothing pins; one thread at a time.
    ///
    /// Between the question whether a row names a file and its removal a document may be saved that holds it. Such a
    /// content was pinned before, so whatever is pinned at any time while this runs is left alone.
    func removeFiles(unless isNamed: (BlobDigest) throws -> Bool) throws {
        pins.withLock { $0.sinceRemoval = Set($0.counts.keys) }
        defer { pins.withLock { $0.sinceRemoval = nil } }
        for (digest, path) in allFiles() where try !isNamed(digest) {
            pins.withLock { pins in
                if pins.sinceRemoval?.contains(digest) == false { try? FileManager.default.removeItem(atPath: path) }
            }
        }
    }

    /// The sum of the files' lengths.
    func sizeOnDisk() -> Int64 {
        allFiles().reduce(0) { $0 + ((try? FileHandleReader(path: $1.path).size()) ?? 0) }
    }

    private func allFiles() -> [(digest: BlobDigest, path: String)] {
        guard let files else { return [] }
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: files.attachments)) ?? []
        return folders.filter { $0.count == 2 }.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: files.attachments + "/" + folder)) ?? []
            return names.compactMap { name in
                BlobDigest(hexadecimal: name).map { ($0, "\(files.attachments)/\(folder)/\(name)") }
            }
        }
    }
}
