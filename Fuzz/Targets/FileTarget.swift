import Foundation
import SettleCore
import SettleDatabase
internal import SettlePlatform
import Synchronization

/// Untrusted bytes, opened as a database file: opening, verifying, reading and writing succeed or throw.
final class FileTarget: Sendable {
    static let shared = FileTarget()

    /// In memory where the system has such a folder. Each process has a folder, and each input a new one in it, because the
    /// previous database may still be finishing a purge in the background, and SQLite would truncate the log's index that it
    /// finds under the path of a removed file.
    private let room: String
    private let count = Mutex(0)

    private init() {
        let memory = "/dev/shm"
        let place = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        room = "\(place)/settle-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
    }

    func run(_ bytes: [UInt8]) throws {
        try count.withLock { count in
            count += 1
            let folder = "\(room)/\(count).settle"
            defer { try? FileManager.default.removeItem(atPath: room) }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = URL(filePath: folder + "/database.sqlite")
            try Data(bytes).write(to: file)
            var options = DatabaseOptions()
            options.warn = { _ in }
            guard let database = try? Database.open(folder, options: options) else {
                return try require(try Data(contentsOf: file) == Data(bytes), "a file that is refused stays as it is")
            }
            defer { database.close() }
            use(database)
        }
    }

    /// Calls everything once; errors are allowed.
    private func use(_ database: Database) {
        let isSound = (try? database.verify())?.isSound
        let documents = (try? database.documents(limit: 20)) ?? []
        for document in documents {
            _ = document.json
            _ = try? database.leaves(of: document.id)
            for attachment in document.attachments { _ = try? database.content(of: attachment) }
        }
        _ = try? database.changes(limit: 20, style: .allLeaves, includingDocuments: true)
        _ = try? database.changes(limit: 20, descending: true)
        _ = try? database.conflictedDocumentIDs()
        _ = try? database.localDocuments()
        _ = try? database.info()
        for var document in documents.prefix(3) {
            document["fuzz"] = 1
            _ = try? database.save(document, onConflict: .fail)
            _ = try? database.delete(document, onConflict: .lastWriteWins)
        }
        _ = try? database.save(Document(id: "new", body: ["a": 1]), onConflict: .lastWriteWins)
        _ = try? database.saveLocalDocument("_local/new", body: .empty)
        _ = try? database.purgeExpired()
        if let id = documents.last?.id { _ = try? database.purge(id) }
        _ = try? database.compact()
        if isSound == true { _ = try? database.verify() }
    }
}
