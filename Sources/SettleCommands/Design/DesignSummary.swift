internal import Settle

/// A summary of a design document, in one line.
struct DesignSummary {
    let id: DocumentID
    let revision: RevisionID?
    let language: String
    /// The names of the views, filters, update functions and indexes.
    let parts: [(noun: String, names: [String])]
    let isValidating: Bool

    init(_ document: Document) {
        id = document.id
        revision = document.revision
        language = document["language"]?.string ?? "javascript"
        isValidating = document["validate_doc_update"] != nil
        let kinds = [
            ("views", "view"), ("filters", "filter"), ("updates", "update function"), ("indexes", "text index"),
        ]
        parts = kinds.map { member, noun in
            (noun, (document[member]?.object ?? JSONObject()).names.filter { member != "views" || $0 != "lib" })
        }
    }

    /// The names of its functions, by kind.
    var rows: [(String, String)] {
        zip(["Views", "Filters", "Updates", "Text indexes"], parts).filter { !$1.names.isEmpty }
            .map { ($0, $1.names.joined(separator: ", ")) }
    }

    /// The summary as text.
    var text: String {
        var words = parts.filter { !$0.names.isEmpty }.map { part in
            part.noun == "text index" && part.names.count != 1
                ? "\(part.names.count) text indexes" : Quantity.of(part.names.count, part.noun)
        }
        if isValidating { words.append("validation") }
        if language != "javascript" { words.append(language) }
        return words.isEmpty ? "no functions" : words.joined(separator: ", ")
    }

    /// The summary as JSON.
    var json: JSONValue {
        var line: JSONValue = [
            "id": .string(id.string), "rev": .string(revision?.description ?? ""), "language": .string(language),
        ]
        for (name, part) in zip(["views", "filters", "updates", "indexes"], parts) {
            line[name] = .array(part.names.map { .string($0) })
        }
        line["validates"] = .bool(isValidating)
        return line
    }
}
