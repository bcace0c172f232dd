internal import RevisionTree
internal import SettleDatabase

/// What a session remembers between two runs, in a local document of the database.
struct OfflineRecords: Sendable {
    /// A state of the server that somebody has seen and decided on.
    struct Seen: Sendable {
        /// The operation that was decided on; no other one was made in the knowledge of it.
        var number: Int64
        var history: RevisionHistory?
        var revision: RevisionID? { history?.revision }
    }

    /// How far the server's changes are here.
    var since = PeerSequence.start
    var lastSyncDate: Int64?
    /// The temporary ids given so far; none is given twice.
    var temporaryIDs = 0
    /// The documents that have temporary ids.
    var temporaries: Set<String> = []
    /// For documents whose operation is to be tried again on a newer state of the server.
    var seen: [String: Seen] = [:]

    init() {}

    init(_ json: JSON) {
        if let position = json["since"] { since = PeerSequence(position) }
        lastSyncDate = json["last_sync"]?.int.map(Int64.init)
        temporaryIDs = StoredCount.of(json["temporary_ids"])
        temporaries = Set((json["temporaries"]?.array ?? []).compactMap(\.string))
        for member in json["seen"]?.object ?? JSONObject() {
            guard let number = member.value["operation"]?.int else { continue }
            let names = (member.value["revisions"]?.array ?? []).compactMap { $0.string.flatMap { RevisionID($0) } }
            let history = names.first.flatMap { newest in
                try? RevisionHistory(start: newest.generation, signatures: names.map(\.signature))
            }
            seen[member.name] = Seen(number: Int64(number), history: history)
        }
    }

    var json: JSON {
        var json: JSON = [
            "since": since.json, "temporary_ids": .number(JSONNumber(temporaryIDs)),
            "temporaries": .array(temporaries.sorted().map(JSON.string)),
        ]
        if let lastSyncDate { json["last_sync"] = .number(JSONNumber(lastSyncDate)) }
        let members = seen.sorted { $0.key < $1.key }.map { id, seen in
            let revisions = (seen.history?.revisions ?? []).map { JSON.string($0.description) }
            return (id, ["operation": .number(JSONNumber(seen.number)), "revisions": .array(revisions)] as JSON)
        }
        json["seen"] = .object(JSONObject(members))
        return json
    }
}
