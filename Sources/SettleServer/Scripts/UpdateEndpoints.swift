internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleScripting

/// Update functions, which create or change a document and make the response.
enum UpdateEndpoints {
    /// `/{db}/_design/{design}/_update` without the name of a function.
    static let noFunction: Endpoint = .work { context in
        _ = try DesignDocuments.document(context.parameter("design"), of: context.database())
        throw HTTPError(404, "update_error", "Invalid path.")
    }

    /// `POST` and `PUT /{db}/_design/{design}/_update/{function}` and `…/{doc}`
    static let update: Endpoint = .work { context in
        guard let scripts = context.scripts else {
            throw HTTPError.notImplemented("this server runs no scripts")
        }
        let database = try context.database()
        let design = try DesignDocuments.document(context.parameter("design"), of: database)
        let path = context.parameter("what").split(separator: "/", maxSplits: 1).map(String.init)
        guard let name = path.first else { return try noFunction.answer(context) }
        try design.require("updates", name)
        let id = path.dropFirst().first
        let found = try id.flatMap { id in
            do { return try DocumentLookup(source: database).winner(DocumentID(unchecked: id)) } catch let error
                as HTTPError
                where error.status == 404
            { return nil }
        }
        let document = try found.map { found in
            var options = DocumentOptions()
            options.hasRevisions = true
            return try DocumentPrinter(source: database, options: options)
                .print(found.revision, found.content, of: found.record, hasMeta: false).text.bytes
        }
        let request = try ScriptRequestObject.json(context, id: id, body: context.body())
        let answers = try scripts.pool.run(.update(document, by: name, request: request.utf8, of: design.source))
        guard let parts = try answers.first.map({ try JSONValue(utf8: $0) })?.array, parts.count == 2,
            let members = parts[1].object
        else { throw HTTPError(500, "render_error", "undefined response from update function") }
        // All errors of the answer are found before anything is written.
        let answer = try ScriptAnswer(members)
        if !answer.leftOut.isEmpty {
            context.options.log?.notice(
                "script",
                [
                    "database": context.parameter("db"),
                    "line":
                        "\(design.name)/_update/\(name): headers were left out: \(answer.leftOut.joined(separator: ", "))",
                ])
        }
        guard let made = parts[0].object else { return answer.response(nil) }
        // A function makes ids from `req.uuid`; a document without an id is an error, as in CouchDB.
        guard made["_id"] != nil else { throw HTTPError.illegalID("Document id must not be empty") }
        var new = try WireDocument(parts[0].utf8, limit: context.largestDocument)
        let newID = try new.complete()
        let revision = try DocumentWriter(database, context).edit(new, id: newID)
        return answer.response((newID.string, revision))
    }
}

// MARK: - ScriptAnswer

/// The response that an update function makes.
///
///     {"code": 200, "headers": {"Content-Type": "text/plain"}, "body": "…"}      or "json", or "base64"
///
/// The whole response is checked before anything is written.
struct ScriptAnswer {
    /// The status; `nil` if the function leaves the choice to the server.
    private let status: Int?
    private let headers: HTTPHeaders
    private let body: [UInt8]
    /// The names of headers that were left out, because only the server sets them.
    let leftOut: [String]

    /// Parses a response.
    ///
    /// - Throws: ``HTTPError`` with status 500 for a response that can't be sent.
    init(_ response: JSONObject) throws {
        status = try response["code"].map { code in
            guard let status = code.int, 200...599 ~= status else {
                throw Self.error("the code must be a number from 200 to 599, and is \(code)")
            }
            return status
        }
        var headers = HTTPHeaders()
        var leftOut: [String] = []
        if let json = response["json"] {
            headers["Content-Type"] = "application/json"
            body = WireJSON.bytes(json)
        } else if let text = response["base64"]?.string {
            guard let bytes = Base64.decode(text.utf8) else { throw Self.error("the member base64 is not base64") }
            body = bytes
        } else {
            body = Array((response["body"]?.string ?? "").utf8)
        }
        if headers["Content-Type"] == nil { headers["Content-Type"] = "text/html; charset=utf-8" }
        for header in response["headers"]?.object ?? JSONObject() {
            let value = header.value.string ?? header.value.description
            // A line break in a value would begin another header.
            guard !(header.name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw Self.error("a header has characters that may not be in one")
            }
            if Self.mayBeSet(header.name) { headers[header.name] = value } else { leftOut.append(header.name) }
        }
        (self.headers, self.leftOut) = (headers, leftOut)
    }

    /// The HTTP response.
    ///
    /// - Parameter written: The written document, if any.
    /// - Returns: The response, without a body if its status allows none.
    func response(_ written: (id: String, revision: String)?) -> HTTPResponse {
        var headers = headers
        if let written {
            headers["X-Couch-Update-NewRev"] = written.revision
            headers["X-Couch-Id"] = written.id
        }
        let status = status ?? (written == nil ? 200 : 201)
        return HTTPResponse(
            status: status, headers: headers, body: .bytes([204, 205, 304].contains(status) ? [] : body))
    }

    /// The headers that describe a body and its caching.
    private static let allowed: Set = [
        "age", "allow", "cache-control", "content-disposition", "content-language", "content-location", "content-type",
        "etag", "expires", "last-modified", "link", "location", "pragma", "retry-after", "vary",
    ]

    /// The names and prefixes with `X-` that have a meaning for browsers, proxies or clients of CouchDB.
    private static let reserved = [
        "x-accel-", "x-content-", "x-couch", "x-dns-", "x-frame-", "x-lighttpd-", "x-litespeed-", "x-permitted-",
        "x-reproxy-", "x-sendfile", "x-ua-", "x-xss-",
    ]

    private static func mayBeSet(_ name: String) -> Bool {
        let name = name.lowercased()
        return allowed.contains(name) || name.hasPrefix("x-") && !reserved.contains { name.hasPrefix($0) }
    }

    private static func error(_ reason: String) -> HTTPError { HTTPError(500, "render_error", reason) }
}
