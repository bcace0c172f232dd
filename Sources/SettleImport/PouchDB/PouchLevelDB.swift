package import Foundation
package import SettleCore
internal import SettlePlatform

/// Recognizes folders of LevelDB, and opens those of PouchDB.
package enum LevelDBReader {
    /// The reader of the database in a folder.
    ///
    /// - Parameter url: The database's folder, or one with a single database in it.
    /// - Returns: `nil` if it is not a folder of LevelDB.
    /// - Throws: ``ForeignFileError`` if it is one that can't be imported.
    package static func reader(at url: URL) throws -> (any ForeignReader)? {
        guard FileStatus(path: url.path)?.isFolder == true else { return nil }
        if LevelDatabase.isDatabase(url) { return try PouchLevelDB(url) }
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
            .filter { LevelDatabase.isDatabase(url.appending(path: $0)) }
        if names.contains("by-sequence"), names.contains("document-store") {
            throw ForeignFileError(
                .unsupported,
                "\(url.lastPathComponent) was written by PouchDB 2 or older: open it once with PouchDB 3 or later")
        }
        let databases = names.filter { !PouchLevelDB.isIndex($0) }
        guard let first = databases.first else { return nil }
        guard databases.count == 1 else {
            let list = databases.prefix(10).joined(separator: ", ")
            throw ForeignFileError(
                .unsupported,
                "\(url.lastPathComponent) holds \(databases.count) databases: give the folder of one (\(list))")
        }
        return try PouchLevelDB(url.appending(path: first))
    }
}

// MARK: - PouchLevelDB

/// Reads a database of PouchDB in LevelDB, as Node, Electron and PouchDB Server have it.
///
/// The keys are `ÿ` + store + `ÿ` + key:
///
///     document-store       id → metadata with the tree          by-sequence    16 digits → body
///     attach-binary-store  digest → content, none if empty      local-store    id → body        meta-store
package final class PouchLevelDB: ForeignReader {
    package let kind = ForeignDatabase.Kind.pouchdb
    package let product = "PouchDB (LevelDB)"
    package let identity: String?
    package let collections = [defaultCollection]
    package private(set) var leftOut: [String]
    private let database: LevelDatabase

    /// How many documents are put in order at a time.
    private static let window = 200_000

    /// Whether a folder is an index of PouchDB, by its name.
    static func isIndex(_ name: String) -> Bool { name.contains("-mrview-") }

    init(_ folder: URL) throws {
        let name = folder.lastPathComponent
        if Self.isIndex(name) {
            throw ForeignFileError(.unsupported, "\(name) is an index of PouchDB: give the folder of its database")
        }
        database = try LevelDatabase(folder)
        guard try Self.hasStores(database) else {
            throw ForeignFileError(.unknown, "\(name) is a LevelDB, but not one of PouchDB")
        }
        // A database of before 2014 has it among the sequences.
        let stored =
            try database.value(of: Self.key("meta-store", "_local_uuid"))
            ?? database.value(of: Self.key("by-sequence", "_local_uuid"))
        identity = stored.flatMap { try? JSONValue(utf8: $0) }?.string
        leftOut = database.unread
        let siblings = try? FileManager.default.contentsOfDirectory(
            atPath: folder.deletingLastPathComponent().path)
        if siblings?.contains(where: { $0.hasPrefix(name + "-mrview-") }) == true { leftOut.append("indexes") }
    }

    private static func hasStores(_ database: LevelDatabase) throws -> Bool {
        struct Found: Error {}
        for store in ["document-store", "by-sequence", "meta-store", "local-store"] {
            do {
                try database.forEach(prefix: key(store, "")) { _, _ in throw Found() }
            } catch is Found { return true }
        }
        return false
    }

    /// A key of a store.
    private static func key(_ store: String, _ key: String) -> [UInt8] {
        Array("\u{FF}\(store)\u{FF}\(key)".utf8)
    }

    // MARK: - Documents

    package func count(in collection: String) throws -> Int {
        var count = 0
        try database.forEach(prefix: Self.key("document-store", "")) { id, _ in
            if !Self.isLocal(id) { count += 1 }
        }
        return count
    }

    /// Whether a document is a local one. PouchDB of before 2014 kept them among the others.
    private static func isLocal(_ id: ArraySlice<UInt8>) -> Bool { id.starts(with: "_local/".utf8) }

    /// A document's place in the order of sequences.
    private struct Place: Comparable {
        let sequence: UInt64
        let id: String

        static func < (left: Place, right: Place) -> Bool {
            left.sequence == right.sequence
                ? left.id.utf8.lexicographicallyPrecedes(right.id.utf8) : left.sequence < right.sequence
        }
    }

    package func forEachDocument(
        in collection: String, after sequence: UInt64, _ body: (ForeignDocument) throws -> Void
    ) throws {
        var last: Place?
        while true {
            let places = try places(after: sequence, last)
            for place in places { try body(document(place)) }
            guard places.count == Self.window else { return }
            last = places.last
        }
    }

    /// The next documents in the order of their sequences. All are looked at, but only a number of them are kept.
    private func places(after sequence: UInt64, _ last: Place?) throws -> [Place] {
        var places: [Place] = []
        try database.forEach(prefix: Self.key("document-store", "")) { id, json in
            if Self.isLocal(id) { return }
            let found = (try? PouchMetadata(json()))?.sequence ?? 0
            let place = Place(sequence: found, id: String(decoding: id, as: UTF8.self))
            // A document whose metadata can't be read has no sequence, and is reported in a first run.
            guard found > sequence || sequence == 0, last.map({ $0 < place }) ?? true else { return }
            places.append(place)
            guard places.count == 2 * Self.window else { return }
            places.sort()
            places.removeLast(Self.window)
        }
        places.sort()
        return Array(places.prefix(Self.window))
    }

    private func document(_ place: Place) throws -> ForeignDocument {
        func faulty(_ message: String) -> ForeignDocument {
            var document = ForeignDocument(
                id: DocumentID(unchecked: place.id), sequence: place.sequence, leaves: [])
            document.faults = [ForeignFault(revision: nil, message: message)]
            return document
        }
        guard let id = DocumentID(place.id) else { return faulty("its id is not one of a document") }
        do {
            guard let json = try database.value(of: Self.key("document-store", place.id)) else {
                return faulty("its metadata is not in the file")
            }
            let metadata = try PouchMetadata(json)
            return try metadata.document(
                id, length: { try self.content($0)?.count },
                json: { revision in
                    guard let sequence = metadata.sequence(of: revision) else { return nil }
                    return try self.database.value(of: Self.key("by-sequence", Self.digits(sequence)))
                })
        } catch let error as ForeignFileError where error.code == .damaged { return faulty(error.message) }
    }

    /// A sequence in sixteen digits.
    private static func digits(_ sequence: UInt64) -> String {
        let text = String(sequence)
        return String(repeating: "0", count: max(0, 16 - text.utf8.count)) + text
    }

    // MARK: - Local Documents

    package func forEachLocalDocument(_ body: (DocumentID, DocumentBody) throws -> Void) throws {
        try database.forEach(prefix: Self.key("local-store", "")) { key, json in
            try pass(String(decoding: key, as: UTF8.self), body) { try json() }
        }
        try database.forEach(prefix: Self.key("document-store", "_local/")) { key, metadata in
            try pass("_local/" + String(decoding: key, as: UTF8.self), body) { try json(of: PouchMetadata(metadata())) }
        }
    }

    /// The JSON of a local document among the others; `nil` if it is deleted.
    private func json(of metadata: PouchMetadata) throws -> [UInt8]? {
        guard
            let leaf = metadata.tree.leaves.map({ metadata.tree.nodes[$0] }).max(by: { $0.revision < $1.revision }),
            !leaf.content.isDeleted,
            let sequence = metadata.sequence(of: "\(leaf.revision.generation)-\(leaf.content.hash)")
        else { return nil }
        return try database.value(of: Self.key("by-sequence", Self.digits(sequence)))
    }

    /// Passes a local document. One that can't be read is left out.
    private func pass(
        _ id: String, _ body: (DocumentID, DocumentBody) throws -> Void, json: () throws -> [UInt8]?
    ) throws {
        guard let name = DocumentID(id), name.isLocal else { return }
        let members: DocumentBody?
        do { members = try json().flatMap { try PouchMetadata.localBody($0, id: id) } } catch let error
            as ForeignFileError where error.code == .damaged
        {
            leftOut.append("the local document \(id.debugDescription): \(error.message)")
            return
        }
        if let members { try body(name, members) }
    }

    // MARK: - Attachments

    /// The content with a digest.
    private func content(_ digest: String) throws -> [UInt8]? {
        try database.value(of: Self.key("attach-binary-store", digest))
    }

    package func read(_ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try AttachmentContent.read(attachment, body, stored: content)
    }
}
