internal import Foundation
internal import SettleCore
internal import SettlePlatform

/// Reads databases of Couchbase Lite 1.x, TouchDB, CDTDatastore and sync-android, which have one schema.
///
///     docs         doc_id ── docid
///     revs         sequence, doc_id, revid, parent ── a sequence, deleted, json
///     attachments  sequence ── filename, key (SHA-1 of the stored bytes); since 1.1 in the JSON of `revs`
///
/// Rows are not the nodes of the tree: sync-android once wrote the same revision several times, and a child may point to any of its
/// rows. So rows are joined by revision id. The column `current` is not read, because it is wrong in the same files.
final class CouchbaseLite1Reader: ForeignReader {
    let product: String
    let kind: ForeignDatabase.Kind
    let identity: String?
    let collections = [defaultCollection]
    private(set) var leftOut: [String] = []
    private let file: ForeignSQLiteFile
    private let blobs: CouchbaseLite1Blobs
    private var isListed = false

    /// Opens a database whose tables are those of the family.
    ///
    /// - Throws: ``ForeignFileError`` with code `unsupported` for a version that is not known, or encrypted attachments.
    init(_ file: ForeignSQLiteFile) throws {
        self.file = file
        guard file.version < 300 else {
            throw ForeignFileError(
                .unsupported, "\(file.name) has version \(file.version), which is newer than those that Settle reads")
        }
        let hasNames = file.has("attachments_key_filename", "key", "filename")
        let names =
            hasNames
            ? try file.query("SELECT key, filename FROM attachments_key_filename").all { row in
                row.text(0).flatMap { key in row.text(1).map { (key.lowercased(), $0) } }
            } : []
        blobs = CouchbaseLite1Blobs(beside: file.url, names: Dictionary(names) { first, _ in first })
        guard !blobs.isEncrypted else {
            throw ForeignFileError(
                .unsupported, "the attachments of \(file.name) are encrypted: export them with the app that wrote them")
        }
        let isOfCloudant = file.has("revs", "available") || file.version >= 200 || file.version == 100 || hasNames
        kind = isOfCloudant ? .cloudant : .couchbase1
        product = Self.product(of: file, isOfCloudant: isOfCloudant)
        identity =
            file.has("info", "key", "value")
            ? try file.query("SELECT value FROM info WHERE +key = 'privateUUID'").first { $0.text(0) } : nil
        try listLeftOut()
    }

    private static func product(of file: ForeignSQLiteFile, isOfCloudant: Bool) -> String {
        let name =
            switch file.version {
            case _ where file.has("revs", "available"): "sync-android"
            case _ where isOfCloudant: "CDTDatastore"
            case ..<8: "TouchDB or CDTDatastore"
            case ..<16: "TouchDB"
            case ...20: "Couchbase Lite 1.0 or 1.1"
            case ...101: "Couchbase Lite 1.1 or 1.2"
            default: "Couchbase Lite 1.3 or 1.4"
            }
        return "\(name), user_version \(file.version)"
    }

    private func listLeftOut() throws {
        let views = try file.count(of: "views")
        if views > 0 { leftOut.append(counted(views, "view")) }
        var checkpoints = try file.count(of: "replicators")
        if file.has("info", "key") { checkpoints += try file.count(of: "info", where: "key LIKE 'checkpoint/%'") }
        if checkpoints > 0 { leftOut.append(counted(checkpoints, "replication checkpoint")) }
    }

    /// Lists the rows of each document and each revision in memory, so that damage in an index of the file hides nothing.
    private func makeList() throws {
        guard !isListed else { return }
        isListed = true
        var statements = [
            "CREATE TEMP TABLE foreign_revs(doc INTEGER, sequence INTEGER, PRIMARY KEY(doc, sequence)) WITHOUT ROWID",
            """
            INSERT OR IGNORE INTO temp.foreign_revs
            SELECT CAST(doc_id AS INTEGER), sequence FROM main.revs NOT INDEXED WHERE doc_id IS NOT NULL
            """,
        ]
        if hasAttachments {
            statements += [
                """
                CREATE TEMP TABLE foreign_attachments(sequence INTEGER, entry INTEGER, PRIMARY KEY(sequence, entry))
                WITHOUT ROWID
                """,
                """
                INSERT OR IGNORE INTO temp.foreign_attachments
                SELECT CAST(sequence AS INTEGER), rowid FROM main.attachments NOT INDEXED WHERE sequence IS NOT NULL
                """,
            ]
        }
        try file.makeList(statements)
    }

    private var hasAttachments: Bool { file.has("attachments", "sequence", "filename", "key") }

    func count(in collection: String) throws -> Int {
        try makeList()
        return Int(try file.query("SELECT count(DISTINCT doc) FROM temp.foreign_revs").first { $0.integer(0) } ?? 0)
    }

    func check() throws { try file.check() }

    func pushRecord(to server: URL?) throws -> PushRecord { try CouchbaseLite1Positions(file).record(to: server) }

    func forEachDocument(
        in collection: String, after sequence: UInt64, _ body: (ForeignDocument) throws -> Void
    ) throws {
        try makeList()
        let documents = try file.query(
            """
            SELECT doc, max(1, max(sequence)) AS newest FROM temp.foreign_revs
            GROUP BY doc HAVING newest > ?1 ORDER BY newest
            """
        ).bind(1, Int64(clamping: sequence))
        try documents.readRows { row in
            let (number, newest) = (row.integer(0), UInt64(clamping: row.integer(1)))
            try body(try document(number, sequence: newest))
        }
    }

    func read(_ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try AttachmentContent.read(attachment, body)
    }

    // MARK: Local documents

    func forEachLocalDocument(_ body: (DocumentID, DocumentBody) throws -> Void) throws {
        guard file.has("localdocs", "docid", "json") else { return }
        try file.query("SELECT docid, json FROM localdocs NOT INDEXED").readRows { row in
            guard let name = row.text(0), let bytes = row.bytes(1) else { return }
            guard let id = DocumentID(name.hasPrefix("_local/") ? name : "_local/" + name) else {
                leftOut.append("the local document \(name.debugDescription), whose id is not valid")
                return
            }
            guard let read = try? DocumentReader.read(bytes, allowsReserved: true) else {
                leftOut.append("the local document \(name.debugDescription), which is not JSON")
                return
            }
            guard !Self.isCheckpoint(id, read.body) else { return }
            for member in read.reserved where !WireDocument.metadataNames.contains(member.name) {
                let place = "of the local document \(name.debugDescription)"
                leftOut.append("the member \(member.name.debugDescription) \(place): names with _ are reserved")
            }
            try body(id, read.body)
        }
    }

    /// Whether a local document is a product's own.
    private static func isCheckpoint(_ id: DocumentID, _ body: DocumentBody) -> Bool {
        let name = id.string.dropFirst("_local/".count)
        if name == "CBL_LocalCheckpoint" { return true }
        return name.count == 40 && Hexadecimal.decode(name) != nil
            && (body["lastSequence"] != nil || body["source_last_seq"] != nil)
    }
}

// MARK: - Documents

extension CouchbaseLite1Reader {
    /// What the rows of a revision say.
    private struct Rows {
        var isDeleted = false
        /// The sequences of rows with a body, the newest first.
        var withBody: [Int64] = []
        /// The other sequences.
        var withoutBody: [Int64] = []
    }

    private func document(_ number: Int64, sequence: UInt64) throws -> ForeignDocument {
        let name = try file.query("SELECT docid FROM docs NOT INDEXED WHERE doc_id = ?1").bind(1, number)
            .first { $0.text(0) }
        func faulty(_ message: String) -> ForeignDocument {
            let id = DocumentID(unchecked: name ?? "(document \(number) without an id)")
            var document = ForeignDocument(id: id, sequence: sequence, leaves: [])
            document.faults.append(ForeignFault(revision: nil, message: message))
            return document
        }
        guard let id = name.flatMap({ DocumentID($0) }), !id.isLocal else {
            return faulty("the document has no valid id")
        }
        do {
            var faults: [ForeignFault] = []
            let tree = try tree(of: number, faults: &faults)
            let leaves = tree.leafRevisions
            var document = try tree.document(id: id, sequence: sequence, isDeleted: \.isDeleted) { node in
                if leaves.contains(node.revision) { return try content(of: node, faults: &faults) }
                // A base is a help for merges; one that is not whole is left out.
                var losses: [ForeignFault] = []
                let base = try content(of: node, faults: &losses)
                return losses.isEmpty && base?.attachments.contains(where: \.isMissing) == false ? base : nil
            }
            document.faults += faults
            document.expiration = try expiration(of: number)
            return document
        } catch let error as ForeignFileError where error.code == .damaged { return faulty(error.message) }
    }

    private func expiration(of number: Int64) throws -> Date? {
        guard file.has("docs", "expiry_timestamp") else { return nil }
        return try file.query(
            "SELECT expiry_timestamp FROM docs NOT INDEXED WHERE doc_id = ?1 AND expiry_timestamp > 0"
        ).bind(1, number).first { Date(timeIntervalSince1970: $0.double(0)) }
    }

    /// The tree of a document, with the rows of each revision.
    private func tree(of number: Int64, faults: inout [ForeignFault]) throws -> ForeignTree<Rows> {
        var rows: [RevisionID: Rows] = [:]
        var nodes: [(revision: RevisionID, parent: Int64?)] = []
        var revisions: [Int64: RevisionID] = [:]
        let available = file.has("revs", "available") ? "revs.available" : "1"
        try file.query(
            """
            SELECT revs.sequence, revs.revid, revs.parent, revs.deleted, typeof(revs.json) <> 'null', \(available)
            FROM temp.foreign_revs AS list CROSS JOIN main.revs AS revs ON revs.sequence = list.sequence
            WHERE list.doc = ?1 ORDER BY list.sequence
            """
        ).bind(1, number).readRows { row in
            let (sequence, name) = (row.integer(0), row.text(1))
            guard let revision = name.flatMap({ RevisionID($0) }) else {
                let text = name.map { "the revision \($0.debugDescription)" } ?? "a revision"
                faults.append(ForeignFault(revision: nil, message: "\(text) has no valid id"))
                return
            }
            revisions[sequence] = revision
            nodes.append((revision, row.isNull(2) ? nil : row.integer(2)))
            let hasBody = row.integer(4) != 0 && (row.isNull(5) || row.integer(5) != 0)
            rows[revision, default: Rows()].isDeleted = row.integer(3) != 0
            if hasBody {
                rows[revision]?.withBody.append(sequence)
            } else {
                rows[revision]?.withoutBody.append(sequence)
            }
        }
        for revision in Array(rows.keys) { rows[revision]?.withBody.reverse() }
        var recorded = RecordedRevisions<Rows>()
        for node in nodes {
            let parent = node.parent.flatMap { revisions[$0] }
            recorded.add(node.revision, parent: parent, rows[node.revision] ?? Rows())
        }
        return recorded.tree
    }

    /// Reads the body and the attachments of a revision.
    ///
    /// - Returns: `nil` if the body is not in the file.
    /// - Throws: ``ForeignFileError``.
    private func content(
        of node: ForeignTree<Rows>.Node, faults: inout [ForeignFault]
    ) throws -> ForeignContent? {
        let rows = node.content
        var (text, source) = ([UInt8](), rows.withBody.first ?? rows.withoutBody.first)
        for sequence in rows.withBody where text.isEmpty {
            let json = try file.query("SELECT json FROM revs NOT INDEXED WHERE sequence = ?1").bind(1, sequence)
                .first { $0.bytes(0) }
            if let json, !json.isEmpty { (text, source) = (json, sequence) }
        }
        // A tombstone without a body is an empty one.
        guard !text.isEmpty || rows.isDeleted else { return nil }
        var (content, listed) = (ForeignContent(body: .empty, isDeleted: rows.isDeleted), [ForeignAttachment]())
        if !text.isEmpty {
            do { try read(text, of: node.revision, into: &content, &listed, &faults) } catch {
                let message = "the body is not valid JSON: \(error)"
                // A tombstone says all that counts without its body.
                guard rows.isDeleted else { throw ForeignFileError(.damaged, message) }
                faults.append(ForeignFault(revision: node.revision, message: message))
            }
        }
        // Of rows that repeat a revision, each may have the attachments.
        let sequences = [source].compactMap(\.self) + (rows.withBody + rows.withoutBody).filter { $0 != source }
        for sequence in sequences where content.attachments.isEmpty {
            content.attachments = try attachments(at: sequence)
        }
        let names = Set(content.attachments.map { ExactText($0.name) })
        content.attachments += listed.filter { !names.contains(ExactText($0.name)) }
        return content
    }

    /// Reads the JSON of a revision. Members whose names are reserved are faults unless they are metadata, for they are
    /// lost.
    private func read(
        _ text: [UInt8], of revision: RevisionID, into content: inout ForeignContent,
        _ attachments: inout [ForeignAttachment], _ faults: inout [ForeignFault]
    ) throws(JSONError) {
        let read = try DocumentReader.read(text, allowsReserved: true)
        content.body = read.body
        for member in read.reserved {
            let value = try JSONValue(utf8: member.value)
            if member.name == WireAttachment.listName {
                for entry in value.object ?? [:] { attachments.append(attachment(entry.name, entry.value)) }
            } else if member.name == "_deleted", value == true {
                content.isDeleted = true
            } else if !WireDocument.metadataNames.contains(member.name) {
                faults.append(.reserved(member.name, in: revision))
            }
        }
    }

    /// The attachments that the table has for a row.
    private func attachments(at sequence: Int64) throws -> [ForeignAttachment] {
        guard hasAttachments else { return [] }
        let columns = ["type", "length", "revpos", "encoding"].map { file.has("attachments", $0) ? "a.\($0)" : "NULL" }
        let found = try file.query(
            """
            SELECT a.filename, a.key, \(columns.joined(separator: ", "))
            FROM temp.foreign_attachments AS list CROSS JOIN main.attachments AS a ON a.rowid = list.entry
            WHERE list.sequence = ?1 ORDER BY list.entry
            """
        ).bind(1, sequence).all { row in
            let digest = row.bytes(1).flatMap { Self.digest($0, isText: row.isText(1)) }
            return ForeignAttachment(
                name: row.text(0) ?? "", contentType: row.text(2) ?? WireAttachment.defaultType,
                length: max(row.integer(3), 0), revpos: UInt64(clamping: row.integer(4)),
                digest: digest.map { .sha1($0) }, isGzip: row.integer(5) == 1,
                place: digest.map { blobs.place(of: $0) } ?? .missing("its digest is damaged"))
        }
        // Early versions of sync-android could list an attachment several times. The newest entry counts.
        var names: Set<ExactText> = []
        return found.reversed().filter { names.insert(ExactText($0.name)).inserted }.reversed()
    }

    private static func digest(_ key: [UInt8], isText: Bool) -> [UInt8]? {
        let bytes = isText || key.count == 40 ? Hexadecimal.decode(String(decoding: key, as: UTF8.self)) : key
        return bytes?.count == 20 ? bytes : nil
    }

    /// An attachment that the JSON lists.
    private func attachment(_ name: String, _ value: JSONValue) -> ForeignAttachment {
        let digest = value["digest"]?.string.flatMap { text in
            text.hasPrefix("sha1-") ? Base64.decode(text.utf8.dropFirst("sha1-".utf8.count)) : nil
        }
        var attachment = ForeignAttachment(
            name: name, contentType: value["content_type"]?.string ?? WireAttachment.defaultType,
            length: max(value["length"]?.int.map(Int64.init) ?? 0, 0),
            revpos: value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0,
            digest: digest?.count == 20 ? digest.map { .sha1($0) } : nil, isGzip: value["encoding"] == "gzip",
            place: .missing("its digest is not one of Couchbase Lite"))
        if case .sha1(let digest) = attachment.digest { attachment.place = blobs.place(of: digest) }
        guard let data = value["data"]?.string else { return attachment }
        guard let bytes = Base64.decode(data.utf8) else {
            attachment.place = .missing("its content is not valid base64")
            return attachment
        }
        attachment.place = .bytes(bytes)
        attachment.isGzip = attachment.isGzip && bytes.starts(with: [0x1F, 0x8B])
        if !attachment.isGzip { attachment.length = Int64(bytes.count) }
        return attachment
    }
}

extension ForeignAttachment {
    /// Whether the content is known not to be there.
    var isMissing: Bool { if case .missing = place { true } else { false } }
}
