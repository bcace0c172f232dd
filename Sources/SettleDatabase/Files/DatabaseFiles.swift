#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The folder a database is: `NAME.settle`, with everything that belongs to it.
///
///     groceries.settle/
///       database.sqlite        documents, small attachments; beside it SQLite's -wal while it is open
///       database.new           the same while it is being made
///       attachments/ab/…       large attachments, by their SHA-256
///       attachments/new/…      attachments that are being written
///       attachments/partial/…  attachments that have come in part, and whose rest may come
///       lock                   locked by the process that has the database open
struct DatabaseFiles: Sendable {
    let folder: String

    init(folder: String) {
        self.folder = URL(fileURLWithPath: folder).standardizedFileURL.path
    }

    var database: String { folder + "/database.sqlite" }
    /// What the database is called while it is being made, and what SQLite may leave beside it.
    var unfinishedDatabase: String { folder + "/database.new" }
    var unfinished: [String] { ["", "-journal", "-wal", "-shm"].map { unfinishedDatabase + $0 } }
    var attachments: String { folder + "/attachments" }
    var newAttachments: String { attachments + "/new" }
    var partialAttachments: String { attachments + "/partial" }
    var lock: String { folder + "/lock" }

    /// Whether there is a database in the folder.
    var exist: Bool { FileManager.default.fileExists(atPath: database) }

    /// Makes the folder and those inside.
    func create() throws {
        do {
            try makePrivateFolder(newAttachments)
        } catch {
            throw DatabaseError(.inputOutput, "can't make the folder \(folder)", cause: error)
        }
    }

    /// What the folder's name ends in while it is being removed.
    static let doomedSuffix = ".deleted"

    /// Removes the folder with all it holds; it is renamed first, so that a crash leaves no half of a database.
    func remove() throws {
        let doomed = folder + Self.doomedSuffix
        do {
            if FileManager.default.fileExists(atPath: doomed) { try FileManager.default.removeItem(atPath: doomed) }
            try FileManager.default.moveItem(atPath: folder, toPath: doomed)
            // Another process that opens the store may remove it at the same time.
            try? FileManager.default.removeItem(atPath: doomed)
            if FileManager.default.fileExists(atPath: doomed) { try FileManager.default.removeItem(atPath: doomed) }
        } catch {
            throw DatabaseError(.inputOutput, "can't remove \(folder)", cause: error)
        }
    }
}
