internal import SettlePlatform
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
/// compaction. A content that is not yet in a document is pinned, so that compaction does not collect it; it is pinned
/// before its file is looked for, and a file is removed under the lock of the pins.
final class BlobStore: Sendable {
    /// Contents larger than this get a file of their own.
    static let largestInRow = 64 * 1024

    private let files: DatabaseFiles?
    /// Those that have come in part.
    let partial: PartialBlobs
    private let pins = Guarded<[BlobDigest: Int]>([:])
    /// The folders of files that are there for good: made, and their names forced to the disk.
    private let folders = Guarded<Set<String>>([])
    /// Numbers the files that are being written, across all databases and openings of this process.
    private static let counter = Atomic<Int>(0)

    init(files: DatabaseFiles?) throws {
        self.files = files
        partial = PartialBlobs(files: files)
        guard let files, FileManager.default.fileExists(atPath: files.newAttachments) else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: files.newAttachments)) ?? [] {
            try? FileManager.default.removeItem(atPath: files.newAttachments + "/" + name)
        }
    }

    /// Where a file that is being written may lie, or `nil` in memory.
    ///
    /// - Throws: ``DatabaseError`` with code `closed` when the database was deleted meanwhile.
    func newFile() throws -> String? {
        guard let files else { return nil }
        guard files.exist else { throw Self.wasDeleted }
        return files.newAttachments + "/\(Self.counter.add(1, ordering: .relaxed).newValue)"
    }

    /// Where the file of a large content lies, or `nil` in memory.
    func path(of digest: BlobDigest) -> String? {
        let name = digest.description
        return files.map { "\($0.attachments)/\(name.prefix(2))/\(name)" }
    }

    /// Gives its name to a file that was written and forced to the disk. It takes the place of a file of that name, whose bytes
    /// may be damaged or not yet on the disk.
    func adopt(_ file: String, as digest: BlobDigest) throws {
        guard let path = path(of: digest), let files else { return }
        // Nothing may bring back the folder of a database that was deleted.
        guard files.exist else { throw Self.wasDeleted }
        try makeFolder("\(files.attachments)/\(digest.description.prefix(2))")
        try renameDurably(file, to: path)
    }

    /// Makes a folder of files unless it is there; whoever comes second waits until its name is on the disk.
    private func makeFolder(_ folder: String) throws {
        try folders.withLock { folders in
            if folders.contains(folder) { return }
            if !FileManager.default.fileExists(atPath: folder) {
                do { try makePrivateFolder(folder) } catch {
                    throw DatabaseError(.inputOutput, "can't make the folder \(folder)", cause: error)
                }
            }
            try synchronizeFolder(above: folder)
            folders.insert(folder)
        }
    }

    private static var wasDeleted: DatabaseError { DatabaseError(.closed, "the database was deleted") }

    /// Keeps a content from being collected until the returned object goes.
    func pin(_ record: BlobRecord) -> PendingBlob {
        pins.withLock { $0[record.digest, default: 0] += 1 }
        return PendingBlob(record: record) { [weak self] in
            self?.pins.withLock { pins in
                pins[record.digest] = pins[record.digest].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
        }
    }

    /// Whether a content must not be collected now.
    func isPinned(_ digest: BlobDigest) -> Bool { pins.withLock { $0[digest] != nil } }

    /// Removes the file of a content unless it is pinned or a row names it.
    func removeFile(of digest: BlobDigest, unless isNamed: () throws -> Bool) throws {
        guard let path = path(of: digest) else { return }
        try pins.withLock { pins in
            // A pin that goes after this was looked at has its row already.
            if pins[digest] == nil, try !isNamed() { try? FileManager.default.removeItem(atPath: path) }
        }
    }

    /// The contents that have files.
    func digestsOfFiles() -> [BlobDigest] { allFiles().map(\.digest) }

    /// The sum of the files' lengths.
    func sizeOnDisk() -> Int64 {
        allFiles().reduce(0) { $0 + ((try? FileHandleReader(path: $1.path).size()) ?? 0) }
    }

    /// The sizes of the database's own file and its log; `nil` in memory.
    func databaseFileSize() -> Int64? {
        files.map { files in
            [files.database, files.database + "-wal"].reduce(0) { sum, path in
                sum + (FileHandleReader.size(ofFileAt: path) ?? 0)
            }
        }
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
