package import SettleCore
internal import SettleDatabase
package import SettleQuery

/// The definition of an index, and its representation in a design document.
///
///     {"language": "query", "views": {"by-age": {
///         "map": {"fields": {"age": "asc"}, "partial_filter_selector": {}}, "reduce": "_count",
///         "options": {"def": {"fields": ["age"]}}}}}
///
/// The format is CouchDB's, member by member, so that the same index has the same revision everywhere. A text index
/// is a member of `indexes` (see ``TextDefinition``).
package struct IndexDefinition: Sendable {
    /// The member of a design document that has indexes of a kind.
    package enum Kind: String, Sendable {
        /// An index of members.
        case fields = "views"
        /// A text index.
        case text = "indexes"
    }

    /// The kind of the index.
    let kind: Kind
    /// The value under the index's name in the design document.
    private let value: JSONValue
    private let isPartitioned: Bool?
    /// The name of the index.
    package let name: String
    /// The id of the design document.
    package let designDocument: DocumentID

    /// Creates a definition.
    ///
    /// - Parameters:
    ///   - fields: The members, all in one direction.
    ///   - filter: The selector of documents in it.
    ///   - given: The definition as it was given; by default the shortest form.
    ///   - name: The name; by default derived from the given definition.
    ///   - designDocument: The design document's name, with or without `_design/`.
    ///   - isPartitioned: The given option `partitioned`.
    ///   - copies: CouchDB's `w`, which enters derived names.
    /// - Throws: ``QueryError`` with code `mixedSort` or `invalidSortField`; ``SelectorError`` for a filter that an
    ///   index can't have, such as one with `$text`.
    package init(
        fields: [SortField], filter: MangoSelector? = nil, given: JSONValue? = nil, name: String? = nil,
        designDocument: String? = nil, isPartitioned: Bool? = nil, copies: Int = 2
    ) throws {
        if let field = fields.first(where: { $0.path.isEmpty }) {
            throw QueryError(.invalidSortField, "Invalid sort field: \(ErlangText.text(of: .string(field.path)))")
        }
        guard Set(fields.map(\.isDescending)).count < 2 else { throw Self.mixed }
        // A design document with another filter would define no index.
        if let filter { _ = try MangoSelector(filter: filter.normal) }
        let given = given ?? Self.plain(fields, filter)
        let map = JSONObject([
            ("fields", .object(JSONObject(fields.map { ($0.path, $0.isDescending ? "desc" : "asc") }))),
            ("partial_filter_selector", filter?.normal ?? .object(JSONObject())),
        ])
        self.init(
            .fields, ["map": .object(map), "reduce": "_count", "options": ["def": given]], given, "json", name,
            designDocument, isPartitioned, copies)
    }

    /// Creates the definition of a text index.
    ///
    /// - Parameters:
    ///   - text: The definition as it is given, without CouchDB's additions.
    ///   - name: The name; by default derived from the given definition.
    ///   - designDocument: The design document's name, with or without `_design/`.
    ///   - isPartitioned: The given option `partitioned`.
    ///   - copies: CouchDB's `w`, which enters derived names.
    /// - Throws: ``QueryError`` with code `invalidIndex`, which names the invalid member; ``SelectorError``.
    package init(
        text: JSONValue, name: String? = nil, designDocument: String? = nil, isPartitioned: Bool? = nil, copies: Int = 2
    ) throws {
        self.init(
            .text, try TextDefinition.stored(text), text, "text", name, designDocument, isPartitioned, copies)
        do {
            _ = try TextDefinition(value["index"] ?? .null, name: self.name, of: self.designDocument)
        } catch let error as DatabaseError { throw QueryError(.invalidIndex, error.message) }
    }

    private init(
        _ kind: Kind, _ value: JSONValue, _ given: JSONValue, _ type: String, _ name: String?,
        _ designDocument: String?,
        _ isPartitioned: Bool?, _ copies: Int
    ) {
        (self.kind, self.value, self.isPartitioned) = (kind, value, isPartitioned)
        let body = (try? DocumentBody(given)) ?? .empty
        let derived = {
            IndexName.derived(
                of: body, type: type, designDocument: designDocument, name: name, isPartitioned: isPartitioned,
                copies: Int32(clamping: copies))
        }
        self.name = name ?? derived()
        let document = designDocument ?? derived()
        self.designDocument = DocumentID(
            unchecked: document.hasPrefix("_design/") ? document : "_design/" + document)
    }

    /// Results can be sorted in only one direction.
    package static let mixed = QueryError(
        .mixedSort, "Sorts currently only support a single direction for all fields.")

    private static func plain(_ fields: [SortField], _ filter: MangoSelector?) -> JSONValue {
        let list = fields.map { field -> JSONValue in
            field.isDescending ? .object(JSONObject([(field.path, "desc")])) : .string(field.path)
        }
        var members: [(String, JSONValue)] = [("fields", .array(list))]
        if let filter { members.append(("partial_filter_selector", filter.json)) }
        return .object(JSONObject(members))
    }

    /// The members of a design document with this index added.
    ///
    /// - Parameter known: The current members; `nil` if the document is missing or deleted.
    /// - Returns: The new members, equal to the old ones if they contain the index already.
    /// - Throws: ``QueryError`` with code `invalidLanguage` for a design document in another language, or
    ///   `invalidPartitionedOption`.
    package func added(to known: JSONObject?) throws -> JSONObject {
        var document = known ?? ["language": "query"]
        try Self.checkLanguage(document)
        var members = document[kind.rawValue]?.object ?? JSONObject()
        members[name] = value
        document[kind.rawValue] = .object(members)
        let option = document["options"]?["partitioned"]?.bool
        if option != isPartitioned {
            guard known == nil, let isPartitioned else {
                guard known != nil else { return document }
                throw QueryError(
                    .invalidPartitionedOption,
                    "Requested partitioned option does not match existing value on design document \(designDocument)")
            }
            document["options"] = ["partitioned": .bool(isPartitioned)]
        }
        return document
    }

    /// The members of a design document without some indexes; `nil` if none are left and it should be deleted.
    ///
    /// - Parameters:
    ///   - indexes: The indexes.
    ///   - members: The members.
    /// - Returns: The remaining members.
    /// - Throws: ``QueryError`` with code `invalidLanguage`.
    package static func removed(_ indexes: [QueryIndex], from members: JSONObject) throws -> JSONObject? {
        try checkLanguage(members)
        var document = members
        for index in indexes {
            guard var rest = document[index.kind.rawValue]?.object else { continue }
            rest[index.name] = nil
            document[index.kind.rawValue] = rest.isEmpty ? nil : .object(rest)
        }
        return document == ["language": "query"] ? nil : document
    }

    private static func checkLanguage(_ members: JSONObject) throws {
        guard members["language"] != "query" else { return }
        let found = members["language"].map {
            "{\(ErlangText.text(of: "language")),\(ErlangText.text(of: $0))}"
        }
        throw QueryError(
            .invalidLanguage, "Existing design doc has an invalid language: \(found ?? "false")")
    }
}

extension QueryIndex {
    /// The kind of the index.
    package var kind: IndexDefinition.Kind { search == nil ? .fields : .text }
}
