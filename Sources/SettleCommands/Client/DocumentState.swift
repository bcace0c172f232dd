internal import Settle
import SettleDatabase

/// A document as a verb looks at it: its tree, and those of its contents that the verb asked for.
///
/// Of a folder's database it has all that is known here. Of a server's it is a copy, in which it is not known from where a leaf
/// came, and whose attachments are elsewhere.
struct DocumentState {
    private enum Source {
        case folder(Database)
        case server(DocumentCopy, fieldsKeptOnDelete: Set<String>)
    }

    /// The document's id.
    let id: DocumentID
    /// All revisions; empty where there is no such document.
    private(set) var tree: RevisionTree
    private var source: Source

    init(_ id: DocumentID, in database: Database) throws {
        self.id = id
        tree = try database.tree(of: id) ?? RevisionTree()
        source = .folder(database)
    }

    init(_ copy: DocumentCopy, fieldsKeptOnDelete: Set<String> = []) {
        id = copy.id
        tree = copy.tree
        source = .server(copy, fieldsKeptOnDelete: fieldsKeptOnDelete)
    }

    /// A revision with its content; `nil` where that is not kept, or was not asked for.
    func document(_ revision: RevisionID) throws -> Document? {
        switch source {
        case .folder(let database): try database.document(id, revision: revision)
        case .server(let copy, _): copy.document(revision)
        }
    }

    /// What every read shows; `nil` where there is no such document, or it is deleted.
    var shown: Document? {
        get throws { try tree.winner.flatMap { $0.isDeleted ? nil : try document($0.revision) } }
    }

    /// The attachments of all leaves.
    var attachments: [DocumentAttachment] {
        get throws { try tree.leaves.flatMap { try document($0.revision)?.attachments ?? [] } }
    }

    /// The leaf that an edit is made on.
    ///
    /// - Throws: ``CommandError`` with status `notFound` when there is no such document, or `conflict` when the revision can't
    ///   be edited.
    func document(toEdit revision: RevisionID) throws -> Document {
        if tree[revision]?.isLeaf == true, let document = try document(revision) { return document }
        guard let winner = tree.winner else { throw missing }
        throw Self.conflict("\(revision) of \"\(id)\" can't be edited", winner.revision)
    }

    /// The error of a verb that needs the document.
    var missing: CommandError { .notFound("there is no document \"\(id)\"") }

    /// The error of a write that named no revision although the document exists.
    static func conflict(_ message: String, _ winner: RevisionID, toDelete: Bool = false) -> CommandError {
        CommandError(
            "conflict",
            """
            \(message): \(winner) is stored. Look at it and give --rev \(winner), or give --force to \
            \(toDelete ? "delete" : "overwrite") it
            """,
            status: .conflict)
    }

    /// Its conflict; `nil` when there is nothing to settle.
    func conflict() throws -> Conflict? {
        switch source {
        case .folder(let database): try database.conflict(of: id)
        case .server(let copy, _): try copy.conflict()
        }
    }

    /// What a policy would decide of its conflict, and what that would write.
    func preview(using policy: ConflictPolicy) throws -> SettlementPreview? {
        switch source {
        case .folder(let database): try database.preview(id, using: policy)
        case .server(let copy, let kept):
            try SettlementRun(id, policy, at: RemoteSource(copy, fieldsKeptOnDelete: kept)).preview()
        }
    }

    /// Settles its conflict.
    ///
    /// - Parameters:
    ///   - policy: What decides.
    ///   - store: Stores the revisions at the server, if it is one that has the document.
    /// - Returns: What became of it.
    /// - Throws: ``DatabaseError``, and what `store` throws.
    mutating func settle(
        using policy: ConflictPolicy, _ store: @escaping (DocumentState, [SettlementPlan.Write]) throws -> Void
    ) throws -> Settlement {
        switch source {
        case .folder(let database):
            let settlement = try database.settle(id, using: policy)
            tree = try database.tree(of: id) ?? RevisionTree()
            return settlement
        case .server(let copy, let kept):
            let there = RemoteSource(copy, fieldsKeptOnDelete: kept) { try store(DocumentState($0), $1) }
            var run = SettlementRun(id, policy, at: there)
            let settlement = try run.settle()
            self = DocumentState(run.source.copy, fieldsKeptOnDelete: kept)
            return settlement
        }
    }
}
