/// The complete list of statements that are sent to PostgreSQL, except for those that create the schema.
///
/// The texts are constant: variable parts are parameters, including the names of databases and documents. Databases
/// derived from PostgreSQL lack some constructs, and a test checks that these texts don't use them; decision 48 has
/// the list.
enum PostgresStatement: Hashable, Sendable {
    // Transactions.
    case begin, beginSnapshot, commit, rollback, savepoint, releaseSavepoint, rollbackToSavepoint
    // A session.
    case setUp, format, version, process, probe, rights, listen, notify, allowIdle, allowLong
    // A database as a whole.
    case state, lock, advance, reserveTokens, mark, findMark, waitInLine, removeMarks, settings
    // Documents.
    case document(Columns)
    case shortDocument
    case documents(Columns)
    case changes(Columns, Direction)
    case range(Columns, Kind, Direction)
    case count(Kind)
    case place(Direction)
    case countAll, countChanges, editions
    case putDocuments, putTrees, removeDocuments, putCounts
    // Contents apart.
    case contents
    case contentTokens(Direction)
    case putContents, removeContents
    // Side records.
    case records, recordsAfter, recordsThrough, putRecords, removeRecords
    // Contents of attachments.
    case blobs, blobsAfter, blobsThere, putBlobs, removeBlobs
    case newUpload, prolongUploads, endUploads, blobBytes, putChunk, chunk, uploadsThere, dropUploads, claimUploads,
        dropChunks, oldUploads
    // Leases.
    case takeLeases, renewLeases, releaseLeases, forgetLeases, leases, requireLease
    // Many databases.
    case find, follow, names, create, name, deleteName, doom, doomed, destroyDocuments, destroyContents, destroyChunks
    case destroy(Table)
    case startCopy, findCopy, endCopy
    // The server.
    case serverRecord, makeServerRecord, putServerRecord, serverVersion
    // A restore.
    case whereabouts, renewInstances, renewAges
    // Maintenance.
    case weigh, size, wrongCounts, wrongFlags, sumsAtOdds

    /// The columns of documents to read.
    enum Columns: CaseIterable { case id, head, whole }

    /// The order of rows.
    enum Direction: CaseIterable { case ascending, descending }

    /// The documents to include, by their flags.
    enum Kind: CaseIterable { case any, live, flagged }

    /// The tables whose rows of a deleted database are few enough to be deleted at once.
    enum Table: String, CaseIterable { case tallies, blobs, uploads, records, leases, marks, databases }

    /// All statements.
    static var all: [PostgresStatement] {
        var all = constant
        for columns in Columns.allCases {
            all += [.document(columns), .documents(columns)]
            for direction in Direction.allCases {
                all.append(.changes(columns, direction))
                for kind in Kind.allCases { all.append(.range(columns, kind, direction)) }
            }
        }
        for kind in Kind.allCases { all.append(.count(kind)) }
        for direction in Direction.allCases { all += [.place(direction), .contentTokens(direction)] }
        for table in Table.allCases { all.append(.destroy(table)) }
        return all
    }

    /// The statements without variants.
    private static let constant: [PostgresStatement] = [
        .begin, .beginSnapshot, .commit, .rollback, .savepoint, .releaseSavepoint, .rollbackToSavepoint, .setUp,
        .format, .version, .process, .probe, .rights, .listen, .notify, .allowIdle, .allowLong, .state, .lock,
        .advance, .reserveTokens, .mark,
        .findMark, .waitInLine, .removeMarks, .settings, .shortDocument, .countAll, .countChanges, .editions,
        .putDocuments, .putTrees, .removeDocuments, .putCounts, .contents, .putContents, .removeContents,
        .records, .recordsAfter, .recordsThrough, .putRecords, .removeRecords, .blobs, .blobsAfter, .blobsThere,
        .putBlobs, .removeBlobs, .newUpload, .prolongUploads, .endUploads, .blobBytes, .putChunk, .chunk, .uploadsThere,
        .dropUploads,
        .claimUploads, .dropChunks, .oldUploads, .takeLeases, .renewLeases, .releaseLeases, .forgetLeases,
        .leases, .requireLease, .find, .follow, .names, .create, .name, .deleteName, .doom, .doomed,
        .destroyDocuments, .destroyContents, .destroyChunks, .startCopy, .findCopy, .endCopy, .serverRecord,
        .makeServerRecord, .putServerRecord, .serverVersion, .whereabouts, .renewInstances, .renewAges, .weigh, .size,
        .wrongCounts, .wrongFlags,
        .sumsAtOdds,
    ]
}
