internal import SettleCore
internal import SettleDatabase

/// What a write changes, and what it expects to be stored: a value that is committed as a whole or not at all.
///
///     conditions   documents and side records as they were read, ages of settings and design documents, uploads
///     changes      documents, contents apart, side records, contents of attachments
struct ChangeSet: Sendable {
    /// The state of a document in the table: where it is, and which kind it is. Sequence 0 stands for none.
    struct Base: Sendable, Hashable {
        var sequence: Int64 = 0
        var edition: Int64 = 0
        var flags: Int16 = 0
    }

    /// How a document changes.
    enum DocumentChange: Sendable {
        case write(DocumentRecord)
        case tree(DocumentRecord)
        /// Writes a document under the sequence it has, for an exact copy.
        case restore(DocumentRecord)
        case remove
        /// A later change of the list counts instead. A write and a removal still take their sequence, as in every engine.
        case superseded(takesSequence: Bool)
    }

    /// Documents that were read or are changed, as they must be stored.
    var expected: [DocumentID: Base] = [:]
    /// The changes, in the order in which documents get their sequences.
    var documents: [(id: DocumentID, change: DocumentChange)] = []
    var newContents: [UInt64: RevisionContent] = [:]
    var removedContents: Set<UInt64> = []
    /// Side records as they were read; `nil` for one that was not there.
    var seen: [SideRecord.Key: SideRecord?] = [:]
    /// Side records as they will be; `nil` removes one.
    var records: [SideRecord.Key: SideRecord?] = [:]
    /// Contents of attachments that must be there.
    var neededBlobs: Set<BlobDigest> = []
    var newBlobs: [BlobDigest: BlobRecord] = [:]
    var removedBlobs: Set<BlobDigest> = []
    /// The age of the settings that were read, if any were.
    var settingsAge: Int64?
    /// The age of the design documents that the write was checked against, if it was.
    var designAge: Int64?

    /// Whether there is nothing to commit.
    var isEmpty: Bool {
        documents.isEmpty && newContents.isEmpty && removedContents.isEmpty && records.isEmpty && newBlobs.isEmpty
            && removedBlobs.isEmpty
    }

    /// Whether a setting changes.
    var changesSettings: Bool {
        records.keys.contains { if case .setting = $0 { true } else { false } }
    }

    /// Whether a design document changes.
    var changesDesign: Bool { documents.contains { $0.id.isDesign } }

    /// Adds the changes of another set that does not depend on what this one touches.
    mutating func merge(_ other: ChangeSet) {
        documents += other.documents
        expected.merge(other.expected) { first, _ in first }
        newContents.merge(other.newContents) { first, _ in first }
        removedContents.formUnion(other.removedContents)
        records.merge(other.records) { first, _ in first }
        newBlobs.merge(other.newBlobs) { first, _ in first }
        removedBlobs.formUnion(other.removedBlobs)
    }

    /// Whether another change set that is committed at once with this one touches what this one expects.
    func depends(on touched: Touched) -> Bool {
        expected.keys.contains { touched.documents.contains($0) } || seen.keys.contains { touched.records.contains($0) }
            || records.keys.contains { touched.records.contains($0) }
            || (settingsAge != nil && touched.hasSettings) || (designAge != nil && touched.hasDesign)
            || removedContents.contains { touched.contents.contains($0) }
    }

    /// What the sets of one commit change.
    struct Touched {
        var documents: Set<DocumentID> = []
        var records: Set<SideRecord.Key> = []
        var contents: Set<UInt64> = []
        var hasSettings = false
        var hasDesign = false

        mutating func insert(_ set: ChangeSet) {
            documents.formUnion(set.documents.map(\.id))
            records.formUnion(set.records.keys)
            contents.formUnion(set.removedContents)
            hasSettings = hasSettings || set.changesSettings
            hasDesign = hasDesign || set.changesDesign
        }
    }
}
