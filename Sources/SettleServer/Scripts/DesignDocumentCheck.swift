internal import SettleCore
internal import SettleDatabase
internal import SettleScripting
internal import SettleViews

/// Validates design documents before they are stored: their form, and whether the functions of their views compile.
/// Other functions are stored unchecked, as in CouchDB.
struct DesignDocumentCheck {
    let scripts: Scripts?
    let database: Database

    /// - Throws: ``HTTPError`` for an invalid design document.
    func check(_ document: WireDocument) throws {
        guard !document.isDeleted, let members = document.body.json.object else { return }
        try Self.check(members)
        guard let scripts, (members["language"]?.string ?? "javascript") == "javascript" else { return }
        try compile(members["views"]?.object ?? JSONObject(), by: scripts)
    }

    /// Compiles the functions of views.
    private func compile(_ views: JSONObject, by scripts: Scripts) throws {
        var functions: [(kind: String, view: String, source: String)] = []
        for view in views where view.name != "lib" {
            if let map = view.value["map"]?.string { functions.append(("map", view.name, map)) }
            if let reduce = view.value["reduce"]?.string, !reduce.hasPrefix("_") {
                functions.append(("reduce", view.name, reduce))
            }
        }
        guard !functions.isEmpty else { return }
        let source = ScriptSource(
            owner: try DesignDocuments.owner(of: database), key: "check", document: Array("{}".utf8))
        do { _ = try scripts.pool.run(.check(functions, in: source)) } catch let error as ScriptError {
            throw HTTPError(error.name == "compilation_error" ? 400 : 500, error.name, error.reason)
        }
    }

    /// Validates the form.
    static func check(_ members: JSONObject) throws {
        for name in ["language", "validate_doc_update"] {
            try require(members[name], name, "string") { $0.string != nil }
        }
        for name in ["options", "views", "filters", "updates", "lists", "shows"] {
            try require(members[name], name, "object") { $0.object != nil }
        }
        try require(members["rewrites"], "rewrites", "array or string") { $0.string != nil || $0.array != nil }
        for name in ["include_design", "local_seq", "partitioned"] {
            try require(members["options"]?[name], "options.\(name)", "boolean") { $0.bool != nil }
        }
        for name in ["filters", "lists", "shows", "updates"] {
            for function in members[name]?.object ?? JSONObject() {
                try require(function.value, "\(name).\(function.name)", "string or object") {
                    $0.string != nil || $0.object != nil
                }
            }
        }
        // Views are objects in the language `query`, and text in other languages.
        let isQuery = members["language"] == "query"
        for view in members["views"]?.object ?? JSONObject() {
            try require(view.value, "views.\(view.name)", "object") { $0.object != nil }
            if view.name != "lib" { try check(view: view.value, view.name, isQuery: isQuery) }
        }
    }

    private static func check(view: JSONValue, _ name: String, isQuery: Bool) throws {
        guard let map = view["map"] else { throw invalid("View `\(name)` must contain map function") }
        try require(map, "views.\(name).map", isQuery ? "object" : "string") {
            isQuery ? $0.object != nil : $0.string != nil
        }
        guard let reduce = view["reduce"] else { return }
        try require(reduce, "views.\(name).reduce", "string") { $0.string != nil }
        guard let text = reduce.string, text.hasPrefix("_") else { return }
        if let problem = BuiltInReducer.problem(with: text) { throw invalid(problem) }
    }

    private static func require(
        _ value: JSONValue?, _ name: String, _ type: String, _ isRight: (JSONValue) -> Bool
    ) throws {
        guard let value, !isRight(value) else { return }
        throw invalid("`\(name)` field must have \(type) type")
    }

    private static func invalid(_ reason: String) -> HTTPError { HTTPError(400, "invalid_design_doc", reason) }
}
