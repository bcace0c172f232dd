internal import Settle
internal import SettleHTTP
import SettleReplication

/// Views of design documents.
extension Client {
    /// Goes over the rows of a view.
    ///
    /// - Parameters:
    ///   - name: The view.
    ///   - query: The parameters of the request.
    ///   - keys: The keys of interest, where they are many.
    ///   - body: Is given each row as JSON text, and says whether to go on.
    /// - Throws: ``CommandError``, and what `body` throws.
    func forEachRow(
        of name: ViewName, _ query: HTTPQuery, keys: [JSONValue]?, _ body: ([UInt8]) throws -> Bool
    ) throws {
        let path = HTTPPath(segments: ["_design", name.design, "_view", name.view])
        let response: HTTPResponse
        do { response = try streamPatiently(path, query: query, body: keys.map { ["keys": .array($0)] }) } catch let
            error
            as CommandError where error.status == .notFound && !error.message.contains("database")
        {
            throw CommandError.notFound(
                "\(self.name) has no design document \"_design/\(name.design)\" with a view \"\(name.view)\"")
        }
        try forEachElement("rows", of: response, body)
    }

    /// Brings the views of a design document up to date, by asking each for no row.
    func buildViews(of design: String) throws {
        let document = try json("GET", .document(DocumentID(unchecked: "_design/" + design)))
        for view in document["views"]?.object ?? JSONObject() where view.name != "lib" {
            var query: HTTPQuery = ["limit": "0"]
            if view.value["reduce"] != nil { query["reduce"] = "false" }
            let response = try streamPatiently(
                HTTPPath(segments: ["_design", design, "_view", view.name]), query: query)
            let next = pieces(of: response)
            while try next() != nil {}
        }
    }

    /// What is known of the index of a design document's views: the members of CouchDB's `view_index`.
    func viewInfo(_ design: String) throws -> JSONValue {
        try json("GET", HTTPPath(segments: ["_design", design, "_info"]))["view_index"] ?? .null
    }
}

// MARK: - ViewName

/// Which view is meant: `design/view`, with or without `_design/` in front.
struct ViewName {
    /// The design document, without `_design/`.
    let design: String
    let view: String

    init(_ text: String) throws {
        let parts = Self.designName(text).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw CommandError.usage("\"\(text)\" names no view: give DESIGN/VIEW, such as shop/by-name", verb: "query")
        }
        (design, view) = (String(parts[0]), String(parts[1]).replacing("_view/", with: "", maxReplacements: 1))
    }

    /// The name of a design document without `_design/`.
    static func designName(_ text: String) -> String {
        text.hasPrefix("_design/") ? String(text.dropFirst("_design/".count)) : text
    }
}
