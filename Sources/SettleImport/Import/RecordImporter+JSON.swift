package import SettleCore

extension RecordImporter.Counts {
    /// What an import of a dump did, as JSON.
    ///
    /// - Parameters:
    ///   - kind: The kind of the dump.
    ///   - notes: What it says besides its documents.
    ///   - seconds: How long the import took.
    ///   - bytes: How many bytes were read.
    /// - Returns: The members that `settle import --json` prints.
    package func json(
        of kind: ForeignDatabase.Kind, _ notes: DumpNotes, seconds: Double, bytes: Int64
    ) -> JSONObject {
        var json: JSONObject = [
            "imported": .number(JSONNumber(stored)), "known": .number(JSONNumber(known)),
            "skipped": .number(JSONNumber(skipped)), "failed": .number(JSONNumber(failed)),
            "bytes": .number(JSONNumber(bytes)), "seconds": JSONNumber(seconds).map(JSONValue.number) ?? .null,
            "kind": .string(kind.rawValue),
        ]
        if lostAttachments > 0 { json["lost_attachments"] = .number(JSONNumber(lostAttachments)) }
        if !notes.texts.isEmpty { json["notes"] = .array(notes.texts.map(JSONValue.string)) }
        return json
    }
}

extension ImportFailure {
    /// The place and the cause, as JSON.
    ///
    /// - Parameters:
    ///   - name: The name of the error.
    ///   - message: The error in words.
    /// - Returns: An object with the place as far as it is known.
    package func json(error name: String, message: String) -> JSONValue {
        var json: JSONValue = [
            "error": .string(name), "message": .string(message), "line": .number(JSONNumber(line)),
        ]
        if let column { json["column"] = .number(JSONNumber(column)) }
        if let id { json["id"] = .string(id.string) }
        if let file { json["file"] = .string(file) }
        return json
    }
}
