internal import Settle

/// An index as a list of them has it.
struct NamedIndex {
    /// The id of its design document; `nil` of the list of all documents.
    let designDocument: String?
    let name: String
    /// `json`, `text` or `special`.
    let type: String
    /// What it is ordered by, with the direction where that is not the usual one.
    let fields: [(path: String, isDescending: Bool)]
    /// Which documents are in it; `nil` for all that have the fields.
    let filter: JSONValue?
    let rows: Int?
    let size: Int?
    let pending: Int?
    /// The line of the list.
    let json: JSONValue

    init(_ json: JSONValue) {
        self.json = json
        designDocument = json["ddoc"]?.string
        name = json["name"]?.string ?? ""
        type = json["type"]?.string ?? ""
        let definition = json["def"]
        let list = definition?["fields"]?.array ?? []
        fields = list.flatMap { field -> [(String, Bool)] in
            if let path = field.string { return [(path, false)] }
            return (field.object ?? JSONObject()).map { ($0.name, $0.value == "desc") }
        }
        let filter = definition?["partial_filter_selector"] ?? definition?["selector"]
        self.filter = filter?.object?.isEmpty == true ? nil : filter
        (rows, size, pending) = (json["rows"]?.int, json["size"]?.int, json["pending"]?.int)
    }

    /// Whether this is the line of an index.
    func isSame(as index: QueryIndex) -> Bool {
        name == index.name && designDocument == index.designDocument?.string
            && type == (index.designDocument == nil ? "special" : index.search == nil ? "json" : "text")
    }

    /// The name of its design document without `_design/`.
    var designName: String { designDocument.map(ViewName.designName) ?? "" }

    /// What it is ordered by, for people: `age, -name`.
    var order: String {
        if type == "text", fields.isEmpty { return "all texts" }
        return fields.map { ($0.isDescending ? "-" : "") + $0.path }.joined(separator: ", ")
    }
}
