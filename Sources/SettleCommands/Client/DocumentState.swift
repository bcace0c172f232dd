internal import Settle
import SettleDatabase

/// A document as a verb looks at it: its tree, and those of its contents that the verb asked for.
struct DocumentState {
    private var copy: DocumentCopy
    private let attributesKeptOnDelete: () throws -> Set<String>

    /// Makes the state of a copy; `names` asks for the members that every tombstone of the database keeps.
    init(_ copy: DocumentCopy, attributesKeptOnDelete names: @escaping () throws -> Set<String> = { [] }) {
        (self.copy, attributesKeptOnDelete) = (copy, names)
    }

    /// The document's id.
    var id: DocumentID { copy.id }

    /// All revisions; empty where there is no such document.
    var tree: RevisionTree { copy.tree }

    /// A revision with its content; `nil` where that is not kept, or was not asked for.
    func document(_ revision: RevisionID) -> Document? { copy.document(revision) }

    /// What every read shows; `nil` where there is no such document, or it is deleted.
    var shown: Document? { tree.winner.flatMap { $0.isDeleted ? nil : document($0.revision) } }

    /// The attachments of all leaves.
    var attachments: [DocumentAttachment] { tree.leaves.flatMap { document($0.revision)?.attachments ?? [] } }

    /// What `--force` does to the winner, for the advice of the verbs that have the option.
    enum Force: String { case overwrite, delete }

    /// The leaf that an edit is made on.
    ///
    /// - Parameters:
    ///   - revision: The leaf.
    ///   - force: What `--force` would do; `nil` for a verb without it.
    /// - Returns: The document of that leaf.
    /// - Throws: ``CommandError`` with status `notFound` when there is no such document, or `conflict` when the
    ///   revision can't be edited.
    func document(toEdit revision: RevisionID, force: Force? = nil) throws -> Document {
        if tree[revision]?.isLeaf == true, let document = document(revision) { return document }
        guard let winner = tree.winner else { throw missing }
        let what = force == .delete ? "deleted" : "edited"
        throw Self.conflict("\(revision) of \"\(id)\" can't be \(what)", winner.revision, force: force)
    }

    /// The error of a verb that needs the document.
    var missing: CommandError { .notFound("there is no document \"\(id)\"") }

    /// The error of a write that named no revision although the document exists, or another one than its leaves.
    static func conflict(_ message: String, _ winner: RevisionID, force: Force?) -> CommandError {
        let forced = force.map { ", or give --force to \($0.rawValue) it" } ?? ""
        return CommandError(
            "conflict", "\(message): \(winner) is stored. Look at it and give --rev \(winner)\(forced)",
            status: .conflict)
    }

    /// Its conflict; `nil` when there is nothing to settle.
    func conflict() throws -> Conflict? { try copy.conflict() }

    /// What a policy would decide of its conflict, and what that would write.
    ///
    /// - Throws: ``CommandError`` for a policy that depends on where leaves came from if the server did not say it;
    ///   ``DatabaseError``.
    func preview(using policy: ConflictPolicy) throws -> SettlementPreview? {
        if !copy.knowsSides { try PolicyOptions.refuseSides(policy) }
        return try SettlementRun(id, policy, at: RemoteSource(copy, attributesKeptOnDelete: attributesKeptOnDelete))
            .preview()
    }

    /// Settles its conflict by writing revisions.
    ///
    /// - Parameters:
    ///   - policy: What decides.
    ///   - store: Stores the revisions.
    /// - Returns: What became of it.
    /// - Throws: ``DatabaseError``, and what `store` throws.
    mutating func settle(
        using policy: ConflictPolicy, _ store: @escaping (DocumentState, [SettlementPlan.Write]) throws -> Void
    ) throws -> Settlement {
        if !copy.knowsSides { try PolicyOptions.refuseSides(policy) }
        let there = RemoteSource(copy, attributesKeptOnDelete: attributesKeptOnDelete) {
            try store(DocumentState($0), $1)
        }
        var run = SettlementRun(id, policy, at: there)
        let settlement = try run.settle()
        copy = run.source.copy
        return settlement
    }
}
