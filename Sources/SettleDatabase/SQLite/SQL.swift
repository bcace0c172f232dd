/// The statements that the engine prepares.
enum SQL: Int, CaseIterable {
    case begin, beginSnapshot, commit, rollback, savepoint, release, rollbackToSavepoint
    case recordOfID, shortRecordOfID, headOfID, recordsBySequence, recordsBySequenceDescending
    case headsBySequence, headsBySequenceDescending
    case insertRecord, updateRecord, updateTree, removeRecord
    case content, contentTokens, newestContentTokens, insertContent, insertContentBeyond, restoreContent
    case removeContent
    case countChanges, newestSequence, writtenDocuments
    case sumOfSequences, sequencesOfBucket, bucketAfter, setSequences, removeSequences, firstSequence
    case sealSequences, sealLevel
    case topOfIDs, rangeOfID, rangeAfterID, sumOfIDs, countIDs, countFlaggedIDs, idAt, liveIDAt
    case rangesOfIDs, countRanges, rangeAt, setIDs, removeIDs
    case local, locals, putLocal, removeLocal
    case blob, blobs, putBlob, removeBlob
    case expiration, expirations, expirationsByID, putExpiration, removeExpiration
    case setting, settings, putSetting, removeSetting
    case journal, newestJournal, journalEntry, putJournal, putShortJournal, removeJournalEntry, removeJournal

    /// The statement's text.
    var text: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .beginSnapshot: "BEGIN"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .savepoint: "SAVEPOINT part"
        case .release: "RELEASE part"
        case .rollbackToSavepoint: "ROLLBACK TO part"
        case .recordOfID: "SELECT sequence, id, tree, attachments, body FROM documents WHERE id = ?1"
        case .shortRecordOfID: Self.shortRecord
        case .headOfID: "SELECT sequence, id, tree FROM documents WHERE id = ?1"
        case .recordsBySequence: Self.bySequence("sequence, id, tree, attachments, body", "ASC")
        case .recordsBySequenceDescending: Self.bySequence("sequence, id, tree, attachments, body", "DESC")
        case .headsBySequence: Self.bySequence("sequence, id, tree", "ASC")
        case .headsBySequenceDescending: Self.bySequence("sequence, id, tree", "DESC")
        case .insertRecord:
            """
            INSERT INTO documents(sequence, id, flags, tree, attachments, body) VALUES(?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT(id) DO NOTHING
            """
        case .updateRecord:
            """
            UPDATE documents SET sequence = ?1, flags = ?3, counted = iif(?2 <= ?7, ?2 * 4 + (flags & 3), counted),
                tree = ?4, attachments = ?5, body = ?6
            WHERE sequence = ?2
            """
        case .updateTree: "UPDATE documents SET tree = ?2, flags = ?3 WHERE sequence = ?1"
        case .removeRecord: "DELETE FROM documents WHERE sequence = ?1"
        case .content: "SELECT attachments, body FROM contents WHERE number = ?1"
        case .contentTokens: "SELECT number FROM contents WHERE number > ?1 ORDER BY number LIMIT ?2"
        case .newestContentTokens:
            "SELECT number FROM contents WHERE number > ?1 ORDER BY number DESC LIMIT ?2"
        case .insertContent: "INSERT INTO contents(attachments, body) VALUES(?1, ?2)"
        case .insertContentBeyond:
            """
            INSERT INTO contents(attachments, body, number)
            VALUES(?1, ?2, max(ifnull((SELECT max(number) FROM contents), 0), ?3) + 1)
            """
        case .restoreContent:
            "INSERT INTO contents(number, attachments, body) VALUES(?1, ?2, ?3) ON CONFLICT(number) DO NOTHING"
        case .removeContent: "DELETE FROM contents WHERE number = ?1"
        case .countChanges: "SELECT count(*) FROM documents WHERE sequence > ?1 AND sequence <= ?2"
        case .writtenDocuments:
            "SELECT id, sequence, flags, counted FROM documents WHERE sequence > ?1 AND sequence <= ?2"
        case .sumOfSequences:
            """
            SELECT \(Self.sum("documents")) FROM sequence_counts WHERE level = ?1 AND bucket >= ?2 AND bucket < ?3
            """
        case .sequencesOfBucket: "SELECT documents FROM sequence_counts WHERE level = ?1 AND bucket = ?2"
        case .bucketAfter: "SELECT bucket FROM sequence_counts WHERE level = ?1 AND bucket >= ?2 LIMIT 1"
        case .setSequences: "INSERT OR REPLACE INTO sequence_counts(level, bucket, documents) VALUES(?1, ?2, ?3)"
        case .removeSequences: "DELETE FROM sequence_counts WHERE level = ?1 AND bucket = ?2"
        case .firstSequence:
            "SELECT sequence FROM documents WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence LIMIT 1"
        case .sealSequences:
            """
            INSERT INTO sequence_counts(level, bucket, documents)
            SELECT 0, ?1 >> ?3, count(*) FROM documents WHERE sequence > ?1 AND sequence <= ?2
            """
        case .sealLevel:
            """
            INSERT INTO sequence_counts(level, bucket, documents) SELECT ?4, bucket >> ?3, \(Self.sum("documents"))
            FROM sequence_counts WHERE level = ?4 - 1 AND bucket >= ?1 AND bucket < ?2 GROUP BY 2
            """
        case .topOfIDs: "SELECT max(level) FROM id_counts"
        case .rangeOfID:
            "SELECT first, \(Self.kinds) FROM id_counts WHERE level = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1"
        case .rangeAfterID: "SELECT first FROM id_counts WHERE level = ?1 AND first > ?2 ORDER BY first LIMIT 1"
        case .sumOfIDs:
            """
            SELECT \(Self.kindSums) FROM id_counts WHERE level = ?1 AND first >= ?2 AND first < ?3
            """
        case .countIDs: "SELECT count(*) FROM documents WHERE id >= ?1 AND id < ?2"
        case .countFlaggedIDs:
            "SELECT count(*) FROM documents WHERE flags = ?3 AND flags > 0 AND id >= ?1 AND id < ?2"
        case .idAt: "SELECT id FROM documents WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 1 OFFSET ?3"
        case .liveIDAt:
            """
            SELECT id FROM documents WHERE id >= ?1 AND id < ?2
                AND id NOT IN (SELECT id FROM documents WHERE flags = 1 AND flags > 0 AND id >= ?1 AND id < ?2)
            ORDER BY id LIMIT 1 OFFSET ?3
            """
        case .rangesOfIDs:
            """
            SELECT first, \(Self.kinds) FROM id_counts WHERE level = ?1 AND first >= ?2 AND first < ?3 ORDER BY first
            """
        case .countRanges: "SELECT count(*) FROM id_counts WHERE level = ?1 AND first >= ?2 AND first < ?3"
        case .rangeAt:
            """
            SELECT first FROM id_counts WHERE level = ?4 AND first >= ?1 AND first < ?2 ORDER BY first LIMIT 1 OFFSET ?3
            """
        case .setIDs: "INSERT OR REPLACE INTO id_counts(level, first, \(Self.kinds)) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
        case .removeIDs: "DELETE FROM id_counts"
        case .newestSequence: "SELECT max(sequence) FROM documents"
        case .local: "SELECT id, revision, body FROM locals WHERE id = ?1"
        case .locals: "SELECT id, revision, body FROM locals WHERE id > ?1 ORDER BY id LIMIT ?2"
        case .putLocal: "INSERT OR REPLACE INTO locals(id, revision, body) VALUES(?1, ?2, ?3)"
        case .removeLocal: "DELETE FROM locals WHERE id = ?1"
        case .blob: "SELECT digest, md5, length, content FROM blobs WHERE digest = ?1"
        case .blobs:
            """
            SELECT digest, md5, length, content IS NULL FROM blobs
            WHERE digest > ?1 AND length(digest) = 32 AND typeof(digest) = 'blob' ORDER BY digest LIMIT ?2
            """
        case .putBlob: "INSERT OR IGNORE INTO blobs(digest, md5, length, content) VALUES(?1, ?2, ?3, ?4)"
        case .removeBlob: "DELETE FROM blobs WHERE digest = ?1"
        case .expiration: "SELECT at FROM expirations WHERE id = ?1"
        case .expirations: "SELECT id, at FROM expirations WHERE at <= ?1 ORDER BY at LIMIT ?2"
        case .expirationsByID: "SELECT id, at FROM expirations WHERE id > ?1 ORDER BY id LIMIT ?2"
        case .putExpiration: "INSERT OR REPLACE INTO expirations(id, at) VALUES(?1, ?2)"
        case .removeExpiration: "DELETE FROM expirations WHERE id = ?1"
        case .setting: "SELECT value FROM settings WHERE name = ?1"
        case .settings:
            """
            SELECT name, value FROM settings WHERE name > ?1 AND name <> CAST('last_sequence' AS BLOB)
            ORDER BY name LIMIT ?2
            """
        case .putSetting: "INSERT OR REPLACE INTO settings(name, value) VALUES(?1, ?2)"
        case .removeSetting: "DELETE FROM settings WHERE name = ?1"
        case .journal: "SELECT \(Self.journalColumns) FROM journal WHERE number > ?1 ORDER BY number LIMIT ?2"
        case .newestJournal: "SELECT \(Self.journalColumns) FROM journal ORDER BY number DESC LIMIT ?1"
        case .journalEntry: "SELECT \(Self.journalColumns) FROM journal WHERE number = ?1"
        case .putJournal:
            """
            INSERT OR REPLACE INTO journal(\(Self.journalColumns)) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """
        case .putShortJournal:
            "INSERT OR REPLACE INTO journal(number, id, revision, time, kept) VALUES(?1, ?2, ?3, ?4, ?5)"
        case .removeJournalEntry: "DELETE FROM journal WHERE number = ?1"
        case .removeJournal: "DELETE FROM journal"
        }
    }

    /// A record and its length, without the parts of a long one. SQLite knows their lengths without reading them.
    private static let shortRecord = """
        SELECT sequence, id, iif(length <= ?2, tree, NULL), iif(length <= ?2, attachments, NULL),
            iif(length <= ?2, body, NULL), length
        FROM (SELECT *, length(body) + length(tree) + ifnull(length(attachments), 0) AS length
            FROM documents WHERE id = ?1)
        """

    private static let kinds = "plain, deleted, conflicted, contested"
    /// The sums of the columns of `id_counts`.
    static let kindSums = ["plain", "deleted", "conflicted", "contested"].map(sum).joined(separator: ", ")

    /// The sum of a column of integers, or the nearest integer there is. SQLite's own `sum` fails if the numbers of a
    /// damaged file add up to more.
    static func sum(_ column: String) -> String { "CAST(total(\(column)) AS INTEGER)" }

    private static let journalColumns =
        "number, id, revision, time, old, old_attachments, new, new_attachments, kept"

    private static func bySequence(_ columns: String, _ order: String) -> String {
        "SELECT \(columns) FROM documents WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence \(order) LIMIT ?3"
    }
}
