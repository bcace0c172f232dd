internal import Foundation
internal import SettlePlatform

/// The files with contents of attachments beside a database of Couchbase Lite 1.x, CDTDatastore or sync-android.
///
///     NAME attachments/SHA1.blob        NAME/attachments/sha1.blob        attachments/SHA1.blob
///     extensions/com.cloudant.attachments/name
///
/// Products write the digits in either case, so names are compared without it.
struct CouchbaseLite1Blobs {
    /// The files by name in lower case.
    private var files: [String: URL] = [:]
    /// The names that a table of the database gives to digests.
    private let names: [String: String]
    /// Whether the contents are encrypted.
    private(set) var isEncrypted = false

    /// Lists the files.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - names: The names of files by digests in lower-case digits, where the database has a table of them.
    init(beside database: URL, names: [String: String]) {
        self.names = names
        let folder = database.deletingLastPathComponent()
        let name = database.deletingPathExtension().lastPathComponent
        let places = [
            ["\(name) attachments"], [name, "attachments"], ["attachments"],
            ["extensions", "com.cloudant.attachments"],
        ]
        for place in places {
            // A folder of its own has contents of this database alone.
            if place.count == 1, place[0] == "attachments", name != "db" { continue }
            let found = place.reduce(folder as URL?) { folder, part in folder.flatMap { Self.entry(part, of: $0) } }
            guard let found, let entries = try? FileManager.default.contentsOfDirectory(atPath: found.path) else {
                continue
            }
            for entry in entries { files[entry.lowercased()] = found.appending(path: entry) }
        }
        isEncrypted = files["_encryption"] != nil
    }

    private static func entry(_ name: String, of folder: URL) -> URL? {
        let exact = folder.appending(path: name)
        if FileStatus(path: exact.path)?.isFolder == true { return exact }
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return entries.first { $0.lowercased() == name.lowercased() }.map { folder.appending(path: $0) }
    }

    /// The place of a content.
    func place(of digest: [UInt8]) -> ForeignAttachment.Place {
        let digits = Hexadecimal.encode(digest)
        let candidates = [names[digits]?.lowercased(), digits + ".blob", digits].compactMap(\.self)
        let file = candidates.lazy.compactMap { files[$0] }.first { FileStatus(path: $0.path)?.isRegular == true }
        return file.map { .file($0) } ?? .missing("the file with the content, \(digits).blob, is missing")
    }
}
