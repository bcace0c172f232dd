internal import Foundation
internal import Settle

/// A database in a temporary folder, for documents on their way; the folder goes with the object.
final class ScratchDatabase {
    let database: Database
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)").path
        var options = DatabaseOptions()
        options.maximumDocumentSize = .max
        options.warn = { _ in }
        database = try Database.create(folder, options: options)
        try database.setRevisionLimit(Int(Int32.max))
    }

    deinit {
        database.close()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
