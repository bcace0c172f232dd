public import RevisionTree
public import SettleDatabase
internal import SettlePlatform

/// An index that queries by selector may use.
///
/// Its definition is a part of a design document, and so replicates with it. What is in it lies beside the database and
/// follows it: an index has a row for each document that has all of its fields, and that its filter matches if it has one.
/// An index of texts has the words in them, and answers queries that ask for words by `$text`.
public struct QueryIndex: Sendable, Hashable {
    /// The id of the design document that defines it; `nil` for the list of all documents by their ids, which is always
    /// there and is named `_all_docs`.
    public let designDocument: DocumentID?
    /// The name, which no other index of the design document has.
    public let name: String
    /// The members it is ordered by; none of an index of texts.
    public let fields: [SortField]
    /// What is searched, of an index of texts; `nil` of one of members.
    public let search: TextIndex?
    /// Which documents are in it; `nil` for all that have the fields.
    public let partialFilter: Selector?
    /// The definition as it is listed.
    package let definition: JSON
    /// Whether it was said to be of partitions.
    package let isPartitioned: Bool
    /// The name of the file with its rows, which says what they depend on: indexes of the same rows share it.
    package let fileName: String

    /// The documents by their ids.
    package static let allDocuments = QueryIndex(
        designDocument: nil, name: "_all_docs", fields: ["_id"], search: nil, partialFilter: nil,
        definition: ["fields": [["_id": "asc"]]], isPartitioned: false)

    private init(
        designDocument: DocumentID?, name: String, fields: [SortField], search: TextIndex?, partialFilter: Selector?,
        definition: JSON, isPartitioned: Bool
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

    /// An index of texts.
    init(_ text: TextDefinition, isPartitioned: Bool) {
        self.init(
            designDocument: text.designDocument, name: text.index.name, fields: [], search: text.index,
            partialFilter: text.index.filter, definition: text.shown, isPartitioned: isPartitioned)
    }

    /// Reads one of a design document's views; `nil` for JSON that is not an index.
    ///
    ///     {"map": {"fields": {"age": "asc"}, "partial_filter_selector": {}}, "reduce": "_count", "options": {"def": …}}
    init?(_ view: JSON, name: String, of designDocument: DocumentID, isPartitioned: Bool) {
        guard let map = view["map"]?.object, view["options"]?.object != nil, let fields = map["fields"]?.object else {
            return nil
        }
        var shown: [(String, JSON)] = []
        var filter: Selector?
        for member in map {
            switch member.name {
            case "fields":
                shown.append(("fields", .array(fields.map { .object(JSONObject([($0.name, $0.value)])) })))
            case "partial_filter_selector", "selector":
                let isEmpty = member.value.object?.isEmpty == true
                if !isEmpty || member.name == "selector" { shown.append((member.name, member.value)) }
                // The old name counts only beside no new one.
                guard !isEmpty, member.name != "selector" || map["partial_filter_selector"] == nil else { continue }
                guard let selector = try? Selector(filter: member.value) else { return nil }
                filter = selector
            default: shown.append((member.name, member.value))
            }
        }
        self.init(
            designDocument: designDocument, name: name,
            fields: fields.map { SortField(path: $0.name, isDescending: $0.value == "desc") }, search: nil,
            partialFilter: filter, definition: .object(JSONObject(shown)), isPartitioned: isPartitioned)
    }

    /// Reads one of a design document's views that is asked as a view; `nil` where its rows are not those that `_find` uses: in raw
    /// order, reduced by something else than `_count`, or with another filter.
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

    /// Whether its rows tell these members of a document; those of the list of all documents tell none.
    package func has(_ paths: [String]) -> Bool {
        let there = (columns + ["_id"]).map { Array($0.utf8) }
        return !isAllDocuments && search == nil && paths.allSatisfy { there.contains(Array($0.utf8)) }
    }

    private static func fileName(_ columns: [String], _ filter: Selector?) -> String {
        let filter = filter?.normal ?? .null
        let text = JSON.array([.array(columns.map { .string($0) }), filter, .string(Collation.version)]).utf8
        let hash = SHA256()
        text.withUnsafeBytes { hash.update($0) }
        return QueryIndexes.filePrefix
            + Hexadecimal.encode(hash.finish().prefix(16))
    }

    /// Whether it stands before another in CouchDB's list.
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
