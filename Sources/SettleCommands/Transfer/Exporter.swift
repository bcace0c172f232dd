internal import Settle
import SettleCore
import SettleDatabase
internal import SettlePlatform

/// Writes a database as JSON lines that import to the same documents: one line for each leaf.
///
/// Attachments are written as they are stored. Small ones are in the line as base64; large ones, and those that would make
/// the line too long, are in lines before it, so that neither side needs memory for them.
final class Exporter {
    /// The selection of content to export.
    struct Options: Sendable {
        var includesDeleted = true
        var includesConflicts = true
        var includesLocal = false
        var form = ExportForm.ndjson
    }

    /// The largest content in its document's line, in bytes.
    static let largestInline: Int64 = 1024 * 1024
    /// The maximum size of contents in one line, in bytes.
    private static let largestLine: Int64 = 8 * 1024 * 1024
    /// The largest content of a form whose contents stand in their lines, in bytes.
    private static let largestPlain: Int64 = 128 * 1024 * 1024
    /// The size of a large content's pieces, in bytes; a multiple of three, so that base64 has no padding.
    private static let pieceLength = 768 * 1024

    private let output: ByteOutput
    private let options: Options
    private let lines: ExportLines
    /// Whether the database has all of the export, so that its sequences are the source's.
    private var isWhole = false
    private var written: Set<BlobDigest> = []
    /// The progress so far.
    private(set) var counts = Exporter.Counts()

    init(to output: ByteOutput, options: Options) {
        self.output = output
        self.options = options
        lines = ExportLines(to: output, options.form)
    }

    /// Writes all of a database, in the order of the last changes.
    func run(_ database: Database, progress: (Exporter.Counts) -> Void) throws {
        isWhole = true
        try export(from: database, progress: progress)
        if options.includesLocal { try writeLocals(of: database) }
        try finish()
    }

    /// Writes the documents of a database, which may hold only some of an export's.
    func export(from database: Database, progress: (Exporter.Counts) -> Void) throws {
        try database.forEachChange(in: SequenceRange(), style: .allLeaves, includingDocuments: true) { change in
            try Interruption.check()
            try write(change, of: database)
            progress(counts)
            return true
        }
    }

    /// Writes the documents that are not deleted as CSV, by their ids, without design documents.
    ///
    /// - Returns: The members that the table lacks.
    func runTable(
        _ client: Client, columns: [String]?, progress: (Exporter.Counts) -> Void
    ) throws -> [String] {
        let table = try CSVTable(to: output, fields: columns)
        try client.forEachDocument(in: DocumentRange(), limit: .max, withBodies: true) { document in
            try Interruption.check()
            if document.id.string.hasPrefix("_design/") { return true }
            try table.add(JSONValue(utf8: document.wire.bytes(.bodyLate)))
            counts.documents += 1
            progress(counts)
            return true
        }
        let missing = try table.finish()
        try finish()
        return missing
    }

    /// Flushes the output.
    func finish() throws {
        try lines.finish()
        try output.flush()
    }

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
        if isWhole { lines.log(change.sequence.number) }
    }

    private func write(_ document: Document, _ history: RevisionHistory, of database: Database) throws {
        var line = document.wire
        line.history = history
        line.attachments = try contents(of: document.attachments, in: database)
        try lines.add(line.bytes(.bodyLate))
        counts.revisions += 1
    }

    /// The attachments with their contents, or the names of contents written before.
    private func contents(of attachments: [DocumentAttachment], in database: Database) throws -> [WireAttachment] {
        if options.form.hasPlainContents { return try plainContents(of: attachments, in: database) }
        var inline: Int64 = 0
        return try attachments.map { attachment in
            var wire = attachment.wire()
            if attachment.encoding == .gzip { wire.encoding = attachment.encoding.rawValue }
            let length = attachment.encodedLength
            if length <= Self.largestInline, inline + length <= Self.largestLine {
                inline += length
                wire.content = .inline(try database.attachmentReader(for: attachment, encoded: true).readAll())
            } else {
                if written.insert(attachment.blob).inserted { try writePieces(of: attachment, in: database) }
                wire.content = .follows(name: attachment.blob.description)
            }
            counts.attachments += 1
            return wire
        }
    }

    /// The attachments with their contents, expanded; a digest is that of the stored bytes, so compressed ones have none.
    private func plainContents(
        of attachments: [DocumentAttachment], in database: Database
    ) throws -> [WireAttachment] {
        try attachments.map { attachment in
            guard attachment.length <= Self.largestPlain else {
                throw CommandError.invalid(
                    "\"\(attachment.name)\" has \(Quantity.bytes(attachment.length)), too much for a line of \(options.form.rawValue)"
                )
            }
            var wire = attachment.wire()
            (wire.encoding, wire.encodedLength) = (nil, nil)
            if attachment.encoding == .gzip { wire.digest = nil }
            wire.content = .inline(try database.content(of: attachment))
            counts.attachments += 1
            return wire
        }
    }

    private func writePieces(of attachment: DocumentAttachment, in database: Database) throws {
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

    /// Writes a local document, unless it is the record of a backup, which would be wrong wherever it is imported.
    func write(local id: DocumentID, _ body: DocumentBody) throws {
        if id == BackupRecord.id { return }
        try output.write(WireDocument(id: id.string, body: body).bytes(.bodyLate) + [UInt8(ascii: "\n")])
        counts.locals += 1
    }
}

extension Exporter {
    /// The counts of an export.
    struct Counts: Sendable, Equatable {
        var documents = 0
        var revisions = 0
        var attachments = 0
        var locals = 0
        /// How many damaged revisions were left out.
        var damaged = 0

        /// The counts as text.
        func summary(_ duration: Duration, bytes: Int64) -> String {
            var text = "Exported \(Quantity.of(documents, "document"))"
            if revisions > documents { text += " with \(Quantity.of(revisions, "leaf revision"))" }
            if attachments > 0 { text += ", \(Quantity.of(attachments, "attachment"))" }
            if locals > 0 { text += ", \(Quantity.of(locals, "local document"))" }
            return text + " in \(Quantity.duration(duration)) (\(Quantity.bytes(bytes)))"
        }

        /// The counts as JSON.
        func json(_ duration: Duration, bytes: Int64) -> JSONValue {
            [
                "documents": .number(JSONNumber(documents)), "revisions": .number(JSONNumber(revisions)),
                "attachments": .number(JSONNumber(attachments)), "local": .number(JSONNumber(locals)),
                "bytes": .number(JSONNumber(bytes)),
                "seconds": JSONNumber(Quantity.seconds(duration)).map(JSONValue.number) ?? .null,
            ]
        }
    }
}
