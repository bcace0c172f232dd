internal import Settle
import SettleDatabase

/// A revision on its way from one replica to another, with the contents of its attachments.
struct SimulatedParcel {
    var revision: ReplicatedRevision
    var contents: [[UInt8]]

    /// Reads a revision, with the part of its history that is to be sent; `nil` when its content is not kept.
    init?(_ revision: RevisionID, of change: Change, from database: Database, historyLimit: Int = .max) throws {
        guard let document = try database.document(change.id, revision: revision),
            let history = try database.tree(of: change.id)?.history(of: revision, limit: historyLimit)
        else { return nil }
        self.revision = ReplicatedRevision(
            id: change.id, history: history, isDeleted: document.isDeleted, body: try document.body(),
            attachments: document.attachments)
        self.revision.isDeletionAtSource = change.isDeleted && change.winner == revision
        contents = try document.attachments.map { try database.content(of: $0) }
    }

    /// Reads the content of an inner revision, for a replica that needs it as a base.
    init?(base revision: RevisionID, of id: DocumentID, from database: Database) throws {
        guard let document = try database.document(id, revision: revision),
            let history = try database.tree(of: id)?.history(of: revision)
        else { return nil }
        self.revision = ReplicatedRevision(
            id: id, history: history, isDeleted: document.isDeleted, body: try document.body(),
            attachments: document.attachments)
        contents = try document.attachments.map { try database.content(of: $0) }
    }

    /// The revision for another database, which needs the attachments' contents.
    func unpacked(in database: Database) throws -> ReplicatedRevision {
        var unpacked = revision
        unpacked.attachments = try zip(revision.attachments, contents).map { attachment, content in
            let made = try database.makeAttachment(
                attachment.name, contentType: attachment.contentType, content: content)
            return try made.described(
                as: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos)
        }
        return unpacked
    }
}
