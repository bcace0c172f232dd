internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The folder of a database: `NAME.settle`, with all its files.
///
///     groceries.settle/
///       database.sqlite        documents, small attachments; beside it SQLite's -wal while it is open
///       database.new           the same while it is being created
///       attachments/ab/…       large attachments, by their SHA-256
///       attachments/new/…      attachments that are being written
///       attachments/partial/…  incomplete attachments, whose download can be resumed
///       lock                   locked by the process that has the database open
struct DatabaseFiles: Sendable {
    let folder: String

    init(folder: String) { self.folder = Self.standardized(URL(fileURLWithPath: folder).path) }

    /// The absolute path in a spelling that stays the same when the database is created or removed.
    ///
    /// Foundation follows links before `..`, and shortens Apple's `/private/var` to `/var`, only in the path of an
    /// existing file. So this standardizes the existing part of a path on its own.
    private static func standardized(_ path: String) -> String {
        func spelled(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
        #if canImport(Darwin)
        let marks = ["/..", "/private/"]
        #else
        let marks = ["/.."]
        #endif
        guard marks.contains(where: { path.contains($0) }) else { return spelled(path) }
        var end = path.endIndex
        while end > path.startIndex, FileStatus(path: String(path[..<end])) == nil {
            end = path[..<end].lastIndex(of: "/") ?? path.startIndex
        }
        guard end > path.startIndex else { return spelled(path) }
        return spelled("\(spelled(String(path[..<end])))\(path[end...])")
    }

    /// The name of the folder.
    var name: String { String(folder.split(separator: "/").last ?? "") }

    var database: String { folder + "/" + Self.databaseName }
    private static let databaseName = "database.sqlite"
    /// The name of the database file while it is being created; SQLite may leave files beside it.
    var unfinishedDatabase: String { folder + "/database.new" }
    var unfinished: [String] { ["", "-journal", "-wal", "-shm"].map { unfinishedDatabase + $0 } }
    var attachments: String { folder + "/attachments" }
    var newAttachments: String { attachments + "/new" }
    var partialAttachments: String { attachments + "/partial" }
    var lock: String { folder + "/lock" }

    /// Whether the folder contains a database.
    var exist: Bool { Self.exist(in: folder) }

    /// Whether a folder contains a database.
    static func exist(in folder: String) -> Bool { FileStatus(path: folder + "/" + databaseName) != nil }

    /// Checks that the path can hold a database: a folder with a database, an empty folder, the remains of a
    /// process that was killed while it created one, or a path that does not exist.
    ///
    /// - Throws: ``DatabaseError`` with code `notADatabase` for a file, and for a folder of other files.
    func checkPlace() throws {
        guard let status = FileStatus(path: folder) else { return }
        guard status.isFolder else {
            throw DatabaseError(
                .notADatabase,
                "\(folder) is a file, and a database is a folder, by custom NAME.settle; it was left as it is")
        }
        let own = Set((unfinished + [database, attachments, lock]).map { $0.dropFirst(folder.count + 1) })
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard names.isEmpty || names.contains(where: { own.contains($0[...]) }) else {
            throw DatabaseError(
                .notADatabase,
                "the folder \(folder) has other files and is not a database; give a new folder, such as \(folder)/notes.settle"
            )
        }
    }

    /// The sizes of the database's own file and its log.
    var size: Int64 {
        [database, database + "-wal"].reduce(0) { $0 + (FileHandleReader.size(ofFileAt: $1) ?? 0) }
    }

    /// Creates the folder and its subfolders.
    func create() throws {
        // The folder is created first, so that an error names it.
        try makePrivateFolder(folder)
        try makePrivateFolder(newAttachments)
    }

    /// The suffix of the folder's name while it is being removed.
    static let doomedSuffix = ".deleted"

    /// The maximum length of a file's name in bytes.
    private static let maximumNameLength = 255

    /// The folder's path while it is being removed: `NAME.settle.deleted`. The name is a random one if that would be
    /// too long, and for a folder without `.settle`: its `NAME.deleted` may be another database, and its
    /// `NAME.settle.deleted` one that is being removed at the same time.
    private func doomedFolder() -> String {
        let doomed = name + Self.doomedSuffix
        let isFree = name.hasSuffix(DocumentStore.suffix) && doomed.utf8.count <= Self.maximumNameLength
        let random = SecureRandom.hexadecimal(bytes: 16) + DocumentStore.suffix + Self.doomedSuffix
        return String(folder.dropLast(name.count)) + (isFree ? doomed : random)
    }

    /// Removes the folder and its content. The folder is renamed first, so that a crash leaves no partial database.
    func remove() throws {
        let doomed = doomedFolder()
        do {
            if FileManager.default.fileExists(atPath: doomed) { try FileManager.default.removeItem(atPath: doomed) }
            // The folder's entry is forced to the disk: a loss of power must not bring the database back, whole or in part.
            try renameDurably(folder, to: doomed)
            // Another process that opens the store may remove it concurrently.
            try? FileManager.default.removeItem(atPath: doomed)
            if FileManager.default.fileExists(atPath: doomed) { try FileManager.default.removeItem(atPath: doomed) }
        } catch {
            throw fileManagerError("can't remove \(folder)", error)
        }
    }
}

// MARK: - PrivateFolder

/// Creates a folder that only its owner may enter, with missing parent folders; an existing one stays unchanged.
///
/// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`, which names the cause and a remedy.
package func makePrivateFolder(_ path: String) throws {
    if mkdir(path, 0o700) == 0 { return }
    if errno == ENOENT, let parent = parentFolder(of: path) {
        try makePrivateFolder(parent)
        if mkdir(path, 0o700) == 0 { return }
    }
    let number = errno
    var status = stat()
    if number == EEXIST, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    let error = systemError("can't create the folder \(path)", number)
    throw DatabaseError(error.code, "\(error.message); \(advice(number))")
}

/// The folder that contains a path; `nil` for the root and the working folder.
private func parentFolder(of path: String) -> String? {
    var names = path[...]
    while names.hasSuffix("/") { names.removeLast() }
    guard let slash = names.lastIndex(of: "/"), slash != names.startIndex else { return nil }
    return String(names[..<slash])
}

/// The remedy for a folder that can't be created.
private func advice(_ number: Int32) -> String {
    switch number {
    case EACCES, EPERM: "change the permissions of the folder it is in, or choose another place"
    case EEXIST, ENOTDIR: "a file has that name, or that of a folder above it; choose another place"
    case EROFS: "the disk is read-only; choose another place"
    case ENOSPC, EDQUOT: "or choose another place"
    default: "choose another place"
    }
}
