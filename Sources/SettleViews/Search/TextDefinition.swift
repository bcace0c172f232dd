package import RevisionTree
package import SettleDatabase

/// Search indexes that design documents define, in the form of CouchDB's and Cloudant's text indexes.
///
///     {"language": "query", "indexes": {"books": {
///         "index": {"default_field": {"enabled": true, "analyzer": "english"},
///                   "fields": [{"name": "title", "type": "string"}], "partial_filter_selector": {}},
///         "analyzer": …}}}
///
/// What is in `analyzer` beside the index follows from the rest and is not read.
package struct TextDefinition: Sendable {
    /// The id of the design document.
    package let designDocument: DocumentID
    /// What it defines.
    package let index: TextIndex
    /// The definition as it was given.
    package let definition: JSON

    /// Reads one of a design document's indexes.
    ///
    /// - Parameters:
    ///   - definition: What stands under `index`.
    ///   - name: The name.
    ///   - designDocument: The design document's id.
    /// - Throws: ``DatabaseError`` with code `invalid`, which names the member that can't be used.
    package init(_ definition: JSON, name: String, of designDocument: DocumentID) throws {
        self.designDocument = designDocument
        self.definition = definition
        guard let members = definition.object else { throw Self.invalid("the definition must be an object") }
        var hasDefault = true
        var analyzer: JSON = "standard"
        switch members["default_field"] {
        case .bool(let isEnabled): hasDefault = isEnabled
        case .object(let options):
            hasDefault = options["enabled"] != false
            analyzer = options["analyzer"] ?? analyzer
        case nil: break
        default: throw Self.invalid("`default_field` must be an object or a boolean")
        }
        let fields = try Self.fields(members["fields"])
        guard hasDefault || !fields.isEmpty else {
            throw Self.invalid("without `default_field` there must be `fields` of type string")
        }
        var filter: Selector?
        if let given = members["partial_filter_selector"] ?? members["selector"], given.object?.isEmpty != true {
            do { filter = try Selector(given) } catch { throw Self.invalid("the filter can't be read: \(error)") }
        }
        index = TextIndex(
            name: name, fields: fields, tokenizer: try Self.tokenizer(analyzer), hasDefaultColumn: hasDefault,
            filter: filter, isDesigned: true)
    }

    private static func invalid(_ message: String) -> DatabaseError {
        DatabaseError(.invalid, "invalid text index: \(message)")
    }

    /// The fields of type string; others are answered by the documents themselves.
    private static func fields(_ given: JSON?) throws -> [TextField] {
        guard let given, given != "all_fields" else { return [] }
        guard let list = given.array else { throw invalid("`fields` must be an array of objects") }
        return try list.compactMap { field in
            if let path = field.string, !path.isEmpty { return TextField(path) }
            guard let path = field["name"]?.string, !path.isEmpty, let type = field["type"]?.string,
                ["string", "number", "boolean"].contains(type)
            else { throw invalid("a field is {\"name\": …, \"type\": \"string\", \"number\" or \"boolean\"}") }
            return type == "string" ? TextField(path) : nil
        }
    }

    private static func tokenizer(_ analyzer: JSON) throws -> TextTokenizer {
        let name = analyzer.string ?? analyzer["name"]?.string ?? analyzer.description
        if let tokenizer = TextTokenizer(analyzer: name) { return tokenizer }
        throw invalid(
            "there is no analyzer \(name); those there are: \(TextTokenizer.analyzers.joined(separator: ", "))")
    }

    /// The search indexes that a design document defines; those that can't be used are left out.
    package static func all(of body: JSON, _ id: DocumentID) -> [TextDefinition] {
        guard body["language"] == "query" else { return [] }
        return (body["indexes"]?.object ?? JSONObject()).compactMap { member in
            member.value["index"].flatMap { try? TextDefinition($0, name: member.name, of: id) }
        }
    }

    /// All that the design documents of a database define.
    ///
    /// - Throws: ``DatabaseError``.
    package static func all(in database: Database) throws -> [TextDefinition] {
        var found: [TextDefinition] = []
        let range = DocumentRange(
            from: DocumentID(unchecked: "_design/"), through: DocumentID(unchecked: "_design/\u{10FFFF}"))
        try database.forEachDocument(in: range) { document in
            if document["indexes"] != nil { found += all(of: try document.body().json, document.id) }
            return true
        }
        return found
    }

    /// The names of the files of all that are defined.
    package static func fileNames(of database: Database) throws -> Set<String> {
        Set(try all(in: database).map(\.index.fileName))
    }
}
