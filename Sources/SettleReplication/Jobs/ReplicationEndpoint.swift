internal import SettleCore
internal import SettleDatabase
package import SettleHTTP
internal import SettlePlatform

/// One side of a replication in CouchDB's format: an address, or an object with an address, headers and credentials.
///
/// An address with the scheme `ws` or `wss` uses Couchbase Mobile's protocol. `collection`, such as
/// `inventory.hotels`, then selects a collection; without it, the default one.
///
/// Credentials in `auth` take precedence over those in the address, and these over the header `Authorization`.
package struct ReplicationEndpoint: Sendable {
    /// The address without user and password; `nil` if the side is a database of this process, given by its name.
    package let address: PeerAddress?
    /// The address in its original spelling, including the user.
    let told: HTTPURL?
    /// The name of a database, if there is no address.
    package let name: String
    /// The collection of Couchbase Mobile's protocol.
    let collection: String?
    /// The credentials.
    package var credentials: ReplicationCredentials?
    /// Headers sent with each request.
    package let headers: HTTPHeaders

    init(_ json: JSONValue?, _ side: String) throws(ReplicationDocumentError) {
        guard let json, !json.isNull else { throw ReplicationDocumentError("Missing replicator database: `\(side)`") }
        let object = json.object ?? JSONObject()
        guard let text = json.string ?? object["url"]?.string else {
            throw ReplicationDocumentError("`\(side)` has an invalid url")
        }
        guard ["http://", "https://", "ws://", "wss://"].contains(where: text.hasPrefix) else {
            if text.contains("://") || json.string == nil || text.isEmpty {
                throw ReplicationDocumentError("`\(side)` has an invalid url")
            }
            (address, told, name, collection) = (nil, nil, text, nil)
            (credentials, headers) = (nil, HTTPHeaders())
            return
        }
        let address: PeerAddress
        do { address = try PeerAddress(text) } catch { throw ReplicationDocumentError("`\(side)` has an invalid url") }
        let url = address.url
        guard let name = url.databaseName else {
            throw ReplicationDocumentError("`\(side)` names a server and no database")
        }
        let collection = object["collection"]?.string
        guard collection == nil || address.isWebSocket else {
            throw ReplicationDocumentError("`collection` of `\(side)` needs an address with ws:// or wss://")
        }
        var headers = try Self.headers(object["headers"], side)
        let fromHeader = Self.credentials(of: headers["Authorization"])
        if fromHeader != nil { headers["Authorization"] = nil }
        let fromURL = url.user.map { ReplicationCredentials.basic(user: $0, password: url.password ?? "") }
        credentials = try Self.given(object["auth"], side) ?? fromURL ?? fromHeader
        if fromURL != nil || object["auth"] != nil { headers["Authorization"] = nil }
        (self.address, told, self.name, self.headers) = (address.withoutCredentials, url, name, headers)
        self.collection = collection
    }

    /// Whether the credentials contain a password, or keys of OAuth 1.
    var hasPassword: Bool {
        switch credentials?.kind {
        case .basic(_, let password): !password.isEmpty
        case .oauth1: true
        default: false
        }
    }

    /// The address without user and password; a WebSocket's has `http` for `ws`.
    package var url: HTTPURL? { address?.url }

    /// The address without credentials, with CouchDB's trailing slash or the collection. Text that is not an address may be a secret,
    /// so only a valid database name is shown.
    package var shown: String {
        address.map { $0.shown(collection: collection) } ?? (DocumentStore.isName(name) ? name : "")
    }

    /// The reason why the side can't be reached, without secrets; `nil` if it has an address.
    package var problem: String? {
        guard address == nil else { return nil }
        let given = DocumentStore.isName(name) ? "\"\(name)\"" : "what is given for a side"
        return "\(given) is not an address: give the whole URL, even for a database of this server"
    }

    /// The peer at the address: a ``CouchDBPeer`` or a ``MobilePeer``, with the side's credentials.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` if there is no address.
    package func peer(_ client: any HTTPTransport) throws -> any PeerOperations {
        guard let address else { throw PeerError(.badRequest, problem ?? "", status: 400) }
        return try address.peer(
            credentials: credentials ?? ReplicationCredentials.none, collection: collection, client: client,
            headers: headers)
    }

    /// Creates the database with query parameters, unless it exists.
    ///
    /// - Throws: ``PeerError``.
    package func create(_ parameters: [(name: String, value: String)], _ client: any HTTPTransport) async throws {
        guard let address else { throw PeerError(.badRequest, problem ?? "", status: 400) }
        guard !address.isWebSocket else {
            let peer = try peer(client)
            do { try await peer.create() } catch {
                await peer.close()
                throw error
            }
            return await peer.close()
        }
        let url = address.url
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
    ) throws(ReplicationDocumentError) -> HTTPHeaders {
        var headers = HTTPHeaders()
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
