public import Foundation
internal import SettleCore
internal import SettleMobile

/// A database or dump of another product, to be imported.
///
///     let old = try ForeignDatabase(at: url)
///     print(old.product)              // Couchbase Lite 1.4 (iOS), user_version 102
///     let report = try database.importAll(from: old)
///
/// The original is never written to. An object is used by one thread at a time.
public struct ForeignDatabase {
    /// The kinds of files.
    public enum Kind: String, CaseIterable, Sendable {
        /// Documents as JSON: in lines, in an array, or as `settle export` writes them.
        case json
        /// A table.
        case csv
        /// Couchbase Lite 1.x and TouchDB.
        case couchbase1
        /// CDTDatastore and sync-android of Cloudant.
        case cloudant
        /// Couchbase Lite 2 to 4.
        case cblite
        /// PouchDB: its LevelDB, its SQLite, and its dumps.
        case pouchdb
        /// CouchDB: its files, and saved answers.
        case couchdb
        /// The files of couchbackup.
        case couchbackup
        /// MongoDB's Extended JSON.
        case mongo
        /// Firestore's documents as node-firestore-import-export writes them.
        case firestore
        /// Realm's objects as Realm Studio writes them, a list for each class. It is not known by its content.
        case realm
    }

    package enum Content {
        case reader(any ForeignReader)
        case dump(any RecordSource)
    }

    /// The kind of file.
    public let kind: Kind
    /// The product and version, for people.
    public let product: String
    package let content: Content
    /// The bytes that were read of a dump, and their number; `nil` for other kinds.
    package let position: (() -> (done: Int64, total: Int64))?

    /// Opens a file or folder by its content.
    ///
    /// - Parameters:
    ///   - url: The file, or the folder that a product keeps its database in.
    ///   - kind: What it is, where the content does not tell.
    ///   - typeAttribute: The member that gets the name of the class of an object of Realm, or of the collection of a document of
    ///     Firestore; by default `type` for Realm and none for Firestore. An object that has the member already is not taken.
    /// - Throws: ``ForeignFileError`` for what can't be imported, which says what it is and what to do.
    public init(at url: URL, kind: Kind? = nil, typeAttribute: String? = nil) throws {
        try self.init(at: url, kind: kind, DumpOptions(translation: JSONTranslation(typeMember: typeAttribute)))
    }

    package init(at url: URL, kind: Kind?, _ options: DumpOptions) throws {
        let path = url.path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ForeignFileError(.inputOutput, "there is no file at \(path)")
        }
        if let reader = try Self.reader(at: url, kind) {
            self.init(reader, kind)
        } else if isFolder.boolValue {
            try self.init(folder: url, kind, options)
        } else {
            try self.init(dumps: [url], kind, options)
        }
    }

    /// Creates a database of its reader; a caller may know the kind better.
    package init(_ reader: any ForeignReader, _ kind: Kind? = nil) {
        self.kind = kind ?? reader.kind
        product = reader.product
        content = .reader(reader)
        position = nil
    }

    private init(folder: URL, _ kind: Kind?, _ options: DumpOptions) throws {
        let entries = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { !$0.lastPathComponent.hasPrefix(".") }.sorted { $0.path < $1.path }
        let name = folder.lastPathComponent
        var found: [(url: URL, reader: any ForeignReader)] = []
        for entry in entries {
            if let reader = try Self.reader(at: entry, kind) { found.append((entry, reader)) }
        }
        if found.count > 1 {
            let names = found.map(\.url.lastPathComponent).joined(separator: ", ")
            throw ForeignFileError(.unknown, "\(name) holds several databases: \(names); give one of them")
        }
        if let only = found.first {
            self.init(only.reader, kind)
            return
        }
        let texts = entries.filter { ["txt", "json", "jsonl", "ndjson", "gz"].contains($0.pathExtension.lowercased()) }
        if texts.isEmpty {
            throw ForeignFileError(.unknown, "\(name) is a folder in which nothing is known that can be imported")
        }
        try self.init(dumps: texts, kind, options)
    }

    private init(dumps urls: [URL], _ kind: Kind?, _ options: DumpOptions) throws {
        if let first = urls.first, let advice = Self.refusals[first.pathExtension.lowercased()] {
            throw ForeignFileError(.unsupported, "\(first.lastPathComponent) \(advice)")
        }
        let parts = DumpParts(urls, kind, options)
        do { try parts.begin() } catch let error as ForeignFileError {
            let name = parts.current?.lastPathComponent ?? ""
            throw ForeignFileError(error.code, "\(name): \(error.message)")
        }
        self.kind = parts.form.kind
        product = parts.form.title
        content = .dump(parts)
        position = { parts.position }
    }

    /// Creates a database of a source that is read once, such as standard input.
    package init(stream source: any RecordSource) throws {
        try source.begin()
        kind = source.form.kind
        product = source.form.title
        content = .dump(source)
        position = nil
    }

    private static let refusals = [
        "bson": "is BSON: write the collection with mongoexport, and import that",
        "realm": "is a Realm database: save it as JSON with Realm Studio, and import that as the kind realm",
    ]

    /// What opens the files of products, in the order in which it is tried; each returns `nil` for a file of another product.
    private static let readers: [@Sendable (URL) throws -> (any ForeignReader)?] = [
        { try ForeignSQLite.reader(at: $0) }, { try LevelDBReader.reader(at: $0) },
        { try CouchFileReader.reader(at: $0) },
    ]
    /// The kinds that are texts alone, and have no reader.
    private static let texts: Set<Kind> = [.json, .csv, .couchbackup, .mongo, .firestore]
    /// The kinds that have one schema; which of them wrote an early file can't be known.
    private static let oneSchema: Set<Kind> = [.couchbase1, .cloudant]

    private static func reader(at url: URL, _ kind: Kind?) throws -> (any ForeignReader)? {
        if let kind, texts.contains(kind) { return nil }
        for open in readers {
            guard let reader = try open(url) else { continue }
            guard kind.map({ $0 == reader.kind || oneSchema.isSuperset(of: [$0, reader.kind]) }) ?? true else {
                throw ForeignFileError(
                    .unsupported,
                    "\(url.lastPathComponent) is of the kind \(reader.kind.rawValue): \(reader.product)")
            }
            return reader
        }
        return nil
    }

    /// The names of the collections. A product without collections has one, `_default._default`.
    public var collections: [String] {
        if case .reader(let reader) = content { reader.collections } else { [defaultCollection] }
    }

    /// The name of the database that stores a collection: `notes+$shop+$orders` for `Shop.Orders` of `notes`, as a server for
    /// Couchbase Lite names it; `nil` if no server has such a collection.
    package static func databaseName(of collection: String, in database: String) -> String? {
        CollectionDatabase.name(of: collection, in: database)
    }
}
