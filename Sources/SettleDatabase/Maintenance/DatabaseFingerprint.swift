internal import SettleCore
internal import SettleCrypto

/// Hashes of all data in a database, one for each part, in a fixed order. Two databases with equal fingerprints
/// have the same data.
struct DatabaseFingerprint: Hashable, CustomStringConvertible {
    private struct Part: Hashable {
        let name: String
        let hash: [UInt8]
    }

    private var parts: [Part] = []

    /// The parts that differ from those of another database.
    func differences(from other: DatabaseFingerprint) -> [String] {
        zip(parts, other.parts).filter { $0 != $1 }.map { $0.0.name }
    }

    /// A hash of all parts in hexadecimal digits.
    var description: String {
        let all = PartHash()
        for part in parts { all.add(part.hash) }
        return BlobDigest(all.finish())?.description ?? ""
    }

    /// Reads all of a database.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - isIncluded: Whether a setting is included, by its name.
    ///   - report: Called with a number of documents after they were read.
    /// - Throws: ``DatabaseError`` for data that can't be read, and errors of `report`.
    init(of database: Database, where isIncluded: (String) -> Bool, report: (Int) throws -> Void) throws {
        let engine = database.engine
        try add("the newest position") { $0.add(UInt64(bitPattern: try engine.read { try $0.lastSequence.number })) }
        try add("documents") { hash in
            try engine.forEachPage(changedAfter: 0) { page in
                for record in page {
                    hash.add(record.id)
                    hash.add(UInt64(bitPattern: record.sequence.number))
                    hash.add(record.tree.packed())
                    hash.add(record.content)
                }
                try report(page.count)
            }
        }
        try add("old revisions") { try Self.addContents(of: engine, to: $0) }
        try add("settings") { hash in
            try engine.forEachPage(of: .settings(after: nil)) { page in
                for case .setting(let name, let value) in page where isIncluded(name) {
                    hash.add(Array(name.utf8))
                    hash.add(Array(value.utf8))
                }
            }
        }
        try add("local documents") { hash in
            try engine.forEachPage(of: .locals(after: nil)) { page in
                for case .local(let document) in page {
                    hash.add(document.id)
                    hash.add(UInt64(bitPattern: document.revisionNumber))
                    hash.add(document.body.utf8)
                }
            }
        }
        try add("expirations") { hash in
            try engine.forEachPage(of: .expirationsByID(after: nil)) { page in
                for case .expiration(let id, let time) in page {
                    hash.add(id)
                    hash.add(UInt64(bitPattern: time))
                }
            }
        }
        try add("attachments") { hash in
            try engine.forEachPage(of: .blobs(after: nil)) { page in
                for case .blob(let row) in page { try Self.add(row, of: database, to: hash) }
            }
        }
    }

    private mutating func add(_ name: String, _ read: (PartHash) throws -> Void) throws {
        let hash = PartHash()
        try read(hash)
        parts.append(Part(name: name, hash: hash.finish()))
    }

    private static func addContents(of engine: any StorageEngine, to hash: PartHash) throws {
        var token: UInt64 = 0
        while case let page = try engine.read({ try $0.contentTokens(after: token, limit: 500) }), let last = page.last
        {
            for token in page {
                hash.add(token)
                hash.add(try engine.read { try $0.content(at: token) })
            }
            token = last
        }
    }

    private static func add(_ row: BlobRecord, of database: Database, to hash: PartHash) throws {
        hash.add(row.digest.bytes)
        hash.add(row.md5)
        hash.add(UInt64(bitPattern: row.length))
        guard let record = try database.engine.read({ try $0.blob(row.digest) }) else { return }
        let reader = try AttachmentReader(record, store: database.blobs, expands: false, range: nil)
        while let piece = try reader.read() { hash.add(piece: piece) }
    }
}

/// A hash of values of any length, each preceded by its length.
private struct PartHash {
    private let hash = SHA256()

    func add(_ number: UInt64) { withUnsafeBytes(of: number.bigEndian) { hash.update($0) } }

    func add(_ bytes: [UInt8]) {
        add(UInt64(bytes.count))
        bytes.withUnsafeBytes { hash.update($0) }
    }

    /// Adds a part of a value whose length was added before.
    func add(piece: [UInt8]) { piece.withUnsafeBytes { hash.update($0) } }

    func add(_ id: DocumentID) { add(Array(id.string.utf8)) }

    func add(_ content: RevisionContent?) {
        add(content?.body.utf8 ?? [])
        add(content.flatMap { DocumentAttachment.packed($0.attachments) } ?? [])
    }

    func finish() -> [UInt8] { hash.finish() }
}

// MARK: - Pages

extension StorageEngine {
    /// Calls a closure with all documents changed after a sequence, in the order of their last changes and with their contents; a
    /// page has about 1 MiB.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for a document that can't be read, and errors of the
    ///   closure.
    func forEachPage(changedAfter sequence: UpdateSequence, _ body: ([DocumentRecord]) throws -> Void) throws {
        var range = SequenceRange(after: sequence)
        var size = PageSize()
        while case let page = try read({ try $0.records(changedIn: range, limit: size.count, withContent: true) }),
            let last = page.last
        {
            if let damage = page.lazy.compactMap(\.damage).first { throw damage }
            try body(page)
            range.after = last.sequence
            size.learn(page)
        }
    }

    /// Calls a closure with all side records of a kind in an order that can be continued: local documents, settings, contents of
    /// attachments, expirations by id, or the journal.
    func forEachPage(of scan: SideRecord.Scan, _ body: ([SideRecord]) throws -> Void) throws {
        var scan = scan
        while case let page = try read({ try $0.sideRecords(scan, limit: scan.pageLength) }), let last = page.last {
            try body(page)
            scan = last.followers
        }
    }
}

extension SideRecord {
    /// The records after this one.
    fileprivate var followers: Scan {
        switch self {
        case .local(let document): .locals(after: document.id)
        case .setting(let name, _): .settings(after: name)
        case .expiration(let id, _): .expirationsByID(after: id)
        case .blob(let blob): .blobs(after: blob.digest)
        case .journal(let entry): .journal(after: entry.number)
        case .content(let token, _): .contents(after: token)
        }
    }
}

extension SideRecord.Scan {
    /// The number of records that are read at once; a local document may be as large as any other.
    fileprivate var pageLength: Int { if case .locals = self { 16 } else { 500 } }
}
