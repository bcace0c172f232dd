internal import Settle

/// Documents of a server with their revision trees, in a database in memory: so verbs do with them what they do with those of
/// a database on this machine, by the same code and with the same result. What they write goes to the server then.
///
///     server ── leaves, bases ─▶ replica ── a verb reads and writes ──▶ new revisions ── server
///
/// Revision ids come of what is written, so the server gives an edit the same one. Contents of attachments stay at the server;
/// in their place stands a mark.
final class Replica {
    private let scratch: ScratchDatabase
    let remote: Client
    private var known: [DocumentID: Set<RevisionID>] = [:]
    private var marks: Set<BlobDigest> = []

    init(of remote: Client) throws {
        self.remote = remote
        scratch = try ScratchDatabase(inMemory: true)
    }

    /// The documents.
    var database: Database { scratch.database }

    /// Brings documents; those that are not at the server are not here either.
    func load(_ ids: [DocumentID], with revisions: [RevisionID] = [], _ extent: DocumentFetch.Extent = .leaves) throws {
        let fetched = try remote.wait(about: ids.count == 1 ? ids[0] : nil) { connection, _ in
            try await DocumentFetch(connection: connection).fetch(ids, with: revisions, extent)
        }
        for result in fetched {
            let isDeleted = result.leaves.allSatisfy(\.isDeleted)
            let winner = result.leaves.map(\.history.revision).max()
            var all = result.stored.map {
                ReplicatedRevision(id: result.id, history: $0.history, isDeleted: $0.isDeleted)
            }
            all += try (result.leaves + result.others).map { document in
                var revision = ReplicatedRevision(
                    id: document.id, history: document.history, isDeleted: document.isDeleted, body: document.body,
                    attachments: try document.attachments.map(mark))
                revision.isDeletionAtSource = isDeleted && document.history.revision == winner
                revision.keepsZeroRevpos = true
                return revision
            }
            for index in all.indices { all[index].hasNoSide = true }
            for case .refused(let error) in try database.insertReplicated(all) { throw error }
            known[result.id] = Set(try database.tree(of: result.id)?.revisions ?? [])
        }
    }

    /// Whether the content of an attachment is at the server alone.
    func isElsewhere(_ attachment: Attachment) -> Bool { marks.contains(attachment.blob) }

    /// What was written here and is not at the server yet, oldest first.
    func news(of id: DocumentID) throws -> [(document: Document, history: RevisionHistory)] {
        guard let tree = try database.tree(of: id) else { return [] }
        let known = known[id] ?? []
        return try tree.revisions.filter { !known.contains($0) }.sorted().compactMap { revision in
            guard let document = try database.document(id, revision: revision), let history = tree.history(of: revision)
            else { return nil }
            return (document, history)
        }
    }

    /// Takes note that the server has all there is.
    func settle(_ id: DocumentID) throws { known[id] = Set(try database.tree(of: id)?.revisions ?? []) }

    /// The newest revision before another one that the server has.
    func base(of history: RevisionHistory, in id: DocumentID) throws -> Document? {
        guard let revision = history.revisions.first(where: { known[id]?.contains($0) ?? false }) else { return nil }
        return try database.document(id, revision: revision)
    }

    /// The newest revision at the server that has the content of an attachment.
    func owner(of attachment: Attachment, in id: DocumentID) throws -> RevisionID? {
        try known[id, default: []].sorted().last { revision in
            try database.document(id, revision: revision)?.attachments.contains { $0.digest == attachment.digest }
                ?? false
        }
    }

    private func mark(_ attachment: Attachment) throws -> Attachment {
        let writer = try database.attachmentWriter(contentType: "", encoding: .identity)
        try writer.write(Array("elsewhere: \(attachment.digest)".utf8))
        let mark = try writer.finish(name: "mark")
        marks.insert(mark.blob)
        return mark.standingIn(
            for: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
            digest: attachment.digest, length: attachment.length, encodedLength: attachment.encodedLength,
            encoding: attachment.encoding)
    }
}
