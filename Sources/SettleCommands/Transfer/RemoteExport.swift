internal import Settle
import SettleCore
import SettleDatabase
import SettleReplication

/// Exports a database at a server: documents are replicated into a temporary database, some at a time, with their leaves and
/// attachments, and exported from there.
struct RemoteExport {
    let remote: Client
    let options: Exporter.Options
    private static let pageLength = 500
    private static let budget = 16 << 20

    /// Writes all documents, in the order of the last changes.
    func run(_ exporter: Exporter, progress: @escaping (Exporter.Counts) -> Void) throws {
        var since = PeerSequence.start
        while true {
            let from = since
            let page = try remote.wait { _, peer in
                try await peer.changes(ChangesRequest(since: from, limit: Self.pageLength))
            }
            try write(page.changes, exporter, progress)
            if page.changes.isEmpty || page.last == since { break }
            since = page.last
        }
        if options.includesLocal { try writeLocals(exporter) }
        try exporter.finish()
    }

    private func write(
        _ changes: [ChangedDocument], _ exporter: Exporter, _ progress: @escaping (Exporter.Counts) -> Void
    ) throws {
        let wanted = changes.filter { options.includesDeleted || !$0.isDeleted }.flatMap { change in
            (options.includesConflicts ? change.leaves : Array(change.leaves.prefix(1))).map { leaf in
                RevisionRequest(
                    id: change.id, revision: leaf, isDeletionAtSource: change.isDeleted && leaf == change.leaves.first)
            }
        }
        if wanted.isEmpty { return }
        let batch = try Batch(exporter, progress)
        var leaves: [PeerRevision] = []
        func finishDocument() throws {
            try batch.add(leaves) { try bring($0, of: $1, into: $2) }
            leaves = []
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
                case .missing: break
                case .failed(let error): throw remote.failure(about: request.id).explained(error)
                }
            }
        }
        try finishDocument()
        try batch.flush()
    }

    /// Downloads the stored bytes of an attachment, which are the same as at the server.
    private func bring(
        _ attachment: PeerAttachment, of id: DocumentID, into database: Database
    ) throws -> DocumentAttachment {
        let writer = try database.attachmentWriter(contentType: attachment.contentType, encoding: attachment.encoding)
        switch attachment.content {
        case .bytes(let bytes): try writer.write(bytes)
        case .source(let source):
            let pipe = PieceQueue()
            try remote.wait(
                about: id, meanwhile: { while let piece = try pipe.take() { try writer.write(piece) } },
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

    private func writeLocals(_ exporter: Exporter) throws {
        try remote.forEachElement("rows", of: "_local_docs", query: ["include_docs": "true"]) { text in
            let outline = try JSONOutline(text)
            guard let range = outline["doc"] else { return true }
            let reader = try DocumentReader.read(Array(text[range]), allowsReserved: true)
            guard
                let name = try reader.reserved.last(where: { $0.name == "_id" }).map({ try JSONValue(utf8: $0.value) }),
                let id = name.string
            else { return true }
            try exporter.write(local: DocumentID(unchecked: id), reader.body)
            return true
        }
    }
}

/// Documents that are written together, each with all its leaves: in memory, except those with large attachments.
private final class Batch {
    private let exporter: Exporter
    private let progress: (Exporter.Counts) -> Void
    private var scratch: ScratchDatabase
    private var bytes: Int64 = 0
    /// The maximum size of attachments in memory, in bytes.
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
        let size = leaves.flatMap(\.attachments).reduce(0) { $0 + $1.encodedLength }
        if bytes + size > Self.largest { try flush() }
        if size > Self.largest { scratch = try ScratchDatabase(inMemory: false) }
        bytes += size
        let revisions = try leaves.map { leaf in
            var revision = ReplicatedRevision(
                id: leaf.id, history: leaf.history, isDeleted: leaf.isDeleted, body: leaf.body,
                attachments: try leaf.attachments.map { try bring($0, leaf.id, scratch.database) })
            revision.isDeletionAtSource = leaf.isDeletionAtSource
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
