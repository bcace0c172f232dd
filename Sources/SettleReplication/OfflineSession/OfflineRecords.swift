internal import SettleCore
internal import SettleDatabase

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The session's persistent state, kept in a local document of the database.
struct OfflineRecords: Sendable {
    /// A state of the server that the user has seen and decided on.
    struct Seen: Sendable {
        /// The operation that was decided on. The state applies to no other operation.
        var number: Int64
        var history: RevisionHistory?
        var revision: RevisionID? { history?.revision }
    }

    /// A create that was sent.
    struct SentCreate: Sendable {
        var number: Int64
        var id: DocumentID
        /// The local revision.
        var revision: RevisionID
    }

    /// The server's update sequence up to which changes were fetched.
    var since = PeerSequence.start
    var lastSyncDate: Date?
    /// The number of temporary ids that were given; none is reused.
    var temporaryIDs = 0
    /// The documents that have temporary ids.
    var temporaries: Set<String> = []
    /// The server states on which to retry operations, by document.
    var seen: [DocumentID: Seen] = [:]
    /// The create that was sent and neither accepted nor refused. If its response was lost, the server has the
    /// document.
    var sentCreate: SentCreate?
    /// The highest number of an operation in these records.
    var lastNumber: Int64 { max(seen.values.map(\.number).max() ?? 0, sentCreate?.number ?? 0) }

    init() {}

    init(_ json: JSONValue) {
        if let position = json["since"] { since = PeerSequence(position) }
        lastSyncDate = json["last_sync"]?.int.map { Date(milliseconds: Int64($0)) }
        temporaryIDs = StoredCount.of(json["temporary_ids"])
        temporaries = Set((json["temporaries"]?.array ?? []).compactMap(\.string))
        if let sent = json["sent_create"], let number = sent["operation"]?.int,
            let id = sent["id"]?.string.flatMap({ try? DocumentID(validating: $0) }),
            let revision = sent["revision"]?.string.flatMap({ RevisionID($0) })
        {
            sentCreate = SentCreate(number: Int64(number), id: id, revision: revision)
        }
        for member in json["seen"]?.object ?? JSONObject() {
            guard let number = member.value["operation"]?.int else { continue }
            let names = (member.value["revisions"]?.array ?? []).compactMap { $0.string.flatMap { RevisionID($0) } }
            let history = names.first.flatMap { newest in
                try? RevisionHistory(start: newest.generation, signatures: names.map(\.signature))
            }
            seen[DocumentID(unchecked: member.name)] = Seen(number: Int64(number), history: history)
        }
    }

    var json: JSONValue {
        var json: JSONValue = [
            "since": since.json, "temporary_ids": .number(JSONNumber(temporaryIDs)),
            "temporaries": .array(temporaries.sorted().map(JSONValue.string)),
        ]
        if let lastSyncDate { json["last_sync"] = .number(JSONNumber(lastSyncDate.milliseconds)) }
        if let sentCreate {
            json["sent_create"] = [
                "operation": .number(JSONNumber(sentCreate.number)), "id": .string(sentCreate.id.string),
                "revision": .string(sentCreate.revision.description),
            ]
        }
        let members = seen.sorted { $0.key < $1.key }.map { id, seen in
            let revisions = (seen.history?.revisions ?? []).map { JSONValue.string($0.description) }
            let value: JSONValue = ["operation": .number(JSONNumber(seen.number)), "revisions": .array(revisions)]
            return (id.string, value)
        }
        json["seen"] = .object(JSONObject(members))
        return json
    }
}
