internal import SettleCore
internal import SettleDatabase

/// A document in MongoDB's Extended JSON, as `mongoexport` writes it.
///
///     {"_id":{"$oid":"5f1a…"},"n":{"$numberLong":"7"},"at":{"$date":"2018-11-30T12:05:05Z"}}
///     {"_id":"5f1a…","n":7,"at":"2018-11-30T12:05:05.000Z"}
enum MongoDocument {
    /// The names by which Extended JSON is known.
    private static let names: Set<String> = [
        "$oid", "$date", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$binary", "$uuid",
        "$timestamp", "$regularExpression", "$minKey", "$maxKey", "$undefined",
    ]

    /// Whether a document of at most some values has one that only Extended JSON has.
    static func isOne(_ bytes: [UInt8], atMost maximumValues: Int) -> Bool {
        guard bytes.indices.dropLast().contains(where: { bytes[$0] == UInt8(ascii: "\"") && bytes[$0 + 1] == 0x24 }),
            let value = try? JSONValue(utf8: bytes, atMost: maximumValues)
        else { return false }
        return value["_rev"] == nil && hasMark(value)
    }

    private static func hasMark(_ value: JSONValue) -> Bool {
        if let object = value.object {
            if let first = object.first, object.count <= 2, names.contains(first.name) { return true }
            return object.contains { hasMark($0.value) }
        }
        return value.array?.contains(where: hasMark) ?? false
    }

    /// The document in plain JSON: an `_id` that is no text becomes one, and other names lose their underscores at the beginning,
    /// which CouchDB reserves.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if two members have the same name then.
    static func translated(
        _ value: JSONValue, _ translation: JSONTranslation
    ) throws(DatabaseError) -> JSONValue {
        guard let object = value.object else { return plain(value) }
        var (result, attachments, key) = (JSONObject(), JSONObject(), JSONValue?.none)
        for member in object {
            if member.name == "_id" {
                let value = plain(member.value)
                result["_id"] = .string(value.string ?? value.description)
                if value.string == nil { key = value }
                continue
            }
            let name = try unreserved(member.name, in: result)
            result[name] =
                translation.attachesBinaries
                ? attaching(member.value, name, to: &attachments) : plain(member.value)
        }
        if let name = translation.keptID, let key { try result.add(name, key) }
        if !attachments.isEmpty { result[WireAttachment.listName] = .object(attachments) }
        return .object(result)
    }

    /// The name of a member without its underscores at the beginning, which CouchDB reserves.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if another member has that name.
    static func unreserved(_ name: String, in object: JSONObject) throws(DatabaseError) -> String {
        let short = String(name.drop { $0 == "_" })
        guard object[short] == nil else {
            throw DatabaseError(
                .invalid, "two members would be named \"\(short)\", since _ at the beginning is reserved")
        }
        return short
    }

    /// The length in base64 from which a binary value becomes an attachment: 1 KiB.
    private static let largeBinary = 1366

    /// A value in plain JSON. Large binary values become attachments, which are named by their places, and their names stay.
    private static func attaching(
        _ value: JSONValue, _ path: String, to attachments: inout JSONObject
    ) -> JSONValue {
        if let array = value.array {
            var made: [JSONValue] = []
            for (index, value) in array.enumerated() {
                made.append(attaching(value, "\(path)/\(index)", to: &attachments))
            }
            return .array(made)
        }
        guard let object = value.object else { return value }
        if object.first?.name == "$binary", let data = plain(value).string, data.utf8.count >= largeBinary {
            attachments[path] = ["content_type": "application/octet-stream", "data": .string(data)]
            return .string(path)
        }
        if let first = object.first, object.count <= 2, let made = scalar(first.name, first.value, object) {
            return made
        }
        var made = JSONObject()
        for member in object { made[member.name] = attaching(member.value, "\(path)/\(member.name)", to: &attachments) }
        return .object(made)
    }

    private static func plain(_ value: JSONValue) -> JSONValue {
        if let array = value.array { return .array(array.map(plain)) }
        guard let object = value.object else { return value }
        if let first = object.first, object.count <= 2, let made = scalar(first.name, first.value, object) {
            return made
        }
        return .object(JSONObject(object.map { ($0.name, plain($0.value)) }))
    }

    private static func scalar(_ name: String, _ value: JSONValue, _ object: JSONObject) -> JSONValue? {
        switch (name, object.count) {
        case ("$oid", 1), ("$uuid", 1), ("$numberDecimal", 1): value.string.map(JSONValue.string)
        case ("$numberInt", 1), ("$numberLong", 1), ("$numberDouble", 1): number(value)
        case ("$date", 1): date(value)
        case ("$binary", _): value.string.map(JSONValue.string) ?? value["base64"]
        default: nil
        }
    }

    private static func number(_ value: JSONValue) -> JSONValue? {
        guard let text = value.string else { return value.number.map(JSONValue.number) }
        return JSONNumber(text: text).map(JSONValue.number) ?? .string(text)
    }

    private static func date(_ value: JSONValue) -> JSONValue? {
        if let text = value.string {
            return .string(text.hasSuffix("Z") && !text.contains(".") ? "\(text.dropLast()).000Z" : text)
        }
        let milliseconds = value.int ?? value["$numberLong"]?.string.flatMap { Int($0) }
        return milliseconds.map { .string(ExportedDate.text(milliseconds: $0)) }
    }
}

// MARK: - ExportedDate

/// Dates of other products as texts.
enum ExportedDate {
    /// The date as ISO 8601 has it, in UTC with milliseconds: `2018-11-30T12:05:05.000Z`.
    static func text(milliseconds: Int) -> String {
        let day = 86_400_000
        var days = milliseconds / day
        var rest = milliseconds % day
        if rest < 0 { (days, rest) = (days - 1, rest + day) }
        // Days are counted from 1 March of the year 0, in spans of 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number.magnitude)
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, 2))"
        let time =
            "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2)).\(padded(rest % 1000, 3))"
        return "\(date)T\(time)Z"
    }
}

// MARK: - JSONTranslation

/// How other products' JSON becomes documents here.
package struct JSONTranslation: Sendable, Equatable {
    /// The member that keeps an `_id` of MongoDB that is not a string; `nil` to keep it only as the document's id.
    package var keptID: String?
    /// The member with the name of a document's collection or class; `nil` for none, except that of Realm it is `type`.
    package var typeMember: String?
    /// Whether binary values of at least 1 KiB become attachments.
    package var attachesBinaries = false
    /// How many values a text may have that is in memory as a whole while it is translated; without a limit by default.
    package var maximumValues: Int

    package init(
        keptID: String? = nil, typeMember: String? = nil, attachesBinaries: Bool = false, maximumValues: Int = .max
    ) {
        (self.keptID, self.typeMember, self.attachesBinaries) = (keptID, typeMember, attachesBinaries)
        self.maximumValues = maximumValues
    }
}

extension JSONObject {
    /// Adds a member of a translation.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if the document has one of this name.
    mutating func add(_ name: String, _ value: JSONValue) throws(DatabaseError) {
        guard self[name] == nil else {
            throw DatabaseError(.invalid, "it has a member \"\(name)\" already: choose another name")
        }
        self[name] = value
    }
}
