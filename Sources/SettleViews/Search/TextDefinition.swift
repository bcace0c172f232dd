package import SettleCore
import SettleDatabase
internal import SettleQuery

/// Search indexes in design documents, in the format of CouchDB's and Cloudant's text indexes.
///
///     {"language": "query", "indexes": {"books": {
///         "index": {"default_field": {"enabled": true, "analyzer": "english"},
///                   "fields": [{"name": "title", "type": "string"}], "partial_filter_selector": {}},
///         "analyzer": …}}}
///
/// The member `analyzer` next to `index` follows from the other members and is ignored.
package struct TextDefinition: Sendable {
    /// The id of the design document.
    package let designDocument: DocumentID
    /// The defined index.
    package let index: TextIndex
    /// The definition as it was given.
    package let definition: JSONValue

    /// Parses one of a design document's indexes.
    ///
    /// - Parameters:
    ///   - definition: The value of the member `index`.
    ///   - name: The name.
    ///   - designDocument: The design document's id.
    /// - Throws: ``DatabaseError`` with code `invalid`, which names the invalid member.
    package init(_ definition: JSONValue, name: String, of designDocument: DocumentID) throws {
        self.designDocument = designDocument
        self.definition = definition
        guard let members = definition.object else { throw Self.invalid("the definition must be an object") }
        var hasDefault = true
        var ofDefault: JSONValue?
        switch members["default_field"] {
        case .bool(let isEnabled): hasDefault = isEnabled
        case .object(let options):
            hasDefault = options["enabled"] != false
            ofDefault = options["analyzer"]
        case nil: break
        default: throw Self.invalid("`default_field` must be an object or a boolean")
        }
        let fields = try Self.fields(members["fields"])
        guard hasDefault || !fields.isEmpty else {
            throw Self.invalid("without `default_field` there must be `fields` of type string")
        }
        var filter: MangoSelector?
        if let given = members["partial_filter_selector"] ?? members["selector"], given.object?.isEmpty != true {
            do { filter = try MangoSelector(filter: given) } catch {
                throw Self.invalid("the filter can't be read: \(error)")
            }
        }
        index = TextIndex(
            name: name, fields: fields,
            tokenizer: try Self.tokenizer(ofDefault, members["default_analyzer"], hasDefault),
            hasDefaultColumn: hasDefault,
            filter: filter, isDesigned: true)
    }

    private static func invalid(_ message: String) -> DatabaseError {
        DatabaseError(.invalid, "invalid text index: \(message)")
    }

    /// The fields of type string. Conditions on other fields are answered by the documents themselves.
    private static func fields(_ given: JSONValue?) throws -> [TextIndexField] {
        guard let given, given != "all_fields" else { return [] }
        guard let list = given.array else { throw invalid("`fields` must be an array of objects") }
        return try list.compactMap { field in
            if let path = field.string, !path.isEmpty { return TextIndexField(path) }
            guard let path = field["name"]?.string, !path.isEmpty, let type = field["type"]?.string,
                ["string", "number", "boolean"].contains(type)
            else { throw invalid("a field is {\"name\": …, \"type\": \"string\", \"number\" or \"boolean\"}") }
            return type == "string" ? TextIndexField(path) : nil
        }
    }

    /// The index's tokenizer, of which there is only one: the analyzer of the default field if it is named,
    /// otherwise that of the fields. By default CouchDB writes `keyword` for the fields, which treats strings as
    /// exact values; if there is a default field, `standard` is used instead.
    private static func tokenizer(
        _ ofDefault: JSONValue?, _ ofFields: JSONValue?, _ hasDefault: Bool
    ) throws -> TextTokenizer {
        let fields = try ofFields.map(tokenizer)
        if hasDefault, let ofDefault { return try tokenizer(ofDefault) }
        guard let fields, !hasDefault || ofFields != "keyword" else { return .words }
        return fields
    }

    private static func tokenizer(_ analyzer: JSONValue) throws -> TextTokenizer {
        let name = analyzer.string ?? analyzer["name"]?.string ?? analyzer.description
        if let tokenizer = TextTokenizer(analyzer: name) { return tokenizer }
        throw invalid(
            "there is no analyzer \(name); those there are: \(TextTokenizer.analyzers.joined(separator: ", "))")
    }

    /// The search indexes in a design document's member `indexes`, without invalid ones.
    static func all(of indexes: JSONValue, _ id: DocumentID) -> [TextDefinition] {
        (indexes.object ?? JSONObject()).compactMap { member in
            member.value["index"].flatMap { try? TextDefinition($0, name: member.name, of: id) }
        }
    }

    /// The definition as CouchDB stores it: each member, with its default value, and the resulting analyzers.
    ///
    /// - Throws: ``QueryError`` with code `invalidIndex`, `invalidFieldsDefinition` or `invalidKey`; ``SelectorError``.
    static func stored(_ given: JSONValue) throws -> JSONValue {
        guard var rest = given.object else {
            throw QueryError(.invalidIndex, "Text indexes must be an object, not: \(ErlangText.text(of: given))")
        }
        func remove(_ name: String, _ standard: JSONValue) -> JSONValue {
            defer { rest[name] = nil }
            return rest[name] ?? standard
        }
        let empty = JSONValue.object(JSONObject())
        let (analyzer, standard) = (remove("default_analyzer", "keyword"), remove("default_field", empty))
        let filters = try ["partial_filter_selector", "selector"].map {
            try MangoSelector(filter: remove($0, empty)).normal
        }
        let fields = try storedFields(remove("fields", []))
        let counts = remove("index_array_lengths", true)
        if let member = rest.first {
            throw QueryError(.invalidKey, "Invalid key \(member.name) for this request.")
        }
        guard counts.bool != nil else {
            throw QueryError(.invalidIndex, "`index_array_lengths` must be true or false, not: \(counts)")
        }
        let index: JSONValue = [
            "default_analyzer": analyzer, "default_field": standard, "partial_filter_selector": filters[0],
            "selector": filters[1], "fields": fields, "index_array_lengths": counts,
        ]
        return ["index": index, "analyzer": analyzers(analyzer, standard)]
    }

    private static func storedFields(_ fields: JSONValue) throws -> JSONValue {
        if fields == [] || fields == "all_fields" { return "all_fields" }
        let areFields = (fields.array ?? []).allSatisfy { field in
            field.object?.count == 2 && field["name"]?.string?.isEmpty == false
                && ["string", "number", "boolean"].contains(field["type"]?.string)
        }
        guard fields.array != nil, areFields else {
            throw QueryError(
                .invalidFieldsDefinition,
                """
                Text Index field definitions must be of the form {"name": "non-empty fieldname", "type": \
                "boolean,number, or string"}. Def: \(fields)
                """)
        }
        return fields
    }

    private static func analyzers(_ analyzer: JSONValue, _ standard: JSONValue) -> JSONValue {
        guard standard.bool ?? standard["enabled"]?.bool ?? true else { return "keyword" }
        return [
            "name": "perfield", "default": analyzer, "fields": ["$default": standard["analyzer"] ?? "standard"],
        ]
    }

    /// The definition as `_index` lists it.
    var shown: JSONValue {
        var shown: [(String, JSONValue)] = []
        for member in definition.object ?? JSONObject() {
            switch member.name {
            case "fields":
                let fields = (member.value.array ?? []).map { field -> JSONValue in
                    guard let name = field["name"]?.string, let type = field["type"] else { return field }
                    return .object(JSONObject([(name, type)]))
                }
                shown.append(("fields", .array(fields)))
            case "partial_filter_selector" where member.value.object?.isEmpty == true: break
            default: shown.append((member.name, member.value))
            }
        }
        return .object(JSONObject(shown))
    }
}
