import Foundation
import SettleCore
import SettleCrypto
import SettleDatabase
import SettlePlatform

@testable import SettleImport

/// Small databases in the forms of other products, made for tests.
final class MadeDatabase {
    /// A folder of the test's own.
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "made-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Makes a SQLite file.
    @discardableResult
    func sqlite(_ name: String, version: Int = 0, _ statements: [String]) throws -> URL {
        let url = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        let connection = try SQLiteConnection(path: url.path)
        for statement in statements + ["PRAGMA user_version = \(version)"] { try connection.execute(statement) }
        return url
    }

    /// Writes a file.
    @discardableResult
    func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
        let url = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url
    }

    // MARK: Couchbase Lite 1.x

    /// The tables of Couchbase Lite 1.4.
    static let schemaOf1 = [
        "CREATE TABLE docs (doc_id INTEGER PRIMARY KEY, docid TEXT UNIQUE NOT NULL, expiry_timestamp INTEGER)",
        """
        CREATE TABLE revs (sequence INTEGER PRIMARY KEY AUTOINCREMENT, doc_id INTEGER NOT NULL, revid TEXT NOT NULL,
        parent INTEGER, current BOOLEAN, deleted BOOLEAN DEFAULT 0, json BLOB, no_attachments BOOLEAN, doc_type TEXT)
        """,
        "CREATE TABLE localdocs (docid TEXT UNIQUE NOT NULL, revid TEXT NOT NULL, json BLOB)",
        "CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT)",
        "INSERT INTO info VALUES('privateUUID', 'private')",
    ]

    /// A row of `revs`.
    static func row(
        _ document: Int, _ revision: String, parent: Int? = nil, deleted: Bool = false, _ json: String?
    ) -> String {
        let (parent, json) = (parent.map { "\($0)" } ?? "NULL", json.map { "'\($0)'" } ?? "NULL")
        return "INSERT INTO revs(doc_id, revid, parent, current, deleted, json) "
            + "VALUES(\(document), '\(revision)', \(parent), 0, \(deleted ? 1 : 0), \(json))"
    }

    /// A row of `docs`.
    static func document(_ number: Int, _ id: String) -> String { "INSERT INTO docs VALUES(\(number), '\(id)', NULL)" }

    // MARK: Couchbase Lite 2 to 4

    /// A revision of a tree.
    struct TreeRevision {
        var id: String
        var parent: Int?
        var isDeleted = false
        var body: [UInt8]?
        var sequence = 0
    }

    /// A tree as Couchbase Lite stores it.
    static func tree(_ revisions: [TreeRevision], remotes: [(peer: Int, index: Int)] = []) -> [UInt8] {
        func big(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        var bytes: [UInt8] = []
        for revision in revisions {
            let id = binary(revision.id)
            var tail: [UInt8] = []
            VariableNumber.append(revision.sequence, to: &tail)
            tail += revision.body ?? []
            let flags: UInt8 = (revision.isDeleted ? 1 : 0) | (revision.body == nil ? 0 : 0x80)
            bytes += big(8 + id.count + tail.count, 4) + big(revision.parent ?? 0xFFFF, 2) + [flags, UInt8(id.count)]
            bytes += id + tail
        }
        bytes += big(0, 4)
        for remote in remotes { bytes += big(remote.peer, 2) + big(remote.index, 2) }
        return bytes + big(0, 4)
    }

    /// A revision's id in binary.
    static func binary(_ id: String) -> [UInt8] {
        let parts = id.split(separator: "-")
        var bytes: [UInt8] = []
        VariableNumber.append(Int(parts[0]) ?? 0, to: &bytes)
        return bytes + (Hexadecimal.decode(parts[1]) ?? [])
    }

    /// The tables of Couchbase Lite 3.1 with some collections, and shared keys.
    static func schemaOf3(_ tables: [String] = ["kv_default"], sharedKeys: [String] = []) -> [String] {
        let keys = FleeceWriter.write(.array(sharedKeys.map { .string($0) }))
        return [
            "CREATE TABLE kvmeta (name TEXT PRIMARY KEY, lastSeq INTEGER DEFAULT 0, purgeCnt INTEGER DEFAULT 0) WITHOUT ROWID"
        ]
            + (tables + ["kv_info"]).map { table in
                """
                CREATE TABLE "\(table)" (key TEXT PRIMARY KEY, sequence INTEGER, flags INTEGER DEFAULT 0, version BLOB,
                body BLOB, expiration INTEGER, extra BLOB)
                """
            } + [
                "INSERT INTO kv_info(key, body) VALUES('SharedKeys', \(blob(keys)))",
                "INSERT INTO kv_info(key, body) VALUES('privateUUID', \(blob(Array(repeating: 7, count: 16))))",
                "INSERT INTO kv_info(key, body) VALUES('publicUUID', \(blob(Array(repeating: 9, count: 16))))",
            ]
    }

    /// A row of a collection.
    static func row(
        _ key: String, in table: String = "kv_default", sequence: Int, flags: Int = 0, version: [UInt8], body: [UInt8]?,
        extra: [UInt8]? = nil
    ) -> String {
        "INSERT INTO \"\(table)\"(key, sequence, flags, version, body, extra) VALUES('\(key)', \(sequence), \(flags), "
            + "\(blob(version)), \(body.map(blob) ?? "NULL"), \(extra.map(blob) ?? "NULL"))"
    }

    /// Bytes in SQL.
    static func blob(_ bytes: [UInt8]) -> String { "X'\(Hexadecimal.encode(bytes))'" }
}

// MARK: - Damage

extension MadeDatabase {
    /// Overwrites the first byte of the page with a text, so that it is not a page of a table.
    static func damagePage(of url: URL, with text: String) throws {
        var bytes = Array(try Data(contentsOf: url))
        let found = Data(bytes).range(of: Data(text.utf8))?.lowerBound
        guard let found, bytes.count > 100 else { throw CocoaError(.fileReadCorruptFile) }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        bytes[found - found % (size == 1 ? 65_536 : size)] = 0x77
        try Data(bytes).write(to: url)
    }
}
