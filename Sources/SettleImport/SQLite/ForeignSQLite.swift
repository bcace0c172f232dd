package import Foundation
internal import SettlePlatform

/// Recognizes databases of other products that are SQLite files, and what lies where such files are expected.
///
///     docs, revs                        Couchbase Lite 1.x, TouchDB, CDTDatastore, sync-android
///     kvmeta, kv_default                Couchbase Lite 2 to 4
///     document-store, by-sequence       PouchDB
///
/// The tables decide, and not the name: `NAME.cblite2` is a folder of Couchbase Lite 1.2 and of 4.
package enum ForeignSQLite {
    /// Opens the database at a place: a file, the folder of a database, or a folder with one database in it.
    ///
    /// - Parameter url: The file or folder.
    /// - Returns: The reader, or `nil` if nothing there is a SQLite file or the name of one.
    /// - Throws: ``ForeignFileError`` if there is a database that is not read, with what to do.
    package static func reader(at url: URL) throws -> (any ForeignReader)? {
        guard let status = FileStatus(path: url.path) else {
            throw ForeignFileError(.inputOutput, "there is no file \(url.path)")
        }
        return status.isFolder ? try readerInFolder(url, depth: 0) : status.isRegular ? try reader(ofFile: url) : nil
    }

    // MARK: Folders

    /// The names of databases inside the folder of one.
    private static let innerNames = ["db.sqlite3", "db.sync"]
    /// How names of databases end that are SQLite files.
    private static let extensions: Set = ["cblite", "touchdb"]

    private static func readerInFolder(_ url: URL, depth: Int) throws -> (any ForeignReader)? {
        for name in innerNames {
            let file = url.appending(path: name)
            if FileStatus(path: file.path)?.isRegular == true { return try reader(ofFile: file) }
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } catch {
            throw ForeignFileError(.inputOutput, "the folder \(url.lastPathComponent) can't be listed: \(error)")
        }
        if let forest = names.first(where: { $0.hasPrefix("db.forest") }) {
            throw forestDB(url.appending(path: forest))
        }
        if names.contains("db.sqlite3-wal") { throw missingFile(url.lastPathComponent) }
        guard depth == 0 else { return nil }
        let candidates = names.map { url.appending(path: $0) }.filter(isCandidate)
        guard candidates.count < 2 else {
            let list = candidates.prefix(10).map(\.lastPathComponent).joined(separator: ", ")
            throw ForeignFileError(
                .unsupported, "\(url.lastPathComponent) has \(candidates.count) databases: give one of \(list)")
        }
        guard let only = candidates.first else { return nil }
        return FileStatus(path: only.path)?.isFolder == true
            ? try readerInFolder(only, depth: 1) : try reader(ofFile: only)
    }

    /// Whether an entry of a folder is a database.
    private static func isCandidate(_ url: URL) -> Bool {
        guard let status = FileStatus(path: url.path) else { return false }
        if status.isFolder {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
            return names.contains { innerNames.contains($0) || $0.hasPrefix("db.forest") || $0 == "db.sqlite3-wal" }
        }
        return status.isRegular
            && (extensions.contains(url.pathExtension) || head(of: url).starts(with: ForeignSQLiteFile.magic))
    }

    // MARK: Files

    /// The first bytes of a file.
    private static func head(of url: URL) -> [UInt8] {
        guard let file = try? FileHandle(forReadingFrom: url) else { return [] }
        defer { try? file.close() }
        return ((try? file.read(upToCount: 64)) ?? nil).map { Array($0) } ?? []
    }

    private static func reader(ofFile url: URL) throws -> (any ForeignReader)? {
        let (head, name) = (head(of: url), url.lastPathComponent)
        let hasLog = ForeignSQLiteFile.logs(of: url).contains { $0.end == "-wal" }
        let isExpected = innerNames.contains(name) || extensions.contains(url.pathExtension)
        guard head.starts(with: ForeignSQLiteFile.magic) || (head.isEmpty && isExpected && hasLog) else {
            if name.hasPrefix("db.forest") { throw forestDB(url) }
            if url.pathExtension == "realm" || (head.count > 20 && Array(head[16..<20]) == Array("T-DB".utf8)) {
                throw ForeignFileError(
                    .unsupported,
                    "\(name) is a Realm database: save it as JSON with Realm Studio, and import that as the kind realm"
                )
            }
            guard isExpected else { return nil }
            guard head.count >= 16 else {
                throw ForeignFileError(.damaged, "\(ForeignSQLiteFile.name(of: url)) is empty or ends early")
            }
            throw ForeignFileError(
                .unsupported,
                "\(ForeignSQLiteFile.name(of: url)) is encrypted, or not a database: Settle can't decrypt it. Export it with the app that wrote it, or pull from the server."
            )
        }
        return try reader(of: ForeignSQLiteFile(at: url), hasLog: hasLog)
    }

    private static func reader(of file: ForeignSQLiteFile, hasLog: Bool) throws -> any ForeignReader {
        let tables = Set(file.tables.keys)
        if file.has("kvmeta", "name"), tables.contains(where: { $0.hasPrefix("kv_") }) {
            return try CouchbaseLiteReader(file)
        }
        if file.has("docs", "doc_id", "docid"),
            file.has("revs", "sequence", "doc_id", "revid", "parent", "deleted", "json")
        {
            return try CouchbaseLite1Reader(file)
        }
        if file.has("document-store", "id", "json"), file.has("by-sequence", "seq", "json") {
            return try PouchSQLite(file)
        }
        if tables.isSuperset(of: ["Records", "ObjectStoreInfo"])
            || tables.isSuperset(of: ["object_store", "object_data"])
        {
            throw ForeignFileError(
                .unsupported,
                "\(file.name) is an IndexedDB of a browser, which only the browser reads: export it from a page, as the guide for PouchDB shows, or replicate it to a server once"
            )
        }
        if tables.isEmpty, !hasLog {
            throw ForeignFileError(
                .missing, "\(file.name) has no tables: is \(file.url.lastPathComponent)-wal missing beside it?")
        }
        if tables.isSuperset(of: ["documents", "contents", "locals", "blobs", "settings"]) {
            throw ForeignFileError(.unsupported, "\(file.name) is a database of Settle already: open it as it is")
        }
        let list = tables.sorted().prefix(5).joined(separator: ", ")
        throw ForeignFileError(
            .unknown, "\(file.name) is a SQLite database of a program that Settle does not know; its tables are \(list)"
        )
    }

    // MARK: Refusals

    private static func forestDB(_ url: URL) -> ForeignFileError {
        let folder = url.deletingLastPathComponent().lastPathComponent
        return ForeignFileError(
            .unsupported,
            "\(folder) holds a ForestDB database (Couchbase Lite 1.x): Settle reads its SQLite ones. Open it once with storageType SQLite, or pull from the server."
        )
    }

    private static func missingFile(_ folder: String) -> ForeignFileError {
        ForeignFileError(.missing, "\(folder) has db.sqlite3-wal, but db.sqlite3 is missing: copy both")
    }
}
