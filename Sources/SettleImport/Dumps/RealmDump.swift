internal import SettleCore
internal import SettleDatabase

/// The object that Realm Studio writes: a list of objects for each class.
///
///     {"Dog":[{"_id":1,"name":"Rex"}],"Person":[…]}
///     {"_id":"Dog/1","name":"Rex","type":"Dog"}
enum RealmDump {
    /// The documents, whose ids are the class and the key: `Dog/1`. One without `_id` gets the rest of its id later.
    ///
    /// - Throws: ``ForeignFileError`` with code `unknown` if a member is not a list.
    static func records(
        of dump: JSONValue, _ translation: JSONTranslation
    ) throws(ForeignFileError) -> [RecordReader.Record] {
        var records: [RecordReader.Record] = []
        for member in dump.object ?? JSONObject() {
            guard let objects = member.value.array else {
                throw ForeignFileError(
                    .unknown, "\"\(member.name)\" is not a list, so the input is not what Realm Studio writes")
            }
            for object in objects {
                var record = RecordReader.Record(bytes: [], line: 1, column: 1)
                record.idPrefix = "\(member.name)/"
                do { record.bytes = try document(object, of: member.name, translation).utf8 } catch {
                    record.problem = "an object of \(member.name): \(error.message)"
                }
                records.append(record)
            }
        }
        return records
    }

    private static func document(
        _ value: JSONValue, of name: String, _ translation: JSONTranslation
    ) throws(DatabaseError) -> JSONValue {
        guard value.object != nil else { throw DatabaseError(.invalid, "it is not an object") }
        var object = try MongoDocument.translated(value, JSONTranslation()).object ?? JSONObject()
        if let key = object["_id"]?.string { object["_id"] = .string("\(name)/\(key)") }
        try object.add(translation.typeMember ?? "type", .string(name))
        return .object(object)
    }
}
