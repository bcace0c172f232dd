internal import SettleCore
internal import SettleDatabase

/// The object that node-firestore-import-export writes: collections of documents, which have collections of their own.
///
///     {"__collections__":{"users":{"ada":{"name":"Ada","__collections__":{"notes":{…}}}}}}
enum FirestoreDump {
    private static let collectionsName = "__collections__"
    private static let typeName = "__datatype__"

    /// The documents, whose ids are their paths: `users/ada`, `users/ada/notes/n1`.
    static func records(of dump: JSONValue, _ translation: JSONTranslation) -> [RecordReader.Record] {
        var records: [RecordReader.Record] = []
        add(collections: dump[collectionsName], below: "", translation, to: &records)
        return records
    }

    private static func add(
        collections: JSONValue?, below path: String, _ translation: JSONTranslation,
        to records: inout [RecordReader.Record]
    ) {
        for collection in collections?.object ?? JSONObject() {
            for document in collection.value.object ?? JSONObject() {
                let id = "\(path)\(collection.name)/\(document.name)"
                var record = RecordReader.Record(bytes: [], line: 1, column: 1)
                do throws(DatabaseError) {
                    var body = try Self.body(of: document.value, id)
                    if let name = translation.typeMember { try body.add(name, .string(collection.name)) }
                    record.bytes = JSONValue.object(body).utf8
                } catch { record.problem = "\(id): \(error.message)" }
                records.append(record)
                add(collections: document.value[collectionsName], below: "\(id)/", translation, to: &records)
            }
        }
    }

    /// The fields of a document in plain JSON, after its id. Their names lose their underscores at the beginning, as those of
    /// MongoDB do.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if two fields have the same name then.
    private static func body(of document: JSONValue, _ id: String) throws(DatabaseError) -> JSONObject {
        var body = JSONObject([("_id", .string(id))])
        for member in document.object ?? JSONObject() where member.name != collectionsName {
            body[try MongoDocument.unreserved(member.name, in: body)] = plain(member.value)
        }
        return body
    }

    private static func plain(_ value: JSONValue) -> JSONValue {
        if let array = value.array { return .array(array.map(plain)) }
        guard let object = value.object else { return value }
        let content = object["value"] ?? .null
        switch object[typeName]?.string {
        case "timestamp":
            guard let seconds = content["_seconds"]?.int, seconds.magnitude < 1 << 42 else { return content }
            let nanoseconds = content["_nanoseconds"]?.int ?? 0
            return .string(ExportedDate.text(milliseconds: seconds * 1000 + nanoseconds / 1_000_000))
        case "geopoint":
            return ["latitude": content["_latitude"] ?? .null, "longitude": content["_longitude"] ?? .null]
        case "documentReference": return content
        default: return .object(JSONObject(object.map { ($0.name, plain($0.value)) }))
        }
    }
}
