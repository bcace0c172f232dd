internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A request on its way to an endpoint, with all an endpoint may need.
struct RequestContext: Sendable {
    /// The server.
    let server: ServerState
    /// The request.
    let request: HTTPRequest
    /// What the words in braces of the route's path stand for.
    let parameters: PathPattern.Parameters
    /// Who asks.
    let user: User
    /// The parameters of the query.
    var query: QueryParameters

    /// A word of the path.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// The database the path names.
    ///
    /// - Throws: ``HTTPError`` with status 404.
    func database() throws -> Database { try server.databases.open(parameter("db")) }

    /// The largest body a document may have, in bytes.
    var largestDocument: Int { server.live.withLock(\.largestDocument) }

    /// The beginning of this server's URLs.
    var origin: String {
        (server.options.certificate == nil ? "http://" : "https://")
            + (request.headers["X-Forwarded-Host"] ?? request.headers["Host"] ?? "localhost")
    }

    /// A URL of this server, as the client knows it.
    func location(_ segments: String...) -> String {
        origin + "/" + segments.map { PercentCoding.encode($0, keeping: .couchDB) }.joined(separator: "/")
    }

    /// The whole body, expanded if it is compressed.
    func body(limit: Int? = nil) throws -> [UInt8] {
        let limit = limit ?? server.options.largestBody
        let encoding = request.headers["Content-Encoding"]?.trimmingBlanks() ?? "identity"
        guard encoding == "identity" || encoding == "gzip" else {
            throw HTTPError.contentType("\(encoding) is not a supported content encoding.")
        }
        do {
            let bytes = try request.body.readAll(limit: limit)
            return encoding == "gzip" ? try Compression.expand(bytes, limit: limit) : bytes
        } catch HTTPRequest.BodyError.tooLarge { throw HTTPError.bodyTooLarge(limit) }
    }

    /// The body as a value.
    ///
    /// - Throws: ``HTTPError`` with status 400 when it is no JSON.
    func json() throws -> JSON { try JSON(utf8: body()) }

    /// The body as an object's members.
    func jsonObject() throws -> JSONObject {
        guard let object = try json().object else { throw HTTPError.badRequest("Request body must be a JSON object") }
        return object
    }

    /// Where the members of a body stand, which must be an object.
    func outline(of bytes: [UInt8], elementsOf name: String) throws -> JSONOutline {
        do { return try JSONOutline(bytes, elementsOf: name) } catch {
            guard error.code == .notAnObject else { throw error }
            _ = try JSON(utf8: bytes)
            throw HTTPError.badRequest("Request body must be a JSON object")
        }
    }

    /// Sees that the body is said to be of a type; capitals and blanks count.
    func requireContentType(_ type: String = "application/json") throws {
        let given = request.headers["Content-Type"]?.split(separator: ";").first
        guard let given, given.utf8.elementsEqual(type.utf8) else {
            throw HTTPError.contentType("Content-Type must be \(type)")
        }
    }
}
