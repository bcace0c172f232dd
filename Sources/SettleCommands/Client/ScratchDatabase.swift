internal import Foundation
internal import Settle

/// A database for documents on their way, which goes with the object: in memory, or in a temporary folder where contents of
/// any size find room.
final class ScratchDatabase {
    let database: Database
    private let folder: String?

    init(inMemory: Bool) throws {
        var options = DatabaseOptions()
        options.maximumDocumentSize = .max
        options.warn = { _ in }
        if inMemory {
            folder = nil
            database = try Database.inMemory(options: options)
        } else {
            let path = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)").path
            folder = path
            database = try Database.create(path, options: options)
        }
        try database.setRevisionLimit(Int(Int32.max))
    }

    deinit {
        database.close()
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }
}
