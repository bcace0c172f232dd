internal import RevisionTree
internal import SettleDatabase
internal import SettleScripting

/// Functions that make or change a document as they see fit, and answer what they like.
enum UpdateEndpoints {
    /// `POST` and `PUT /{db}/_design/{design}/_update/{function}` and `…/{doc}`
    static let update: Endpoint = { context in
        guard let scripts = context.server.scripts else {
            throw HTTPError.notImplemented("this server runs no scripts")
        }
        let database = try context.database()
        let design = try DesignDocuments.document(context.parameter("design"), of: database)
        let path = context.parameter("what").split(separator: "/", maxSplits: 1).map(String.init)
        guard let name = path.first else { throw HTTPError.missing }
        try design.require("updates", name)
        let id = path.dropFirst().first
        let found = try id.flatMap { id in
            do { return try DocumentLookup(database: database).winner(DocumentID(unchecked: id)) } catch let error
                as HTTPError
                where error.status == 404
            { return nil }
        }
        let document = try found.map { found in
            var options = DocumentOptions()
            options.hasRevisions = true
            return try DocumentPrinter(database: database, options: options)
                .print(found.revision, found.content, of: found.record, hasMeta: false).bytes
        }
        let request = try ScriptRequestObject.json(context, id: id, body: context.body())
        let answers = try scripts.pool.run(.update(document, by: name, request: request.utf8, of: design.source))
        guard let answer = answers.first, let parts = try JSON(utf8: answer).array, parts.count == 2,
            let response = parts[1].object
        else { throw HTTPError(500, "render_error", "undefined response from update function") }
        guard parts[0].object != nil else { return try made(response, status: 200, nil) }
        var new = try WireDocument(parts[0].utf8, limit: context.server.options.largestDocument)
        let newID = try new.complete()
        let revision = try DocumentWriter(database, context).edit(new, id: newID)
        return try made(response, status: 201, (newID.string, revision))
    }

    /// The answer a function gives, and what was written.
    private static func made(
        _ response: JSONObject, status: Int, _ written: (id: String, revision: String)?
    ) throws -> HTTPResponse {
        var headers = HTTPHeaders()
        let body: [UInt8]
        if let json = response["json"] {
            headers["Content-Type"] = "application/json"
            body = WireJSON.bytes(json)
        } else if let text = response["base64"]?.string {
            guard let bytes = Base64.decode(text.utf8) else { throw HTTPError(500, "render_error", "base64 is none") }
            body = bytes
        } else {
            body = Array((response["body"]?.string ?? "").utf8)
        }
        if headers["Content-Type"] == nil { headers["Content-Type"] = "text/html; charset=utf-8" }
        for header in response["headers"]?.object ?? JSONObject() {
            let value = header.value.string ?? header.value.description
            // A line's end in a header would begin another.
            guard !(header.name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw HTTPError(500, "render_error", "a header has characters that may not be in one")
            }
            headers[header.name] = value
        }
        if let written {
            headers["X-Couch-Update-NewRev"] = written.revision
            headers["X-Couch-Id"] = written.id
        }
        let code = response["code"]?.int ?? status
        return HTTPResponse(status: (100...599).contains(code) ? code : status, headers: headers, body: .bytes(body))
    }
}
