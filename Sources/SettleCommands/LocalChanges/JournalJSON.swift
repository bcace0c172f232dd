internal import Settle

/// Journal entries and pending changes as JSON.
enum JournalJSON {
    /// An operation with the content before and after.
    static func entry(_ entry: JournalEntry) -> JSON {
        [
            "number": .number(JSONNumber(entry.number)), "operation": .string(entry.operation.rawValue),
            "id": .string(entry.documentID.string), "old": entry.old?.body.json ?? .null,
            "new": entry.new?.body.json ?? .null, "rev": .string(entry.revision.description),
            "timestamp": .number(JSONNumber(entry.time)),
        ]
    }

    /// The pending changes of a document, attribute by attribute.
    static func change(_ change: PendingChange) -> JSON {
        let changes = change.attributes.map { attribute -> JSON in
            var line: JSON = ["attribute": .string(attribute.name)]
            if let value = attribute.value { line["value"] = value } else { line["removed"] = true }
            line["timestamp"] = .number(JSONNumber(attribute.time))
            return line
        }
        return [
            "operation": .string(change.operation.rawValue), "id": .string(change.documentID.string),
            "changes": .array(changes), "rev": .string(change.revision.description),
        ]
    }
}
