internal import Foundation
internal import SettleCore
internal import SettlePlatform

/// Reads databases of PouchDB on SQLite: WebSQL, Cordova's plugins, React Native's adapters.
///
///     document-store   id, json (the metadata with the tree), max_seq
///     by-sequence      seq, json (a body without _id and _rev), doc_id, rev
///     attach-store     digest, escaped, body
///     local-store      id, json
final class PouchSQLite: ForeignReader {
    let kind = ForeignDatabase.Kind.pouchdb
    let product: String
    let identity: String?
    let collections = [defaultCollection]
    private(set) var leftOut: [String] = []
    private let file: ForeignSQLiteFile
    private var isListed = false

    /// Opens a database that has the tables.
    ///
    /// - Throws: ``ForeignFileError`` with code `unsupported` for a database of before PouchDB 3.
    init(_ file: ForeignSQLiteFile) throws {
        self.file = file
        guard file.has("by-sequence", "doc_id", "rev") else {
            throw ForeignFileError(
                .unsupported, "\(file.name) was written by PouchDB 2 or older: open it once with PouchDB 3 or later")
        }
        let hasMetadata = file.has("metadata-store", "dbid", "db_version")
        let metadata =
            try hasMetadata
            ? file.query(#"SELECT dbid, db_version FROM "metadata-store""#).first { ($0.text(0), $0.integer(1)) } : nil
        identity = metadata?.0
        product = "PouchDB (SQLite), db_version \(metadata?.1 ?? 0)"
    }

    /// Lists the rows of documents, bodies and contents in memory, so that damage in an index of the file hides nothing.
    private func makeList() throws {
        guard !isListed else { return }
        isListed = true
        // Databases of before the column have NULL in it; then the newest body has the sequence.
        let sequences =
            ["max_seq", "winningseq"].filter { file.has("document-store", $0) }.map { "CAST(\($0) AS INTEGER)" } + [
                "(SELECT max(sequence) FROM temp.foreign_bodies WHERE doc = CAST(id AS TEXT))", "1",
            ]
        var statements = [
            """
            CREATE TEMP TABLE foreign_bodies(doc TEXT, rev TEXT, sequence INTEGER, PRIMARY KEY(doc, rev, sequence))
            WITHOUT ROWID
            """,
            """
            INSERT OR IGNORE INTO temp.foreign_bodies
            SELECT CAST(doc_id AS TEXT), CAST(rev AS TEXT), seq FROM main."by-sequence" NOT INDEXED
            WHERE doc_id IS NOT NULL AND rev IS NOT NULL
            """,
            "CREATE TEMP TABLE foreign_docs(sequence INTEGER, entry INTEGER, PRIMARY KEY(sequence, entry)) WITHOUT ROWID",
            """
            INSERT OR IGNORE INTO temp.foreign_docs
            SELECT max(1, coalesce(\(sequences.joined(separator: ", ")))), rowid FROM main."document-store" NOT INDEXED
            """,
            "CREATE TEMP TABLE foreign_contents(digest TEXT, entry INTEGER, PRIMARY KEY(digest, entry)) WITHOUT ROWID",
        ]
        if hasContents {
            statements.append(
                """
                INSERT OR IGNORE INTO temp.foreign_contents
                SELECT CAST(digest AS TEXT), rowid FROM main."attach-store" NOT INDEXED WHERE digest IS NOT NULL
                """)
        }
        try file.makeList(statements)
    }

    private var hasContents: Bool { file.has("attach-store", "digest", "escaped", "body") }

    func count(in collection: String) throws -> Int {
        try makeList()
        return Int(try file.query("SELECT count(*) FROM temp.foreign_docs").first { $0.integer(0) } ?? 0)
    }

    func check() throws { try file.check() }

    // MARK: Documents

    func forEachDocument(
        in collection: String, after sequence: UInt64, _ body: (ForeignDocument) throws -> Void
    ) throws {
        try makeList()
        let rows = try file.query(
            "SELECT sequence, entry FROM temp.foreign_docs WHERE sequence > ?1 ORDER BY sequence, entry"
        )
        .bind(1, Int64(clamping: sequence))
        try rows.readRows { row in try body(document(row.integer(1), sequence: UInt64(clamping: row.integer(0)))) }
    }

    private func document(_ entry: Int64, sequence: UInt64) throws -> ForeignDocument {
        var name: String?
        func faulty(_ message: String) -> ForeignDocument {
            let id = DocumentID(unchecked: name ?? "(document \(entry) without an id)")
            var document = ForeignDocument(id: id, sequence: sequence, leaves: [])
            document.faults.append(ForeignFault(revision: nil, message: message))
            return document
        }
        do {
            let row = try file.query(#"SELECT id, json FROM main."document-store" WHERE rowid = ?1"#).bind(1, entry)
                .first { ($0.text(0), $0.bytes(1) ?? []) }
            name = row?.0
            guard let row, let text = row.0, let id = DocumentID(text), !id.isLocal else {
                return faulty("the document has no valid id")
            }
            var document = try PouchMetadata(row.1).document(
                id, length: { digest in try self.place(of: digest).flatMap { try self.content(at: $0)?.count } },
                json: { try self.body(of: text, $0) })
            document.sequence = sequence
            return document
        } catch let error as ForeignFileError where error.code == .damaged { return faulty(error.message) }
    }

    /// The JSON of a revision.
    private func body(of document: String, _ revision: String) throws -> [UInt8]? {
        try file.query(
            """
            SELECT rows.json FROM temp.foreign_bodies AS list
            CROSS JOIN main."by-sequence" AS rows ON rows.seq = list.sequence
            WHERE list.doc = ?1 AND list.rev = ?2 AND rows.json IS NOT NULL ORDER BY list.sequence DESC
            """
        ).bind(1, text: document).bind(2, text: revision).first { $0.bytes(0) }
    }

    // MARK: Local documents

    func forEachLocalDocument(_ body: (DocumentID, DocumentBody) throws -> Void) throws {
        guard file.has("local-store", "id", "json") else { return }
        try file.query(#"SELECT id, json FROM main."local-store" NOT INDEXED"#).readRows { row in
            guard let name = row.text(0), let json = row.bytes(1), let id = DocumentID(name), id.isLocal else { return }
            do {
                if let members = try PouchMetadata.localBody(json, id: name) { try body(id, members) }
            } catch let error as ForeignFileError where error.code == .damaged {
                leftOut.append("the local document \(name.debugDescription): \(error.message)")
            }
        }
    }

    // MARK: Attachments

    func read(_ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard case .key(let digest) = attachment.place, let row = try place(of: digest) else {
            return try AttachmentContent.read(attachment, body)
        }
        let isPlain = try file.query(
            #"SELECT typeof(body) = 'blob' AND NOT escaped FROM main."attach-store" WHERE rowid = ?1"#
        ).bind(1, row).first { $0.integer(0) != 0 }
        if isPlain == true { return try file.read("body", of: "attach-store", row: row, body) }
        guard let content = try content(at: row) else {
            throw ForeignFileError(.damaged, "the content of \(attachment.name) can't be read")
        }
        try AttachmentContent.pass(content, body)
    }

    /// The row of a content.
    private func place(of digest: String) throws -> Int64? {
        try makeList()
        return try file.query("SELECT entry FROM temp.foreign_contents WHERE digest = ?1").bind(1, text: digest)
            .first { $0.integer(0) }
    }

    /// The whole content of a row; `nil` if it is damaged.
    private func content(at row: Int64) throws -> [UInt8]? {
        try file.query(#"SELECT body, escaped FROM main."attach-store" WHERE rowid = ?1"#).bind(1, row).first { row in
            row.integer(1) == 0 ? row.bytes(0) : row.text(0).flatMap(Self.unescaped)
        }
    }

    /// The bytes of a text in which each character is one: WebSQL has no zero in texts, so 0, 1 and 2 are pairs.
    private static func unescaped(_ text: String) -> [UInt8]? {
        var (bytes, first) = ([UInt8](), UInt8?.none)
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            switch (first, byte) {
            case (nil, 1), (nil, 2): first = byte
            case (nil, _): bytes.append(byte)
            case (1, 1), (1, 2), (2, 2):
                bytes.append(first == 1 ? byte - 1 : 2)
                first = nil
            default: return nil
            }
        }
        return first == nil ? bytes : nil
    }
}
