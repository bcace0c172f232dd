package import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// Journal entries and pending changes as JSON.
package enum JournalJSON {
    /// An operation with the content before and after.
    package static func entry(_ entry: JournalEntry) -> JSONValue {
        [
            "number": .number(JSONNumber(entry.number)), "operation": .string(entry.operation.rawValue),
            "id": .string(entry.documentID.string), "old": entry.old?.body.json ?? .null,
            "new": entry.new?.body.json ?? .null, "rev": .string(entry.revision.description),
            "timestamp": .number(JSONNumber(entry.time.milliseconds)),
        ]
    }

    /// The pending changes of a document, attribute by attribute.
    package static func change(_ change: PendingChange) -> JSONValue {
        let changes = change.fields.map { attribute -> JSONValue in
            var line: JSONValue = ["attribute": .string(attribute.name)]
            if let value = attribute.value { line["value"] = value } else { line["removed"] = true }
            line["timestamp"] = .number(JSONNumber(attribute.time.milliseconds))
            return line
        }
        return [
            "operation": .string(change.operation.rawValue), "id": .string(change.documentID.string),
            "changes": .array(changes), "rev": .string(change.revision.description),
        ]
    }
}
