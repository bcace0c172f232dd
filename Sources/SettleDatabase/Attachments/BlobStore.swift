internal import SettlePlatform
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Stores contents of attachments: small ones as rows of the storage engine, large ones as files named by their
/// SHA-256.
///
/// A large content is written to a file, forced to the disk, and renamed to its name before its row is written; so a row
/// never names an incomplete file. After a crash, compaction removes files without a row. A content that is not in a document
/// yet is pinned, so that compaction does not collect it; it is pinned before its file is looked up, and files are removed
/// under the lock of the pins.
final class BlobStore: Sendable {
    /// Larger contents get a file of their own, in bytes.
    static let largestInRow = 64 * 1024

    private let files: DatabaseFiles?
    /// The partial downloads.
    let partial: PartialBlobs
    private let pins = Guarded<[BlobDigest: Int]>([:])
    /// The folders that exist durably: created, and their names forced to the disk.
    private let folders = Guarded<Set<String>>([])
    /// Numbers the files being written, across all databases and openings of this process.
    private static let counter = Atomic<Int>(0)

    /// - Parameters:
    ///   - files: The files of the database; `nil` in memory.
    ///   - isShared: Whether other processes use them, too. Then a download can't be resumed, since another process may be
    ///     downloading the same content.
    init(files: DatabaseFiles?, isShared: Bool) {
        self.files = files
        partial = PartialBlobs(files: isShared ? nil : files)
        guard let files, FileManager.default.fileExists(atPath: files.newAttachments) else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: files.newAttachments)) ?? [] {
            // Its name begins with the number of the process that was writing it.
            let writer = name.split(separator: "-").first.flatMap { pid_t($0) }
            if isShared, let writer, writer != getpid(), kill(writer, 0) == 0 || errno != ESRCH { continue }
            try? FileManager.default.removeItem(atPath: files.newAttachments + "/" + name)
        }
    }

    /// The path for a new file, or `nil` in memory.
    ///
    /// - Throws: ``DatabaseError`` with code `closed` if the database was deleted meanwhile.
    func newFile() throws -> String? {
        guard let files else { return nil }
        guard files.exist else { throw Self.wasDeleted }
        return files.newAttachments + "/\(getpid())-\(Self.counter.add(1, ordering: .relaxed).newValue)"
    }

    /// The path of a large content, or `nil` in memory.
    func path(of digest: BlobDigest) -> String? {
        let name = digest.description
        return files.map { "\($0.attachments)/\(name.prefix(2))/\(name)" }
    }

    /// Whether the file of a content is there, if it has one. Another process may have collected it while the database was
    /// suspended.
    func has(_ record: BlobRecord) -> Bool {
        guard record.isFile, let path = path(of: record.digest) else { return true }
        return FileStatus(path: path) != nil
    }

    /// Renames a file that was written and forced to the disk. It replaces a file of that name, whose bytes may be damaged or
    /// not yet on the disk.
    func adopt(_ file: String, as digest: BlobDigest) throws {
        guard let path = path(of: digest), let files else { return }
        // The folder of a deleted database must not be created again.
        guard files.exist else { throw Self.wasDeleted }
        try makeFolder("\(files.attachments)/\(digest.description.prefix(2))")
        try renameDurably(file, to: path)
    }

    /// Creates a folder of files unless it exists; concurrent callers wait until its name is on the disk.
    private func makeFolder(_ folder: String) throws {
        try folders.withLock { folders in
            if folders.contains(folder) { return }
            try makePrivateFolder(folder)
            try synchronizeFolder(above: folder)
            folders.insert(folder)
        }
    }

    private static var wasDeleted: DatabaseError { DatabaseError(.closed, "the database was deleted") }

    /// Keeps a content from being collected until the returned object is released.
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
            // A pin that is released after this check has its row already.
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
