/// A revision with its history and its content, as it passes between databases.
///
///     {"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}, ‹members› ,"_attachments":{…}}
///
/// The type of the attachments determines where their contents are: in the database that stores the revision, or in
/// transfer.
public struct Revision<Attachment: Sendable>: Sendable {
    /// The document's id.
    public var id: DocumentID
    /// The revision and its ancestors, newest first.
    public var history: RevisionHistory
    /// Whether the revision is a tombstone.
    public var isDeleted: Bool
    /// Whether the revision is a tombstone and the source's own winner, so that the document is deleted at the
    /// source. Then it is a user's deletion, and not a tombstone that closes a branch (SEMANTICS K2). In this case
    /// the row of the source's `_changes` has `deleted`.
    public var isDeletionAtSource = false
    /// The members without the reserved ones.
    public var body: DocumentBody
    /// The attachments, in order.
    public var attachments: [Attachment]
    /// Whether a `revpos` of 0 is kept, as CouchDB does for a peer that sends none. Otherwise it counts as unknown,
    /// and becomes the revision's generation.
    package var keepsZeroRevpos = false
    /// Leaves that are removed when the revision is stored: earlier states of a peer, from which this revision does
    /// not visibly descend.
    package var replaced: [RevisionID] = []
    /// The states of such a peer, if edits here were made on another state than this revision.
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

    /// Creates a revision, with the information whether its document is deleted at the source.
    package init(
        id: DocumentID, history: RevisionHistory, isDeleted: Bool = false, isDeletionAtSource: Bool,
        body: DocumentBody = .empty, attachments: [Attachment] = []
    ) {
        self.init(id: id, history: history, isDeleted: isDeleted, body: body, attachments: attachments)
        self.isDeletionAtSource = isDeletionAtSource
    }

    /// The revision's id.
    package var revision: RevisionID { history.revision }

    /// The same revision with its attachments' contents in another place.
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

/// Two successive states of a peer, on different branches. Edits here were made on the first state, and conflict
/// with the second.
///
///     at the peer    1 ─┬─ 2-a              here    2-a ── 3-own
///                       └─ 2-f ─ 3-b                2-f ── 3-b
///
/// A server that sends only its current state never sent `1`. But the server's state at the time of the edits is
/// known, and a merge uses it as the base: `3-own` is merged with `3-b` on `2-a`.
package struct FormerState: Hashable, Sendable {
    /// The peer's state on which the edits were made.
    package let former: RevisionID
    /// The peer's current state.
    package let current: RevisionID

    package init(former: RevisionID, current: RevisionID) { (self.former, self.current) = (former, current) }

    /// Whether the leaves are exactly the current state and edits of the former one.
    package func explains(_ leaves: [RevisionID], in tree: RevisionTree) -> Bool {
        let edits = leaves.filter { $0 != current }
        return !edits.isEmpty && edits.count < leaves.count
            && edits.allSatisfy { tree.history(of: $0)?.revisions.contains(former) ?? false }
    }
}
