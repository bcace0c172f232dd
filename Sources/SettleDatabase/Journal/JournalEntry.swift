public import SettleCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One local operation, kept in the journal until a peer has acknowledged it.
///
/// The contents are those that an app sees: the winner's before and after the operation.
public struct JournalEntry: Sendable, Hashable, Identifiable {
    /// The effect of an operation on a document.
    public enum Operation: String, Sendable, CaseIterable {
        /// The document did not exist, or was deleted.
        case create = "CREATE"
        /// The document's content was changed.
        case update = "UPDATE"
        /// The document was deleted.
        case delete = "DELETE"
    }

    /// The entry's position in the journal; later operations have higher numbers.
    public var number: Int64
    /// The document.
    public var documentID: DocumentID
    /// The revision that the operation wrote, which a peer has to acknowledge.
    public var revision: RevisionID
    /// The document's content before this operation (SEMANTICS 197); `nil` if it did not exist.
    public var old: RevisionContent?
    /// The content after the operation; `nil` if the document was deleted.
    public var new: RevisionContent?
    /// The time of the operation, by this machine's clock.
    public var time: Date

    /// Creates an entry.
    package init(
        number: Int64 = 0, documentID: DocumentID, revision: RevisionID, old: RevisionContent?, new: RevisionContent?,
        time: Date
    ) {
        self.number = number
        self.documentID = documentID
        self.revision = revision
        self.old = old
        self.new = new
        self.time = time
    }

    /// The entry's number, which identifies it.
    public var id: Int64 { number }

    /// The effect of the operation.
    public var operation: Operation { old == nil ? .create : new == nil ? .delete : .update }
}

extension RevisionContent {
    /// Whether two contents look the same to an app: the same members and attachments; `revpos` is ignored.
    package func isSame(as other: RevisionContent) -> Bool {
        body == other.body && attachments.count == other.attachments.count
            && zip(attachments, other.attachments).allSatisfy { mine, theirs in
                mine.isNamed(theirs.name) && mine.digest == theirs.digest && mine.contentType == theirs.contentType
            }
    }
}

extension RevisionContent? {
    /// Whether two contents look the same to an app, or neither document exists.
    package func isSame(as other: RevisionContent?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let mine?, let theirs?): mine.isSame(as: theirs)
        default: false
        }
    }
}
