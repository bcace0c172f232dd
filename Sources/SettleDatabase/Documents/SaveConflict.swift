/// What a save or a delete does if the document was changed since it was read. The default is ``fail``, which loses no edit: an
/// app chooses silent overwriting explicitly (K5).
public enum SaveConflict: Sendable {
    /// Nothing is written, and the call throws `conflict` (SEMANTICS 47).
    case fail
    /// The write is based on the current revision, deleted or not: intervening edits are overwritten
    /// (SEMANTICS 46, 49, 50).
    case lastWriteWins
    /// Like ``lastWriteWins``, but a deletion wins over any save: if the document was deleted since it was read,
    /// nothing is written and a save throws `conflict`. A delete is based on the current revision.
    ///
    /// ``ConflictPolicy/deletesWin`` applies to replicated edits, not to saves; this does (K6).
    case deletesWin
    /// The write creates a branch: an edit of the revision the document was read at, even if that has been edited
    /// since, so that both edits stay and the document is in conflict until it is settled (SEMANTICS 145). A document
    /// without a revision gets another first revision.
    case branch
    /// A handler changes the document to be saved, given the current one, or refuses (SEMANTICS 52–58).
    ///
    /// It is called only if there is a conflict, outside any transaction, and again after each intervening write.
    /// `current` is `nil` if the document is deleted. If it returns `false` or throws, the call fails with `conflict`,
    /// and nothing is written.
    case merge(@Sendable (_ new: inout Document, _ current: Document?) throws -> Bool)
}
