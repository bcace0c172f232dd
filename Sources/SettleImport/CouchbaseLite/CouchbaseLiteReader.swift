internal import Foundation
internal import SettleCore
internal import SettleMobile
internal import SettlePlatform

/// Reads databases of Couchbase Lite 2 to 4: `NAME.cblite2/db.sqlite3` and `Attachments/`.
///
///     kv_default                documents of the default collection
///     kv_.notes, kv_.\Shop.x    of the collections _default.notes and Shop.x: `\` is before a capital
///     kv_del_…                  tombstones of the same collections; before 3.1 they are among the documents
///     kv_info                   SharedKeys, publicUUID, privateUUID
///
/// Each row is one document, in one of three layouts: until 2.8 `body` is the tree of revisions with their bodies; since 3.0 `body`
/// is that of the current revision and `extra` the tree; in 4 a document may have a version vector and no tree.
final class CouchbaseLiteReader: ForeignReader {
    let kind = ForeignDatabase.Kind.cblite
    let product: String
    let identity: String?
    let collections: [String]
    private(set) var leftOut: [String] = []
    private let file: ForeignSQLiteFile
    private let documents: CouchbaseLiteDocuments
    /// The tables of each collection: of documents, and of tombstones.
    private let tables: [String: [String]]
    private var listed: Set<String> = []

    /// Opens a database that has the tables.
    ///
    /// - Throws: ``ForeignFileError`` with code `unsupported` for a version that is not known, `damaged` if what all documents need
    ///   can't be read.
    init(_ file: ForeignSQLiteFile) throws {
        guard (201...599).contains(file.version) else {
            throw ForeignFileError(
                .unsupported,
                "\(file.name) is a database of Couchbase Lite with version \(file.version); Settle reads 201 to 599")
        }
        self.file = file
        var tables: [String: [String]] = [:]
        for name in file.tables.keys.sorted() where file.has(name, "key", "sequence", "flags", "version", "body") {
            guard let collection = Self.collection(ofTable: name) else { continue }
            tables[collection, default: []].append(name)
        }
        self.tables = tables
        collections = tables.keys.sorted { $0 == defaultCollection || ($1 != defaultCollection && $0 < $1) }
        let device = try Self.info("publicUUID", of: file) ?? []
        identity = try Self.info("privateUUID", of: file).map { Hexadecimal.encode($0) }
        let keys = try Self.info("SharedKeys", of: file)
        do {
            documents = CouchbaseLiteDocuments(
                folder: file.url.deletingLastPathComponent(), device: device, sharedKeys: try keys.map(Self.names) ?? []
            )
        } catch {
            throw ForeignFileError(.damaged, "the shared keys of \(file.name) are damaged: \(error)")
        }
        let usesVectors = try Self.info("versioning", of: file)?.last == 2
        product =
            "\(Self.product(file.version)), user_version \(file.version), \(usesVectors ? "version vectors" : "trees")"
        try listLeftOut()
    }

    private static func product(_ version: Int) -> String {
        switch version {
        case ..<301: "Couchbase Lite 2.0 or 2.1"
        case 301: "Couchbase Lite 2.5"
        case ..<400: "Couchbase Lite 2.6 to 2.8"
        case ..<500: "Couchbase Lite 3.0"
        case 500: "Couchbase Lite 3.1"
        default: "Couchbase Lite 3.2 to 4"
        }
    }

    /// The collection whose documents a table has: `Shop.Orders` of `kv_.\Shop.\Orders`.
    private static func collection(ofTable table: String) -> String? {
        guard table.hasPrefix("kv_"), !table.contains("::") else { return nil }
        var name = table.dropFirst("kv_".count)
        if name.hasPrefix("del_") { name = name.dropFirst("del_".count) }
        if name == "default" { return defaultCollection }
        guard name.hasPrefix(".") else { return nil }
        let path = String(name.dropFirst()).replacing("\\", with: "")
        return path.contains(".") ? path : "_default." + path
    }

    private static func info(_ key: String, of file: ForeignSQLiteFile) throws -> [UInt8]? {
        guard file.has("kv_info", "key", "body") else { return nil }
        return try file.query("SELECT body FROM kv_info NOT INDEXED WHERE key = ?1").bind(1, text: key).first {
            $0.bytes(0)
        }
    }

    private static func names(_ fleece: [UInt8]) throws -> [String] {
        let value = try JSONValue(utf8: Fleece(fleece).json().text)
        guard let array = value.array else { throw FleeceError("they are not an array") }
        return try array.map { name in
            guard let name = name.string else { throw FleeceError("a name is not a text") }
            return name
        }
    }

    private func listLeftOut() throws {
        let checkpoints = try file.count(of: "kv_checkpoints")
        if checkpoints > 0 { leftOut.append(counted(checkpoints, "replication checkpoint")) }
        if try Self.info("cookies", of: file) != nil { leftOut.append("cookies") }
        let indexes = try file.count(of: "indexes")
        if indexes > 0 { leftOut.append(indexes == 1 ? "1 index" : "\(indexes) indexes") }
    }

    // MARK: Documents

    /// Lists the rows of a collection in memory, by sequence. Of a document in both tables the newer row counts.
    ///
    /// - Returns: The name of the list.
    private func makeList(of collection: String) throws -> String {
        guard let sources = tables[collection] else {
            throw ForeignFileError(.missing, "\(file.name) has no collection \(collection)")
        }
        let list = "temp.foreign_\(collections.firstIndex(of: collection) ?? 0)"
        guard listed.insert(collection).inserted else { return list }
        let rows = sources.enumerated().map { index, table in
            "SELECT CAST(key AS TEXT) AS key, max(1, ifnull(sequence, 1)) AS sequence, \(index) AS source, rowid AS entry "
                + "FROM main.\(ForeignSQLiteFile.quoted(table)) NOT INDEXED"
        }
        try file.makeList([
            """
            CREATE TABLE \(list)(sequence INTEGER, source INTEGER, entry INTEGER, PRIMARY KEY(sequence, source, entry))
            WITHOUT ROWID
            """,
            """
            INSERT OR IGNORE INTO \(list) SELECT newest, source, entry FROM (
                SELECT max(sequence) AS newest, source, entry FROM (\(rows.joined(separator: " UNION ALL "))) GROUP BY key)
            """,
        ])
        return list
    }

    func count(in collection: String) throws -> Int {
        let list = try makeList(of: collection)
        return Int(try file.query("SELECT count(*) FROM \(list)").first { $0.integer(0) } ?? 0)
    }

    func check() throws { try file.check() }

    func pushRecord(to server: URL?) throws -> PushRecord { .ofEachDocument }

    func forEachDocument(
        in collection: String, after sequence: UInt64, _ body: (ForeignDocument) throws -> Void
    ) throws {
        let list = try makeList(of: collection)
        let queries = try (tables[collection] ?? []).map { table in
            let columns = ["extra", "expiration"].map { file.has(table, $0) ? $0 : "NULL" }.joined(separator: ", ")
            return try file.query(
                "SELECT key, flags, version, body, \(columns) FROM main.\(ForeignSQLiteFile.quoted(table)) WHERE rowid = ?1"
            )
        }
        let rows = try file.query(
            "SELECT sequence, source, entry FROM \(list) WHERE sequence > ?1 ORDER BY sequence, source, entry"
        )
        .bind(1, Int64(clamping: sequence))
        try rows.readRows { row in
            let (sequence, source, entry) = (UInt64(clamping: row.integer(0)), Int(row.integer(1)), row.integer(2))
            var document: ForeignDocument?
            do {
                document = try queries[source].bind(1, entry).first { row in
                    try documents.document(
                        CouchbaseLiteDocuments.Row(
                            key: row.text(0), sequence: sequence, flags: row.integer(1), version: row.bytes(2) ?? [],
                            body: row.bytes(3) ?? [], extra: row.bytes(4) ?? [],
                            expiration: row.isNull(5) ? nil : row.integer(5)))
                }
            } catch let error as ForeignFileError where error.code == .damaged {
                document = CouchbaseLiteDocuments.unreadable("(row \(entry))", sequence, error.message)
            }
            if let document { try body(document) }
        }
    }

    /// Couchbase Lite 2 and later has no local documents of apps.
    func forEachLocalDocument(_ body: (DocumentID, DocumentBody) throws -> Void) throws {}

    func read(_ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try AttachmentContent.read(attachment, body)
    }
}
