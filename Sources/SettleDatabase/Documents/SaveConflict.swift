/// What a save or a delete does when the document was changed since it was read. There is no default (K5): overwriting
/// in silence is a choice an app should see in its own text.
public enum SaveConflict: Sendable {
    /// Nothing is written, and the call throws `conflict` (SEMANTICS 47).
    case fail
    /// The write happens on top of whatever is current, deleted or not: what came between is overwritten
    /// (SEMANTICS 46, 49, 50).
    case lastWriteWins
    /// As ``lastWriteWins``, but a deletion wins over any save: where the document was deleted since it was read, nothing is
    /// written and a save throws `conflict`. A delete is written on top of whatever is current.
    ///
    /// ``ConflictPolicy/deletesWin`` is about edits that meet by replication, and says nothing of a save; this does (K6).
    case deletesWin
    /// The write is a branch: an edit of the revision the document was read at, also where that has been edited since, so that
    /// both edits stay and the document is in conflict until somebody settles it (SEMANTICS 145). Of a document without a
    /// revision it is a first revision beside the others.
    case branch
    /// A handler changes the document to be saved, knowing the current one, or refuses (SEMANTICS 52–58).
    ///
    /// It is called only when there is a conflict, outside any transaction, and again each time yet another write got
    /// in between. `current` is `nil` when the document is deleted. Returning `false` or throwing makes the
    /// call fail with `conflict`, and nothing is written.
    case merge(@Sendable (_ new: inout Document, _ current: Document?) throws -> Bool)
}
