internal import SettlePlatform
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Keeps large contents as files named by their SHA-256, in the folder of the database.
///
/// A content is written to a file, forced to the disk, and renamed to its final name before its row is written.
/// After a crash, compaction removes files without a row. A content is pinned before its file gets its name or is
/// looked up, and files are removed under the lock of the pins.
final class FileBlobs: BlobStorage {
    private let files: DatabaseFiles
    private let pins: BlobPins
    /// The partial downloads; `nil` if they can't be resumed.
    private let partial: PartialBlobs?
    /// The folders that exist and whose names were forced to the disk.
    private let folders = Guarded<Set<String>>([])
    /// Numbers the files being written, across all databases and openings of this process.
    private static let counter = Atomic<Int>(0)
    /// The number of files that are removed while other writers wait.
    private static let filesAtOnce = 100

    /// - Parameters:
    ///   - files: The files of the database.
    ///   - pins: The contents not to be collected.
    ///   - isShared: Whether other processes use the files, too. Then a download can't be resumed, since another
    ///     process may be downloading the same content.
    init(_ files: DatabaseFiles, pins: BlobPins, isShared: Bool) {
        self.files = files
        self.pins = pins
        partial = isShared ? nil : PartialBlobs(files: files)
        guard FileManager.default.fileExists(atPath: files.newAttachments) else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: files.newAttachments)) ?? [] {
            // A file's name begins with the id of the process that was writing it.
            let writer = name.split(separator: "-").first.flatMap { pid_t($0) }
            if isShared, let writer, writer != getpid(), ChildProcess.isRunning(writer) { continue }
            try? FileManager.default.removeItem(atPath: files.newAttachments + "/" + name)
        }
    }

    func newBlob() throws -> any BlobWriter { try FileBlobWriter(newFile(), for: self) }

    func resumedBlob(_ digest: AttachmentDigest, length: Int64) throws -> (any ResumableBlobWriter)? {
        guard let place = try partial?.claim(digest, length: length) else { return nil }
        return try FileBlobWriter(place, length: length, for: self)
    }

    /// The path for a new file.
    ///
    /// - Throws: ``DatabaseError`` with code `closed` if the database was deleted meanwhile.
    func newFile() throws -> String {
        guard files.exist else { throw Self.wasDeleted }
        return files.newAttachments + "/\(getpid())-\(Self.counter.add(1, ordering: .relaxed).newValue)"
    }

    private func path(of digest: BlobDigest) -> String {
        let name = digest.description
        return "\(files.attachments)/\(name.prefix(2))/\(name)"
    }

    func has(_ record: BlobRecord) -> Bool { FileStatus(path: path(of: record.digest)) != nil }

    func open(_ record: BlobRecord, from offset: Int64) throws -> any BlobReader {
        do {
            let file = try FileHandleReader(path: path(of: record.digest))
            try file.seek(to: offset)
            return file
        } catch {
            throw DatabaseError(.attachmentMissing, "the file of an attachment's content is missing", cause: error)
        }
    }

    /// Renames a file that was written and forced to the disk. It replaces an existing file of that name, whose
    /// bytes may be damaged or not yet on the disk.
    func adopt(_ file: String, as digest: BlobDigest) throws {
        // If the database was deleted, its folder must not be created again.
        guard files.exist else { throw Self.wasDeleted }
        try makeFolder("\(files.attachments)/\(digest.description.prefix(2))")
        try renameDurably(file, to: path(of: digest))
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

    /// Removes the files that no row names: those of removed contents, those that remain after a crash, and
    /// unfinished downloads.
    func collect(row: BlobLookup, hold: (_ remove: (BlobLookup) throws -> Void) throws -> Void) throws {
        // The database may be suspended meanwhile, and another process may continue a download.
        if let partial { try hold { _ in partial.removeAll() } }
        let doomed = try allFiles().map(\.digest).filter { try row($0) == nil }
        for start in stride(from: 0, to: doomed.count, by: Self.filesAtOnce) {
            try hold { row in
                for digest in doomed[start..<min(start + Self.filesAtOnce, doomed.count)] {
                    try pins.unlessPinned(digest) {
                        // If a pin is released after this check, the row already exists.
                        if try row(digest) == nil { try? FileManager.default.removeItem(atPath: path(of: digest)) }
                    }
                }
            }
        }
    }

    func sizeOnDisk() -> Int64 {
        allFiles().reduce(0) { $0 + ((try? FileHandleReader(path: $1.path).size()) ?? 0) }
    }

    private func allFiles() -> [(digest: BlobDigest, path: String)] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: files.attachments)) ?? []
        return folders.filter { $0.count == 2 }.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: files.attachments + "/" + folder)) ?? []
            return names.compactMap { name in
                BlobDigest(hexadecimal: name).map { ($0, "\(files.attachments)/\(folder)/\(name)") }
            }
        }
    }
}

extension FileHandleReader: BlobReader {}

// MARK: - FileBlobWriter

/// Writes a large content to a file, which gets its name when it is finished.
final class FileBlobWriter: ResumableBlobWriter {
    private let blobs: FileBlobs
    private let path: String
    private var writer: FileHandleWriter
    /// The file of a partial content, which stays for the next writer.
    private var place: PartialBlobs.Place?
    private var isEmpty = true
    private var isFinished = false

    /// Begins a new file.
    init(_ path: String, for blobs: FileBlobs) throws {
        self.blobs = blobs
        self.path = path
        writer = try FileHandleWriter(path: path)
    }

    /// Continues a partial content; if that is too long, it starts over.
    init(_ place: PartialBlobs.Place, length: Int64, for blobs: FileBlobs) throws {
        self.blobs = blobs
        self.place = place
        path = place.path
        writer = try FileHandleWriter(path: path, goesOn: true)
        let size = try FileHandleReader(path: path).size()
        if size > length { try restart() } else { isEmpty = size == 0 }
    }

    /// An unfinished content leaves no file, except one that another writer may resume.
    deinit {
        if !isFinished, place == nil || isEmpty { try? removeIfThere(path) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if !bytes.isEmpty { isEmpty = false }
        try writer.write(bytes)
    }

    func finish(as digest: BlobDigest) throws -> FinishedBlob {
        try writer.synchronize()
        try blobs.adopt(path, as: digest)
        (isFinished, place) = (true, nil)
        return FinishedBlob(place: nil, pin: nil)
    }

    func storedBytes() throws -> any BlobReader { try FileHandleReader(path: path) }

    func restart() throws {
        writer = try FileHandleWriter(path: path)
        isEmpty = true
    }

    func discard() { place = nil }
}
