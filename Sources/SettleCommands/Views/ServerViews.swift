internal import Settle

/// Views of a database at a server, which builds and keeps them.
struct ServerViews: ViewKeeper {
    let remote: RemoteDatabase

    func forEachRow(
        of name: ViewName, _ query: HTTPQuery, keys: [JSON]?, _ body: ([UInt8]) throws -> Bool
    ) throws {
        let path = HTTPPath(segments: ["_design", name.design, "_view", name.view])
        let response = try remote.streamPatiently(path, query: query, body: keys.map { ["keys": .array($0)] })
        try remote.forEachElement("rows", of: response, body)
    }

    /// One view that is asked has all of a design document's built.
    func build(_ design: String) throws {
        let document = try remote.json("GET", .document(DocumentID(unchecked: "_design/" + design)))
        let views = document["views"]?.object ?? JSONObject()
        guard let view = views.first(where: { $0.name != "lib" }) else { return }
        var query: HTTPQuery = ["limit": "0"]
        if view.value["reduce"] != nil { query["reduce"] = "false" }
        let response = try remote.streamPatiently(
            HTTPPath(segments: ["_design", design, "_view", view.name]), query: query)
        while try remote.next(of: response) != nil {}
    }

    func info(_ design: String) throws -> JSON {
        try remote.json("GET", HTTPPath(segments: ["_design", design, "_info"]))["view_index"] ?? .null
    }
}

extension Invocation {
    /// Lends who keeps the database's views to a closure.
    func withViews<Result>(_ body: (any ViewKeeper) throws -> Result) throws -> Result {
        if let remote = try remote() { return try body(ServerViews(remote: remote)) }
        return try withDatabase { try body(FolderViews($0, console)) }
    }
}
