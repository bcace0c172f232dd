public import SettleCore
internal import SettleDatabase

/// The documents that a replication could not replicate or settle, with the reasons.
///
/// It keeps the newest 1000 entries, and counts the dropped older ones. A document is removed when a later attempt
/// replicates it. The ledger is stored in a local database, so it survives a restart.
public struct ReplicationLedger: Sendable, Hashable {
    private struct Key: Hashable {
        let id: DocumentID
        let revision: RevisionID?
    }

    private var byKey: [Key: LedgerEntry] = [:]
    private var order: [Key] = []
    /// The listed revisions of each document.
    private var listed: [DocumentID: Set<RevisionID?>] = [:]
    /// The number of entries that were dropped because there were too many.
    public private(set) var forgotten = 0

    /// The maximum number of entries.
    public static let maximumEntries = 1000

    /// Creates an empty ledger.
    public init() {}

    /// The entries, oldest first.
    public var entries: [LedgerEntry] { order.compactMap { byKey[$0] } }

    /// The number of entries.
    public var count: Int { byKey.count }

    /// The entries of a document.
    public subscript(id: DocumentID) -> [LedgerEntry] { entries.filter { $0.documentID == id } }

    /// Adds a revision, or counts another attempt.
    package mutating func record(
        _ id: DocumentID, _ revision: RevisionID?, _ kind: LedgerEntry.Kind, reason: String, status: Int?
    ) {
        let key = Key(id: id, revision: revision)
        let attempts = (byKey[key]?.attempts ?? 0) + 1
        if byKey[key] == nil {
            order.append(key)
            listed[id, default: []].insert(revision)
        }
        byKey[key] = LedgerEntry(
            documentID: id, revision: revision, kind: kind, reason: reason, status: status, attempts: attempts)
        while byKey.count > Self.maximumEntries, let oldest = order.first {
            clear(oldest.id, oldest.revision)
            forgotten += 1
        }
    }

    /// Removes a revision; `nil` is the document's conflict.
    mutating func clear(_ id: DocumentID, _ revision: RevisionID?) {
        let key = Key(id: id, revision: revision)
        guard byKey.removeValue(forKey: key) != nil else { return }
        order.removeAll { $0 == key }
        listed[id]?.remove(revision)
        if listed[id]?.isEmpty == true { listed[id] = nil }
    }

    /// Removes all revisions of a document except for those that failed this time. The target now has the revisions
    /// that failed earlier, or their descendants. The document's conflict stays.
    package mutating func clear(_ id: DocumentID, but kept: some Sequence<RevisionID>) {
        guard let revisions = listed[id] else { return }
        for revision in revisions.compactMap(\.self) where !kept.contains(revision) { clear(id, revision) }
    }
}

extension ReplicationLedger {
    /// Reads a ledger from a local document; invalid entries are skipped.
    init(_ json: JSONValue) {
        for entry in json["entries"]?.array ?? [] {
            guard let id = entry["id"]?.string.flatMap({ try? DocumentID(validating: $0) }),
                let kind = entry["kind"]?.string.flatMap({ LedgerEntry.Kind(rawValue: $0) })
            else { continue }
            let revision = entry["rev"]?.string.flatMap { try? RevisionID(validating: $0) }
            record(id, revision, kind, reason: entry["reason"]?.string ?? "", status: entry["status"]?.int)
            byKey[Key(id: id, revision: revision)]?.attempts = max(1, StoredCount.of(entry["attempts"]))
        }
        forgotten = StoredCount.of(json["forgotten"])
    }

    /// The ledger as a local document.
    var json: JSONValue {
        let rows: [JSONValue] = entries.map { entry in
            var members: JSONObject = [
                "id": .string(entry.documentID.string), "kind": .string(entry.kind.rawValue),
                "reason": .string(entry.reason), "attempts": .number(JSONNumber(entry.attempts)),
            ]
            members["rev"] = entry.revision.map { .string($0.description) }
            members["status"] = entry.status.map { .number(JSONNumber($0)) }
            return .object(members)
        }
        return ["entries": .array(rows), "forgotten": .number(JSONNumber(forgotten))]
    }
}

/// A document that a replication could not replicate, or whose conflict it could not settle.
public struct LedgerEntry: Sendable, Hashable {
    /// The reason why it is listed.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The target refuses it, or no database can store it; the replication retries only after it changes
        /// (SEMANTICS 117, 205).
        case refused
        /// It could not be replicated; the replication retries it (SEMANTICS 111).
        case failed
        /// The source no longer had its content.
        case gone
        /// It was replicated, but its conflict could not be settled; the next start retries (SEMANTICS 31).
        case conflicted
        /// It no longer passes the filter, or was deleted without the members that the filter tests. The target
        /// keeps an earlier state of it until the document passes again (SEMANTICS 132).
        case left
        /// It is a leaf other than the source's winner, and only winners are replicated (SEMANTICS 207).
        case losing
    }

    /// The document.
    public var documentID: DocumentID
    /// The revision; `nil` for a conflict.
    public var revision: RevisionID?
    /// The reason why it is listed.
    public var kind: Kind
    /// The error message.
    public var reason: String
    /// The HTTP status of the failure, such as a validation's 403.
    public var status: Int?
    /// The number of failed attempts.
    public var attempts: Int
}

// MARK: - StoredCount

/// A count in a local document. Every user who may write to the database can set it to any value.
enum StoredCount {
    /// More than any real count, and small enough that sums don't overflow.
    private static let most = 1 << 52

    /// The count, from 0 to 2⁵²; 0 for a value that is not a number.
    static func of(_ json: JSONValue?) -> Int { min(max(json?.int ?? 0, 0), most) }
}
