public import SettleCore
internal import SettleCrypto
public import SettleDatabase
internal import SettlePlatform

/// An index that selector queries may use.
///
/// Its definition is part of a design document, and so replicates with it. Its content is stored beside the database
/// and updated automatically: an index has a row for each document that has all of its fields and matches its filter,
/// if it has one. A text index has the words of the fields, and answers `$text` queries.
public struct QueryIndex: Sendable, Hashable {
    /// The id of the design document that defines it; `nil` for the list of all documents by id, which always exists
    /// and is named `_all_docs`.
    public let designDocument: DocumentID?
    /// The name, unique in the design document.
    public let name: String
    /// The members it is ordered by; empty for a text index.
    public let fields: [SortField]
    /// The searched fields of a text index; `nil` for an index of members.
    public let search: TextIndex?
    /// The selector of documents in it; `nil` for all that have the fields.
    public let partialFilter: MangoSelector?
    /// The definition as it is listed.
    package let definition: JSONValue
    /// Whether it was declared partitioned.
    package let isPartitioned: Bool
    /// The name of the file with its rows, a hash of everything that they depend on: indexes with equal rows share
    /// it.
    package let fileName: String

    /// The list of all documents by id.
    package static let allDocuments = QueryIndex(
        designDocument: nil, name: "_all_docs", fields: ["_id"], search: nil, partialFilter: nil,
        definition: ["fields": [["_id": "asc"]]], isPartitioned: false)

    private init(
        designDocument: DocumentID?, name: String, fields: [SortField], search: TextIndex?,
        partialFilter: MangoSelector?,
        definition: JSONValue, isPartitioned: Bool
    ) {
        self.designDocument = designDocument
        self.name = name
        self.fields = fields
        self.search = search
        self.partialFilter = partialFilter
        self.definition = definition
        self.isPartitioned = isPartitioned
        fileName = search?.fileName ?? Self.fileName(fields.map(\.path), partialFilter)
    }

    /// Makes a text index.
    init(_ text: TextDefinition, isPartitioned: Bool) {
        self.init(
            designDocument: text.designDocument, name: text.index.name, fields: [], search: text.index,
            partialFilter: text.index.filter, definition: text.shown, isPartitioned: isPartitioned)
    }

    /// Parses one of a design document's views; `nil` for JSON that is not an index.
    ///
    ///     {"map": {"fields": {"age": "asc"}, "partial_filter_selector": {}}, "reduce": "_count", "options": {"def": …}}
    init?(_ view: JSONValue, name: String, of designDocument: DocumentID, isPartitioned: Bool) {
        guard let map = view["map"]?.object, view["options"]?.object != nil, let fields = map["fields"]?.object else {
            return nil
        }
        var shown: [(String, JSONValue)] = []
        var filter: MangoSelector?
        for member in map {
            switch member.name {
            case "fields":
                shown.append(("fields", .array(fields.map { .object(JSONObject([($0.name, $0.value)])) })))
            case "partial_filter_selector", "selector":
                let isEmpty = member.value.object?.isEmpty == true
                if !isEmpty || member.name == "selector" { shown.append((member.name, member.value)) }
                // The old name is used only if the new one is missing.
                guard !isEmpty, member.name != "selector" || map["partial_filter_selector"] == nil else { continue }
                guard let selector = try? MangoSelector(filter: member.value) else { return nil }
                filter = selector
            default: shown.append((member.name, member.value))
            }
        }
        self.init(
            designDocument: designDocument, name: name,
            fields: fields.map { SortField(path: $0.name, isDescending: $0.value == "desc") }, search: nil,
            partialFilter: filter, definition: .object(JSONObject(shown)), isPartitioned: isPartitioned)
    }

    /// Parses one of a design document's views for queries as a view; `nil` if its rows differ from those of `_find`:
    /// in raw order, with another reduce function than `_count`, or with another filter.
    package init?(counting view: JSONObject.Member, of designDocument: DocumentID) {
        let (map, reduce) = (view.value["map"], view.value["reduce"]?.string)
        guard view.value["options"]?["collation"] != "raw", reduce == nil || reduce == "_count",
            map?["selector"] == nil || map?["partial_filter_selector"] == nil
        else { return nil }
        self.init(view.value, name: view.name, of: designDocument, isPartitioned: false)
    }

    /// Whether it is the list of all documents.
    package var isAllDocuments: Bool { designDocument == nil }

    /// The members it is ordered by.
    var columns: [String] { fields.map(\.path) }

    /// Whether its rows contain these members of a document; those of the list of all documents contain none.
    package func has(_ paths: [String]) -> Bool {
        let there = (columns + ["_id"]).map { Array($0.utf8) }
        return !isAllDocuments && search == nil && paths.allSatisfy { there.contains(Array($0.utf8)) }
    }

    private static func fileName(_ columns: [String], _ filter: MangoSelector?) -> String {
        let filter = filter?.normal ?? .null
        let text = JSONValue.array([.array(columns.map { .string($0) }), filter, .string(Collation.version)]).utf8
        let hash = SHA256()
        text.withUnsafeBytes { hash.update($0) }
        return QueryIndexes.filePrefix
            + Hexadecimal.encode(hash.finish().prefix(16))
    }

    /// Whether one index precedes another in CouchDB's list.
    package static func isBefore(_ left: QueryIndex, _ right: QueryIndex) -> Bool {
        let documents = (left.designDocument?.string ?? "", right.designDocument?.string ?? "")
        if !documents.0.utf8.elementsEqual(documents.1.utf8) {
            return documents.0.utf8.lexicographicallyPrecedes(documents.1.utf8)
        }
        if !left.name.utf8.elementsEqual(right.name.utf8) {
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return left.search == nil && right.search != nil
    }
}
