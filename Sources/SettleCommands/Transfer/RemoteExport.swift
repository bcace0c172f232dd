internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
import SettleReplication

/// Exports a database at a server: documents are replicated into a temporary database, some at a time, with their leaves and
/// attachments, and exported from there.
struct RemoteExport {
    let remote: Client
    let options: Exporter.Options
    /// Called when a revision or an attachment of a document can't be read; the export leaves it out. If this is `nil`, the export ends.
    var leaveOut: ((DocumentID, any Error) -> Void)?
    private static let pageLength = 500
    private static let budget = 16 << 20
    /// The maximum number of changes that a server reads from one state of a database.
    private static let changesOfOneState = 16
    /// The maximum number of pages that are read beyond the changes that existed at the beginning.
    private static let maximumLatePages = 200

    /// The end of an export.
    struct End {
        /// The position of the last change that was written.
        var sequence: PeerSequence
        /// Whether the export is the state at that position. It is not if other clients kept writing.
        var isConsistent: Bool
    }

    /// Writes all documents, in the order of the last changes.
    func run(_ exporter: Exporter, progress: @escaping (Exporter.Counts) -> Void) throws -> End {
        let end = try runDocuments(exporter, from: .start, progress: progress)
        if options.includesLocal { try runLocals(exporter) }
        try exporter.finish()
        return end
    }

    /// Writes the documents that were changed after a position, in the order of the last changes.
    ///
    /// A document that is changed meanwhile is written again with its later change, so the last copy of each document counts. The
    /// export ends with a page that was read from one state and has all changes up to it.
    func runDocuments(
        _ exporter: Exporter, from start: PeerSequence, progress: @escaping (Exporter.Counts) -> Void = { _ in }
    ) throws -> End {
        let newest = try remote.wait { _, peer in try await peer.connect().lastSequence.number }
        var since = start
        var latePages = 0
        while latePages < Self.maximumLatePages {
            let from = since
            let page = try remote.wait { _, peer in
                try await peer.changes(ChangesRequest(since: from, limit: Self.pageLength))
            }
            let isWhole = try write(page.changes, exporter, progress)
            if !page.changes.isEmpty { since = page.last }
            if page.changes.isEmpty || isWhole && page.changes.count < Self.changesOfOneState {
                return End(sequence: since, isConsistent: true)
            }
            if let newest, let number = since.number, number >= newest { latePages += 1 }
        }
        return End(sequence: since, isConsistent: false)
    }

    /// Writes changes; returns whether none of them was replaced by a later one before it was read.
    private func write(
        _ changes: [ChangedDocument], _ exporter: Exporter, _ progress: @escaping (Exporter.Counts) -> Void
    ) throws -> Bool {
        var isWhole = true
        let wanted = changes.filter { options.includesDeleted || !$0.isDeleted }.flatMap { change in
            (options.includesConflicts ? change.leaves : Array(change.leaves.prefix(1))).map { leaf in
                RevisionRequest(
                    id: change.id, revision: leaf, isDeletionAtSource: change.isDeleted && leaf == change.leaves.first)
            }
        }
        if wanted.isEmpty { return true }
        let batch = try ExportBatch(exporter, progress)
        var leaves: [PeerRevision] = []
        func finishDocument() throws {
            defer { leaves = [] }
            do { try batch.add(leaves) { try bring($0, of: $1, into: $2) } } catch let error as CommandError {
                guard let leaveOut, error.status != .interrupted, let first = leaves.first else { throw error }
                leaveOut(first.id, error)
            }
        }
        var rest = wanted[...]
        while !rest.isEmpty {
            let asked = Array(rest)
            let answers = try remote.wait { _, peer in try await peer.revisions(asked, budget: Self.budget) }
            rest = rest.dropFirst(answers.count)
            for (request, answer) in zip(asked, answers) {
                if request.id != leaves.last?.id { try finishDocument() }
                switch answer {
                case .found(let found): leaves.append(found)
                // It was changed since, and is listed again with its later change.
                case .missing: isWhole = false
                case .failed(let error), .refused(let error):
                    let failure = remote.failure(about: request.id).explained(error)
                    guard let leaveOut, error.code == .serverError || !error.isTransient else { throw failure }
                    leaveOut(request.id, failure)
                }
            }
        }
        try finishDocument()
        try batch.flush()
        return isWhole
    }

    /// Downloads the stored bytes of an attachment, which are the same as at the server.
    private func bring(
        _ attachment: PeerAttachment, of id: DocumentID, into database: Database
    ) throws -> DocumentAttachment {
        let writer = try database.attachmentWriter(contentType: attachment.contentType, encoding: attachment.encoding)
        switch attachment.content {
        case .bytes(let bytes): try writer.write(bytes)
        case .source(let source):
            let pipe = BytePipe()
            try remote.wait(
                about: id,
                meanwhile: {
                    while let piece = try pipe.read(checking: Interruption.check) { try writer.write(piece) }
                },
                for: { _, _ in
                    defer { pipe.finish() }
                    try await source.read(from: 0) { try await pipe.put($0) }
                })
        case .stub:
            throw CommandError(
                "attachment_missing", "the content of \"\(attachment.name)\" of \"\(id)\" was not received",
                status: .damaged)
        }
        return try writer.finish(name: attachment.name).described(
            as: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
            length: attachment.length)
    }

    /// Writes the local documents.
    func runLocals(_ exporter: Exporter) throws {
        try remote.forEachElement("rows", of: "_local_docs", query: ["include_docs": "true"]) { text in
            let outline = try JSONOutline(text)
            guard let range = outline["doc"] else { return true }
            let document = try Array(text[range]).withUnsafeBufferPointer { try WireDocument(answer: $0) }
            if let id = document.id { try exporter.write(local: DocumentID(unchecked: id), document.body) }
            return true
        }
    }
}

/// Documents that are written together, each with all its leaves: in memory, except large ones.
final class ExportBatch {
    private let exporter: Exporter
    private let progress: (Exporter.Counts) -> Void
    private var scratch: ScratchDatabase
    private var bytes: Int64 = 0
    /// The maximum size of bodies and attachments in memory, in bytes.
    private static let largest: Int64 = 16 << 20

    init(_ exporter: Exporter, _ progress: @escaping (Exporter.Counts) -> Void) throws {
        self.exporter = exporter
        self.progress = progress
        scratch = try ScratchDatabase(inMemory: true)
    }

    /// Adds the leaves of a document; `bring` fetches the content of an attachment.
    func add(
        _ leaves: [PeerRevision], _ bring: (PeerAttachment, DocumentID, Database) throws -> DocumentAttachment
    ) throws {
        // Lengths are what the server claims.
        let size = leaves.reduce(Int64(0)) { $0.adding(clamped: $1.bytesToWrite) }
        if bytes.adding(clamped: size) > Self.largest { try flush() }
        if size > Self.largest { scratch = try ScratchDatabase(inMemory: false) }
        bytes = bytes.adding(clamped: size)
        let revisions = try leaves.map { leaf in
            var revision = leaf.with(try leaf.attachments.map { try bring($0, leaf.id, scratch.database) })
            revision.keepsZeroRevpos = true
            return revision
        }
        for case .refused(let error) in try scratch.database.insertReplicated(revisions) { throw error }
        if size > Self.largest { try flush() }
    }

    /// Writes the documents, and releases them.
    func flush() throws {
        try exporter.export(from: scratch.database, progress: progress)
        scratch = try ScratchDatabase(inMemory: true)
        bytes = 0
    }
}
