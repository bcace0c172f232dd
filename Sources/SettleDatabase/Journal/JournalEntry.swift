public import RevisionTree

/// One local operation, as the journal keeps it until a peer has acknowledged it.
///
/// The contents are the document's as an app sees it: of the winner before the operation and after.
public struct JournalEntry: Sendable, Hashable, Identifiable {
    /// What an operation does to a document.
    public enum Operation: String, Sendable, CaseIterable {
        /// There was no document, or a deleted one.
        case create = "CREATE"
        /// The document has another content.
        case update = "UPDATE"
        /// There is no document any more.
        case delete = "DELETE"
    }

    /// The entry's place in the journal; later operations have higher ones.
    public var number: Int64
    /// The document.
    public var documentID: DocumentID
    /// The revision the operation wrote, which a peer has to acknowledge.
    public var revision: RevisionID
    /// What the document was before this very operation (SEMANTICS 197); `nil` where there was none.
    public var old: RevisionContent?
    /// What it was after; `nil` where it was deleted.
    public var new: RevisionContent?
    /// When it happened, by the clock of this machine, in milliseconds since 1970.
    public var time: Int64

    /// Makes an entry.
    public init(
        number: Int64 = 0, documentID: DocumentID, revision: RevisionID, old: RevisionContent?, new: RevisionContent?,
        time: Int64
    ) {
        self.number = number
        self.documentID = documentID
        self.revision = revision
        self.old = old
        self.new = new
        self.time = time
    }

    /// The entry's place, by which it is told from others.
    public var id: Int64 { number }

    /// What was done.
    public var operation: Operation { old == nil ? .create : new == nil ? .delete : .update }
}

extension RevisionContent {
    /// Whether an app sees no difference: the same members and attachments, whenever they were attached.
    package func isSame(as other: RevisionContent) -> Bool {
        body == other.body && attachments.count == other.attachments.count
            && zip(attachments, other.attachments).allSatisfy { mine, theirs in
                mine.isNamed(theirs.name) && mine.digest == theirs.digest && mine.contentType == theirs.contentType
            }
    }
}

extension RevisionContent? {
    /// Whether an app sees no difference, or no document in both.
    package func isSame(as other: RevisionContent?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let mine?, let theirs?): mine.isSame(as: theirs)
        default: false
        }
    }
}
