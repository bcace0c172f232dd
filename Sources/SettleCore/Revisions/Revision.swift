/// A revision with its history and its content, as it passes between databases.
///
///     {"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}, ‹members› ,"_attachments":{…}}
///
/// The type of the attachments says where their contents are: in a database that stores the revision, or on their way.
public struct Revision<Attachment: Sendable>: Sendable {
    /// The document's id.
    public var id: DocumentID
    /// The revision and its ancestors, newest first.
    public var history: RevisionHistory
    /// Whether the revision is a tombstone.
    public var isDeleted: Bool
    /// Whether the revision is a tombstone and the source's own winner, so that the document is deleted there: then it
    /// is a user's deletion, and not a tombstone that closes a branch (SEMANTICS K2). The row of the source's
    /// `_changes` has `deleted` then.
    public var isDeletionAtSource = false
    /// The members without the reserved ones.
    public var body: DocumentBody
    /// The attachments, in order.
    public var attachments: [Attachment]
    /// Whether a `revpos` of 0 is kept, as CouchDB does for a peer that sends none; otherwise it counts as unknown, and
    /// is set to the revision's generation.
    package var keepsZeroRevpos = false
    /// Leaves that are forgotten when the revision is stored: former states of a peer that sends its current state alone.
    package var replaced: [RevisionID] = []
    /// The states of such a peer, if edits here were made on another one than this revision.
    package var formerState: FormerState?

    /// Creates a revision.
    public init(
        id: DocumentID, history: RevisionHistory, isDeleted: Bool = false, body: DocumentBody = .empty,
        attachments: [Attachment] = []
    ) {
        self.id = id
        self.history = history
        self.isDeleted = isDeleted
        self.body = body
        self.attachments = attachments
    }

    /// Creates a revision of which it is known whether its document is deleted at the source.
    package init(
        id: DocumentID, history: RevisionHistory, isDeleted: Bool = false, isDeletionAtSource: Bool,
        body: DocumentBody = .empty, attachments: [Attachment] = []
    ) {
        self.init(id: id, history: history, isDeleted: isDeleted, body: body, attachments: attachments)
        self.isDeletionAtSource = isDeletionAtSource
    }

    /// The revision's id.
    package var revision: RevisionID { history.revision }

    /// The same revision with the contents of its attachments in another place.
    package func with<Other: Sendable>(_ attachments: [Other]) -> Revision<Other> {
        var other = Revision<Other>(
            id: id, history: history, isDeleted: isDeleted, isDeletionAtSource: isDeletionAtSource, body: body,
            attachments: attachments)
        other.keepsZeroRevpos = keepsZeroRevpos
        (other.replaced, other.formerState) = (replaced, formerState)
        return other
    }
}

// MARK: - FormerState

/// Two states that a peer had one after the other, on branches of their own: edits here were made on the first, and conflict with
/// the second.
///
///     at the peer    1 ─┬─ 2-a              here    2-a ── 3-own
///                       └─ 2-f ─ 3-b                2-f ── 3-b
///
/// A server that sends its current state alone never sent `1`. What it had when the edits were made is known, and a merge takes
/// that as base: `3-own` is merged with `3-b` on `2-a`.
package struct FormerState: Hashable, Sendable {
    /// The peer's state that the edits were made on.
    package let former: RevisionID
    /// The peer's current state.
    package let current: RevisionID

    package init(former: RevisionID, current: RevisionID) { (self.former, self.current) = (former, current) }

    /// Whether some leaves are the current state and edits of the former one.
    package func explains(_ leaves: [RevisionID], in tree: RevisionTree) -> Bool {
        let edits = leaves.filter { $0 != current }
        return !edits.isEmpty && edits.count < leaves.count
            && edits.allSatisfy { tree.history(of: $0)?.revisions.contains(former) ?? false }
    }
}
