internal import Settle

/// Writes all of a database as JSON lines that an import makes the same documents of: one line for each leaf.
///
/// Contents of attachments are written as they are stored. Small ones stand in the line as base64; large ones, and those
/// past what a line should hold, in lines before it, so that neither side needs memory for them.
final class Exporter {
    /// What to export.
    struct Options: Sendable {
        var includesDeleted = true
        var includesConflicts = true
        var includesLocal = false
    }

    /// The largest content that stands in its document's line.
    static let largestInline: Int64 = 1024 * 1024
    /// How much of contents stands in one line.
    private static let largestLine: Int64 = 8 * 1024 * 1024
    /// How much of a large content stands in each of its lines; a multiple of three, so that base64 has no padding.
    private static let pieceLength = 768 * 1024

    private let output: ByteOutput
    private let options: Options
    private var written: Set<BlobDigest> = []
    /// What was written so far.
    private(set) var counts = Exporter.Counts()

    init(to output: ByteOutput, options: Options) {
        self.output = output
        self.options = options
    }

    /// Writes all of a database, in the order of the last changes.
    func run(_ database: Database, progress: (Exporter.Counts) -> Void) throws {
        try export(from: database, progress: progress)
        if options.includesLocal { try writeLocals(of: database) }
        try finish()
    }

    /// Writes the documents of a database, which may be a part of one.
    func export(from database: Database, progress: (Exporter.Counts) -> Void) throws {
        try database.forEachChange(in: SequenceRange(), style: .allLeaves, includingDocuments: true) { change in
            try Interruption.check()
            try write(change, of: database)
            progress(counts)
            return true
        }
    }

    /// Hands on all that was written.
    func finish() throws { try output.flush() }

    private func write(_ change: Change, of database: Database) throws {
        if change.isDeleted, !options.includesDeleted { return }
        written = []
        var isWritten = false
        let isPlain = change.leaves.count == 1 && change.winner.generation == 1
        let tree = isPlain ? nil : try database.tree(of: change.id)
        for revision in options.includesConflicts ? change.leaves : [change.winner] {
            let isDeleted = tree?[revision]?.isDeleted ?? change.isDeleted
            if isDeleted, !options.includesDeleted { continue }
            let known = revision == change.winner ? change.document : nil
            let stored: Document?
            do { stored = try known ?? database.document(change.id, revision: revision) } catch let error
                as DatabaseError
                where error.code == .damagedDocument
            {
                counts.damaged += 1
                continue
            }
            guard let document = stored else {
                throw DatabaseError(.corrupt, "the content of \(revision) of \"\(change.id)\" is missing")
            }
            try write(document, tree?.history(of: revision) ?? RevisionHistory(revision), of: database)
            isWritten = true
        }
        if isWritten { counts.documents += 1 }
    }

    private func write(_ document: Document, _ history: RevisionHistory, of database: Database) throws {
        var line = DocumentJSON(document)
        line.history = history
        if !document.attachments.isEmpty { line.attachments = try contents(of: document.attachments, in: database) }
        try output.write(line.bytes + [UInt8(ascii: "\n")])
        counts.revisions += 1
    }

    /// The attachments with their contents, or the names of contents written before.
    private func contents(of attachments: [Attachment], in database: Database) throws -> JSON {
        var inline: Int64 = 0
        return .object(
            JSONObject(
                try attachments.map { attachment in
                    var members = DocumentJSON.described(attachment)
                    if attachment.encoding == .gzip { members.append(("encoding", "gzip")) }
                    let length = attachment.encodedLength
                    if length <= Self.largestInline, inline + length <= Self.largestLine {
                        inline += length
                        let bytes = try database.attachmentReader(for: attachment, encoded: true).readAll()
                        members.append(("data", .string(Base64.encode(bytes))))
                    } else {
                        if written.insert(attachment.blob).inserted { try writePieces(of: attachment, in: database) }
                        members.append(("follows", .string(attachment.blob.description)))
                    }
                    counts.attachments += 1
                    return (attachment.name, .object(JSONObject(members)))
                }))
    }

    private func writePieces(of attachment: Attachment, in database: Database) throws {
        let reader = try database.attachmentReader(for: attachment, encoded: true)
        var offset = 0
        var buffer: [UInt8] = []
        while let piece = try reader.read() {
            try Interruption.check()
            buffer += piece
            if buffer.count >= Self.pieceLength {
                try writePiece(Array(buffer.prefix(Self.pieceLength)), at: offset, of: attachment.blob)
                buffer.removeFirst(Self.pieceLength)
                offset += Self.pieceLength
            }
        }
        if !buffer.isEmpty { try writePiece(buffer, at: offset, of: attachment.blob) }
    }

    private func writePiece(_ bytes: [UInt8], at offset: Int, of blob: BlobDigest) throws {
        try output.write(#"{"$blob":"\#(blob)","offset":\#(offset),"data":""# + Base64.encode(bytes) + "\"}\n")
    }

    private func writeLocals(of database: Database) throws {
        var last: DocumentID?
        while case let page = try database.localDocuments(after: last, limit: 500), let newest = page.last {
            for local in page { try write(local: local.id, local.body) }
            last = newest.id
        }
    }

    /// Writes a local document.
    func write(local id: DocumentID, _ body: DocumentBody) throws {
        try output.write(DocumentJSON(Document(id: id, body: body)).bytes + [UInt8(ascii: "\n")])
        counts.locals += 1
    }
}

extension Exporter {
    /// What an export has written.
    struct Counts: Sendable, Equatable {
        var documents = 0
        var revisions = 0
        var attachments = 0
        var locals = 0
        /// How many revisions were left out because they are damaged.
        var damaged = 0

        /// What a person wants to know.
        func summary(_ duration: Duration, bytes: Int64) -> String {
            var text = "Exported \(Quantity.of(documents, "document"))"
            if revisions > documents { text += " with \(Quantity.of(revisions, "leaf revision"))" }
            if attachments > 0 { text += ", \(Quantity.of(attachments, "attachment"))" }
            if locals > 0 { text += ", \(Quantity.of(locals, "local document"))" }
            return text + " in \(Quantity.duration(duration)) (\(Quantity.bytes(bytes)))"
        }

        /// The same for programs.
        func json(_ duration: Duration, bytes: Int64) -> JSON {
            [
                "documents": .number(JSONNumber(documents)), "revisions": .number(JSONNumber(revisions)),
                "attachments": .number(JSONNumber(attachments)), "local": .number(JSONNumber(locals)),
                "bytes": .number(JSONNumber(bytes)),
                "seconds": JSONNumber(Quantity.seconds(duration)).map(JSON.number) ?? .null,
            ]
        }
    }
}
