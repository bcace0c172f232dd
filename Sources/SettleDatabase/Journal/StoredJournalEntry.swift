public import SettleCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A journal entry in the form that a storage engine stores. Contents that the document keeps are not stored a
/// second time.
///
///     entry                  revision   old    new
///     CREATE a               1-a        none   kept       the content of 1-a
///     UPDATE a b             2-b        kept   kept       those of 1-a, the parent of 2-b, and of 2-b
///     UPDATE of dropped ones 9-f        given  given      the document dropped these contents; the entry has them
///
/// Before a document drops a content that an entry needs, the content is copied to the entry, in the same transaction.
public struct StoredJournalEntry: Sendable, Hashable {
    /// The location of a content.
    public enum Content: Sendable, Hashable {
        /// The document did not exist.
        case none
        /// The document has the content, as that of the operation's revision or of its parent.
        case kept
        /// The entry has the content.
        case given(RevisionContent)
    }

    /// The entry's position in the journal.
    public var number: Int64
    /// The document.
    public var documentID: DocumentID
    /// The revision that the operation wrote.
    public var revision: RevisionID
    /// The content before; if `kept`, that of the parent of ``revision``.
    public var old: Content
    /// The content after; if `kept`, that of ``revision``.
    public var new: Content
    /// The time of the operation, in milliseconds since 1970.
    public var time: Int64

    /// Creates an entry.
    public init(
        number: Int64, documentID: DocumentID, revision: RevisionID, old: Content, new: Content, time: Int64
    ) {
        self.number = number
        self.documentID = documentID
        self.revision = revision
        self.old = old
        self.new = new
        self.time = time
    }

    /// An entry with its contents.
    init(_ entry: JournalEntry) {
        self.init(
            number: entry.number, documentID: entry.documentID, revision: entry.revision,
            old: entry.old.map(Content.given) ?? .none, new: entry.new.map(Content.given) ?? .none,
            time: entry.time.milliseconds)
    }

    /// Whether the entry needs contents that the document keeps.
    var needsDocument: Bool { old == .kept || new == .kept }

    /// Whether the entry itself has contents.
    var hasContents: Bool {
        if case .given = old { return true }
        if case .given = new { return true }
        return false
    }

    /// The revisions whose contents the entry needs.
    func needed(in tree: RevisionTree) -> [RevisionID] {
        (old == .kept ? [tree.parent(of: revision)].compactMap(\.self) : []) + (new == .kept ? [revision] : [])
    }
}

extension StorageReader {
    /// Adds the contents that documents keep to the entries.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - known: The document of the entries, if it is about to be written and not yet stored in this form.
    /// - Returns: The entries, in the given order.
    /// - Throws: ``DatabaseError`` with code `corrupt` if a content is missing.
    func resolved(_ entries: [StoredJournalEntry], in known: DocumentRecord? = nil) throws -> [JournalEntry] {
        var record = known
        return try entries.map { entry in
            if entry.needsDocument, record?.id != entry.documentID {
                record = try self.record(of: entry.documentID, withContent: true)
            }
            return JournalEntry(
                number: entry.number, documentID: entry.documentID, revision: entry.revision,
                old: try content(entry.old, of: record?.tree.parent(of: entry.revision), in: record, for: entry),
                new: try content(entry.new, of: entry.revision, in: record, for: entry),
                time: Date(milliseconds: entry.time))
        }
    }

    private func content(
        _ content: StoredJournalEntry.Content, of revision: RevisionID?, in record: DocumentRecord?,
        for entry: StoredJournalEntry
    ) throws -> RevisionContent? {
        switch content {
        case .none: return nil
        case .given(let content): return content
        case .kept:
            guard let token = revision.flatMap({ record?.tree[$0]?.bodyToken }),
                let content = token == BodyToken.record ? record?.content : try self.content(at: token)
            else {
                throw DatabaseError(
                    .corrupt,
                    """
                    operation \(entry.number) of the journal, on \"\(entry.documentID)\", lacks the content of \
                    \(revision?.description ?? "the parent of \(entry.revision)"); restore the file from a copy, or open \
                    it with DatabaseOptions.journal = false, which forgets the operations and keeps the documents
                    """)
            }
            return content.withoutClocks
        }
    }
}
