internal import SettleCore
internal import SettleDatabase

/// One side of a replication in CouchDB's format: an address, or an object with an address, headers and credentials.
///
/// Credentials in `auth` take precedence, then those of the address, then those of the header `Authorization`.
package struct ReplicationEndpoint: Sendable {
    /// The address, without user and password; `nil` for the database of this process that has the name.
    package let url: HTTPURL?
    /// The address with the user's name as it was written.
    let told: HTTPURL?
    /// The name of a database, if there is no address.
    package let name: String
    /// The credentials.
    package var credentials: ReplicationCredentials?
    /// Headers sent with each request.
    package let headers: TransportHeaders

    init(_ json: JSONValue?, _ side: String) throws(ReplicationDocumentError) {
        guard let json, !json.isNull else { throw ReplicationDocumentError("Missing replicator database: `\(side)`") }
        let object = json.object ?? JSONObject()
        guard let text = json.string ?? object["url"]?.string else {
            throw ReplicationDocumentError("`\(side)` has an invalid url")
        }
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
            if text.contains("://") || json.string == nil || text.isEmpty {
                throw ReplicationDocumentError("`\(side)` has an invalid url")
            }
            (url, told, name, credentials, headers) = (nil, nil, text, nil, TransportHeaders())
            return
        }
        let url: HTTPURL
        do { url = try HTTPURL(text) } catch { throw ReplicationDocumentError("`\(side)` has an invalid url") }
        guard let name = url.databaseName else {
            throw ReplicationDocumentError("`\(side)` names a server and no database")
        }
        var headers = try Self.headers(object["headers"], side)
        let fromHeader = Self.credentials(of: headers["Authorization"])
        if fromHeader != nil { headers["Authorization"] = nil }
        let fromURL = url.user.map { ReplicationCredentials.basic(user: $0, password: url.password ?? "") }
        credentials = try Self.given(object["auth"], side) ?? fromURL ?? fromHeader
        if fromURL != nil || object["auth"] != nil { headers["Authorization"] = nil }
        (self.url, told, self.name, self.headers) = (url.withoutCredentials, url, name, headers)
    }

    /// Whether there is a password.
    var hasPassword: Bool {
        switch credentials?.kind {
        case .basic(_, let password): !password.isEmpty
        case .oauth1: true
        default: false
        }
    }

    /// The address without credentials, with CouchDB's trailing slash. Text that is not an address may be a secret, so
    /// only a valid database name is shown.
    package var shown: String { url.map { "\($0)/" } ?? (DocumentStore.isName(name) ? name : "") }

    /// Why the side can't be reached over HTTP, without secrets; `nil` for an address.
    package var problem: String? {
        guard url == nil else { return nil }
        let given = DocumentStore.isName(name) ? "\"\(name)\"" : "what is given for a side"
        return "\(given) is no address: give the whole URL, also of a database of this server"
    }

    /// A peer that is reached over HTTP.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` if there is no address.
    package func peer(_ client: any HTTPTransport) throws -> CouchDBPeer {
        guard let url else { throw PeerError(.badRequest, problem ?? "", status: 400) }
        return try CouchDBPeer(
            url, credentials: credentials ?? ReplicationCredentials.none,
            client: HeaderClient(client, headers, for: url))
    }

    /// Creates the database with query parameters, unless it exists.
    ///
    /// - Throws: ``PeerError``.
    package func create(_ parameters: [(name: String, value: String)], _ client: any HTTPTransport) async throws {
        guard let url else { throw PeerError(.badRequest, problem ?? "", status: 400) }
        let connection = CouchDBConnection(
            database: url, client: HeaderClient(client, headers, for: url),
            credentials: credentials ?? ReplicationCredentials.none
        )
        var query = HTTPQuery()
        for (name, value) in parameters { query[name] = value }
        do { _ = try await connection.json("PUT", "", query: query) } catch let error as CouchDBError
            where error.status == 412
        {
            return
        } catch { throw PeerError(error, at: url.description) }
    }

    private static func headers(
        _ json: JSONValue?, _ side: String
    ) throws(ReplicationDocumentError) -> TransportHeaders {
        var headers = TransportHeaders()
        guard let json, !json.isNull else { return headers }
        guard let object = json.object else {
            throw ReplicationDocumentError("the headers of `\(side)` must be an object")
        }
        for member in object {
            guard let value = member.value.string else {
                throw ReplicationDocumentError("the headers of `\(side)` must be strings")
            }
            headers[member.name] = value
        }
        return headers
    }

    private static func given(
        _ json: JSONValue?, _ side: String
    ) throws(ReplicationDocumentError) -> ReplicationCredentials? {
        guard let json, !json.isNull else { return nil }
        if let keys = json["oauth"] {
            guard let keys = OAuth1(keys) else {
                throw ReplicationDocumentError(
                    "`oauth` of `\(side)` must hold `consumer_key`, `consumer_secret`, `token` and `token_secret`")
            }
            return .oauth1(keys)
        }
        guard let user = json["basic"]?["username"]?.string, let password = json["basic"]?["password"]?.string else {
            throw ReplicationDocumentError(
                "`auth` of `\(side)` must hold `basic` with `username` and `password`, or `oauth`")
        }
        return .basic(user: user, password: password)
    }

    /// The credentials in an `Authorization` header; `nil` for a header that is sent unchanged.
    private static func credentials(of header: String?) -> ReplicationCredentials? {
        guard let words = header?.split(separator: " ", maxSplits: 1), words.count == 2 else { return nil }
        switch words[0].lowercased() {
        case "basic":
            guard let bytes = Base64.decode(words[1].utf8) else { return nil }
            let parts = String(decoding: bytes, as: UTF8.self).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? .basic(user: String(parts[0]), password: String(parts[1])) : nil
        case "bearer": return .bearer(String(words[1]))
        default: return nil
        }
    }
}
