internal import SettleCore

/// The form of a dump.
package enum DumpKind: Sendable, Equatable {
    /// Documents, one after the other.
    case documents
    /// One array of documents.
    case array
    /// `{"docs":[…]}`: a body of `_bulk_docs`, or an answer of `_find`.
    case bulk
    /// `{"rows":[…]}`: an answer of `_all_docs`, `_local_docs` or a view.
    case rows
    /// `{"results":[…]}`: an answer of `_changes`.
    case changes
    /// The lines of a continuous `_changes`.
    case continuousChanges
    /// The file of couchbackup: a header, and arrays of revisions in lines.
    case couchbackup(version: String, mode: String)
    /// The file of an older couchbackup, without header.
    case couchbackupLines
    /// The lines of pouchdb-replication-stream and pouchdb-dump-cli.
    case pouchdb
    /// Documents in MongoDB's Extended JSON.
    case mongo
    /// The object of node-firestore-import-export.
    case firestore
    /// The object of Realm Studio.
    case realm
    /// A table.
    case table

    /// The kind of file that it counts as.
    package var kind: ForeignDatabase.Kind {
        switch self {
        case .documents, .array: .json
        case .bulk, .rows, .changes, .continuousChanges: .couchdb
        case .couchbackup, .couchbackupLines: .couchbackup
        case .pouchdb: .pouchdb
        case .mongo: .mongo
        case .firestore: .firestore
        case .realm: .realm
        case .table: .csv
        }
    }

    /// What it is, for people.
    package var title: String {
        switch self {
        case .documents: "JSON documents"
        case .array: "an array of JSON documents"
        case .bulk: "{\"docs\":[…]} of CouchDB (_bulk_docs or _find)"
        case .rows: "rows of CouchDB (_all_docs, _local_docs or a view)"
        case .changes: "changes of CouchDB (_changes)"
        case .continuousChanges: "changes of CouchDB (_changes, continuous)"
        case .couchbackup(let version, let mode): "couchbackup \(version), \(mode)"
        case .couchbackupLines: "couchbackup without a header"
        case .pouchdb: "PouchDB dump (pouchdb-replication-stream)"
        case .mongo: "MongoDB Extended JSON"
        case .firestore: "Firestore (node-firestore-import-export)"
        case .realm: "Realm (Realm Studio's JSON)"
        case .table: "CSV"
        }
    }
}

// MARK: - DumpNotes

/// What a dump says besides its documents, and what was passed over.
package struct DumpNotes: Sendable, Equatable {
    /// The source's sequence at which the dump was made.
    package var lastSequence: String?
    /// Lines of a backup that was interrupted, whose contents are in later lines.
    package var brokenLines = 0
    /// Documents of which the dump lacks revisions in conflict.
    package var conflicts = 0
    /// Logs of replications.
    package var checkpoints = 0
    /// Rows of deleted or missing documents, without content.
    package var emptyRows = 0
    /// Whether the dump has revisions without their histories.
    package var isShallow = false
    /// Contents of attachments whose digests could not be compared; see `AttachmentImporter.uncheckedCount`.
    package var uncheckedContents = 0
    /// Members beside the list of documents.
    package var otherMembers: Set<String> = []

    package init() {}

    /// What to tell people, a sentence each.
    package var texts: [String] {
        var texts: [String] = []
        if brokenLines > 0 {
            texts.append("\(counted(brokenLines, "broken line")) of an interrupted backup passed over")
        }
        if conflicts > 0 {
            texts.append(
                "\(counted(conflicts, "document")) with conflicts, of which this dump lacks the other revisions")
        }
        if checkpoints > 0 { texts.append("\(counted(checkpoints, "log")) of replications passed over") }
        if emptyRows > 0 { texts.append("\(counted(emptyRows, "row")) of deleted or missing documents passed over") }
        if isShallow { texts.append("a shallow backup has no histories: a sync with its server finds conflicts") }
        if uncheckedContents > 0 {
            texts.append(
                "\(counted(uncheckedContents, "attachment")) whose digests can't be checked: either the source compresses otherwise, or the contents are damaged"
            )
        }
        if !otherMembers.isEmpty {
            texts.append("passed over beside the documents: \(otherMembers.sorted().joined(separator: ", "))")
        }
        if let lastSequence { texts.append("the dump ends at sequence \(lastSequence.prefix(40)) of its source") }
        return texts
    }

    static func + (left: DumpNotes, right: DumpNotes) -> DumpNotes {
        var sum = left
        sum.lastSequence = right.lastSequence ?? left.lastSequence
        sum.brokenLines += right.brokenLines
        sum.conflicts += right.conflicts
        sum.checkpoints += right.checkpoints
        sum.emptyRows += right.emptyRows
        sum.isShallow = left.isShallow || right.isShallow
        sum.uncheckedContents += right.uncheckedContents
        sum.otherMembers.formUnion(right.otherMembers)
        return sum
    }
}

/// A count with its noun, in the plural except for one.
func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
