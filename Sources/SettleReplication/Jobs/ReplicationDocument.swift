package import SettleCore
internal import SettleDatabase
package import SettleHTTP
internal import SettlePlatform
internal import SettleQuery

/// A replication in CouchDB's JSON format: a document of `_replicator`, or a request to `_replicate`.
///
///     {"source": {"url": "https://couch.example/notes", "auth": {"basic": {"username": "anna", "password": "…"}}},
///      "target": "https://anna:secret@couch.example/copy", "continuous": true, "selector": {"type": "note"}}
package struct ReplicationDocument: Sendable {
    /// The source.
    package var source: ReplicationEndpoint
    /// The target.
    package var target: ReplicationEndpoint
    /// `continuous`
    package var isContinuous = false
    /// `create_target`
    package var createsTarget = false
    /// `winning_revs_only`
    package var replicatesOnlyWinners = false
    /// `create_target_params`, as names and values of query parameters.
    package var targetParameters: [(name: String, value: String)] = []
    /// The documents: `doc_ids`, `selector`, or `filter` with `query_params`.
    package var filter = ReplicationFilter.all
    /// `since_seq`
    package var since: PeerSequence?
    /// `use_checkpoints`
    package var usesCheckpoints = true
    /// `checkpoint_interval`, in milliseconds in the document.
    package var checkpointInterval: Duration?
    /// `worker_batch_size`: the maximum number of revisions per request.
    package var revisionsAtOnce: Int?
    /// `retries_per_request`
    package var retries: Int?

    /// Reads a document; unknown members are ignored, as in CouchDB.
    ///
    /// - Throws: ``ReplicationDocumentError``, whose message contains no value that may be a secret.
    package init(_ members: JSONObject) throws(ReplicationDocumentError) {
        for name in ["proxy", "source_proxy", "target_proxy"] where members[name].map({ $0 != "" }) ?? false {
            throw ReplicationDocumentError("`\(name)` is not supported: proxies are a setting of the process")
        }
        isContinuous = try Self.flag("continuous", members) ?? false
        createsTarget = try Self.flag("create_target", members) ?? false
        replicatesOnlyWinners = try Self.flag("winning_revs_only", members) ?? false
        source = try ReplicationEndpoint(members["source"], "source")
        target = try ReplicationEndpoint(members["target"], "target")
        targetParameters = try Self.parameters("create_target_params", "a JSON object", members).map {
            ($0.name, Self.text($0.value))
        }
        usesCheckpoints = members["use_checkpoints"]?.bool ?? true
        since = members["since_seq"].flatMap { $0.isNull ? nil : PeerSequence($0) }
        checkpointInterval = try Self.count("checkpoint_interval", members).map { .milliseconds($0) }
        revisionsAtOnce = try Self.count("worker_batch_size", members)
        retries = try Self.count("retries_per_request", members)
        filter = try Self.filter(members)
        if source.address?.isWebSocket == true { filter = filter.byChannels }
    }

    /// The configuration for the document.
    package func configuration(source: any Peer, target: any Peer) -> ReplicationConfiguration {
        var configuration = ReplicationConfiguration(source: source, target: target)
        configuration.isContinuous = isContinuous
        configuration.filter = filter
        configuration.replicatesOnlyWinners = replicatesOnlyWinners
        configuration.since = since
        configuration.usesCheckpoints = usesCheckpoints
        if let checkpointInterval { configuration.checkpointInterval = checkpointInterval }
        if let revisionsAtOnce { configuration.limits.revisions = revisionsAtOnce }
        if let retries { configuration.retry.attempts = retries }
        return configuration
    }

    private static func filter(_ members: JSONObject) throws(ReplicationDocumentError) -> ReplicationFilter {
        let given = ["doc_ids", "filter", "selector"].filter { members[$0].map { !$0.isNull } ?? false }
        guard given.count < 2 else {
            throw ReplicationDocumentError("`doc_ids`,`filter`,`selector` are mutually exclusive")
        }
        let parameters = try parameters("query_params", "an object", members)
        switch given.first {
        case "doc_ids": return .documents(try identifiers(members["doc_ids"]))
        case "selector":
            guard let selector = members["selector"], selector.object != nil else {
                throw ReplicationDocumentError("parameter `selector` must be a JSON object")
            }
            do { return .selector(try MangoSelector(filter: selector)) } catch {
                throw ReplicationDocumentError("`selector` can't be read: \(error)")
            }
        case "filter":
            guard let name = members["filter"]?.string else {
                throw ReplicationDocumentError("parameter `filter` must be a string")
            }
            return .named(
                name, parameters: Dictionary(parameters.map { ($0.name, $0.value) }) { _, last in last })
        default: return .all
        }
    }

    /// Ids may be percent-encoded, as old versions of CouchDB wrote them.
    private static func identifiers(_ json: JSONValue?) throws(ReplicationDocumentError) -> [DocumentID] {
        guard let list = json?.array else { throw ReplicationDocumentError("parameter `doc_ids` must be an array") }
        var ids: [DocumentID] = []
        for item in list {
            guard let text = item.string, let id = try? DocumentID(validating: PercentCoding.decode(text[...])) else {
                throw ReplicationDocumentError("parameter `doc_ids` must be an array of ids")
            }
            ids.append(id)
        }
        return ids
    }

    private static func flag(_ name: String, _ members: JSONObject) throws(ReplicationDocumentError) -> Bool? {
        guard let value = members[name] else { return nil }
        guard let flag = value.bool else { throw ReplicationDocumentError("parameter `\(name)` must be a boolean") }
        return flag
    }

    /// A number, or its text. Numbers that are too large are read as ``most``.
    private static func count(_ name: String, _ members: JSONObject) throws(ReplicationDocumentError) -> Int? {
        guard let value = members[name] else { return nil }
        guard let count = Self.integer(value), count > 0 else {
            throw ReplicationDocumentError("parameter `\(name)` must be a positive integer")
        }
        return min(count, most)
    }

    private static let most = Int(Int32.max)

    /// An integer, or its text. An integer that exceeds 64 bits is read as the largest one.
    private static func integer(_ value: JSONValue) -> Int? {
        guard let number = value.number ?? value.string.flatMap({ try? JSONValue(parsing: $0) })?.number,
            number.isInteger
        else { return nil }
        return number.int ?? (number.text.hasPrefix("-") ? nil : .max)
    }

    private static func parameters(
        _ name: String, _ kind: String, _ members: JSONObject
    ) throws(ReplicationDocumentError) -> JSONObject {
        guard let value = members[name], !value.isNull else { return JSONObject() }
        guard let object = value.object else { throw ReplicationDocumentError("parameter `\(name)` must be \(kind)") }
        return object
    }

    private static func text(_ json: JSONValue) -> String { json.string ?? json.description }
}

/// The reason why a document does not describe a replication.
package struct ReplicationDocumentError: Error, Sendable {
    /// The problem, without values that may be secrets.
    package let message: String

    package init(_ message: String) { self.message = message }
}

// MARK: - Shown

extension ReplicationDocument {
    /// The state in a replication document: completed, failed or paused; pending otherwise.
    package static func state(of members: JSONObject) -> ReplicationState {
        let state = members["_replication_state"]?.string.flatMap(ReplicationState.init(rawValue:))
        return state.flatMap { [.completed, .failed, .paused].contains($0) ? $0 : nil } ?? .pending
    }

    /// The members of a replication document without credentials: each side is only its address, without user, password
    /// and query.
    package static func withoutCredentials(_ members: JSONObject) -> JSONObject {
        var shown = members
        for side in ["source", "target"] { shown[side] = members[side].map(side(shown:)) }
        for name in ["proxy", "source_proxy", "target_proxy"] { shown[name] = members[name].map(address(shown:)) }
        return shown
    }

    /// A side's address without credentials, as in ``ReplicationEndpoint/shown``; null if there is no readable
    /// address.
    package static func shownAddress(_ json: JSONValue?) -> JSONValue {
        guard let text = json?.string ?? json?["url"]?.string else { return .null }
        guard text.contains("://") else { return json?.string == nil ? .null : name(shown: text) }
        return (try? PeerAddress(text)).map { .string($0.shown(collection: json?["collection"]?.string)) } ?? .null
    }

    private static func side(shown json: JSONValue) -> JSONValue {
        guard let members = json.object else { return address(shown: json) }
        var shown = JSONObject()
        shown["url"] = members["url"].map(address(shown:))
        return .object(shown)
    }

    /// An address in its original spelling, without the user, the password and the query.
    private static func address(shown json: JSONValue) -> JSONValue {
        guard let text = json.string else { return .null }
        guard let mark = text.firstRange(of: "://") else { return name(shown: text) }
        let all = text[mark.upperBound...]
        let rest = all.prefix { !"?#".contains($0) }
        if let at = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            return .string(String(text[..<mark.upperBound]) + String(rest[rest.index(after: at)...]))
        }
        return all.contains("@") && (try? PeerAddress(text)) == nil ? .null : .string(String(text[..<rest.endIndex]))
    }

    /// Text that is not an address may contain a secret, unless it is a valid database name.
    private static func name(shown text: String) -> JSONValue {
        DocumentStore.isName(text) || text.isEmpty ? .string(text) : .null
    }
}

extension PeerAddress {
    /// The address with CouchDB's trailing slash, or with a collection, as ``MobilePeer/name`` has it.
    func shown(collection: String?) -> String { "\(self)" + (collection.map { "#\($0)" } ?? "/") }
}

// MARK: - Written

/// Writes replication documents; the inverse of reading them.
extension ReplicationDocument {
    /// The Sync Gateway filter that takes channels as a parameter.
    static let byChannel = "sync_gateway/bychannel"

    /// The members that describe a filter; empty for all documents.
    package static func members(of filter: ReplicationFilter) -> JSONObject {
        switch filter {
        case .all: [:]
        case .documents(let ids): ["doc_ids": .array(ids.map { .string(PercentCoding.encode($0.string)) })]
        case .selector(let selector): ["selector": selector.json]
        case .named(let name, let parameters):
            [
                "filter": .string(name),
                "query_params": .object(JSONObject(parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })),
            ]
        case .channels(let channels):
            ["filter": .string(byChannel), "query_params": ["channels": .string(channels.joined(separator: ","))]]
        }
    }

    /// A side of a replication, with its address and credentials.
    ///
    /// - Parameters:
    ///   - address: The address; its user and password are ignored.
    ///   - credentials: No credentials, basic authentication, or the keys of OAuth 1.
    ///   - collection: The collection of Couchbase Mobile's protocol; `nil`, the default, for the default
    ///     collection.
    /// - Returns: An address, or an object with `auth`.
    /// - Throws: ``PeerError`` with code `badRequest` for other credentials.
    package static func endpoint(
        _ address: PeerAddress, _ credentials: ReplicationCredentials, collection: String? = nil
    ) throws -> JSONValue {
        let text = JSONValue.string("\(address)")
        var members: JSONObject = ["url": text]
        members["collection"] = collection.map(JSONValue.string)
        switch credentials.kind {
        case .none: break
        case .basic(let user, let password):
            members["auth"] = ["basic": ["username": .string(user), "password": .string(password)]]
        case .oauth1(let keys): members["auth"] = ["oauth": keys.json]
        default:
            throw PeerError(
                .badRequest,
                "of credentials, only a user with a password sent each time, or keys of OAuth 1, can be kept")
        }
        return members.count == 1 ? text : .object(members)
    }
}

extension ReplicationFilter {
    /// This filter, as channels if it is Sync Gateway's filter by channel.
    var byChannels: ReplicationFilter {
        guard case .named(ReplicationDocument.byChannel, let parameters) = self else { return self }
        return .channels((parameters["channels"]?.string ?? "").split(separator: ",").map(String.init))
    }
}

// MARK: - Running

/// Runs the replication of a document over HTTP, with the credentials in the document. So the replication has
/// exactly the rights of these credentials, even if an address is this server's own.
extension ReplicationDocument {
    /// The id of the replication as a job: the replication's id, followed by `+continuous` and `+create_target`.
    ///
    /// - Throws: ``PeerError`` if an address can't be used.
    package func jobID(_ client: any HTTPTransport) async throws -> String {
        try await configuration(client).replicationID() + (isContinuous ? "+continuous" : "")
            + (createsTarget ? "+create_target" : "")
    }

    /// Creates the replicator after a check of both databases, so that an error names the database that is missing
    /// or forbidden.
    ///
    /// - Throws: ``PeerError`` with CouchDB's reason.
    func replicator(_ client: any HTTPTransport) async throws -> OneWayReplicator {
        // The order is CouchDB's: if both are missing, the error names the source, and no target is created.
        try await check(source, client)
        if createsTarget { try await explaining(target) { try await target.create(targetParameters, client) } }
        try await check(target, client)
        return OneWayReplicator(try configuration(client))
    }

    /// Checks that the database of a side can be opened. The replicator retries if the side can't be reached now.
    private func check(_ endpoint: ReplicationEndpoint, _ client: any HTTPTransport) async throws {
        let peer = try endpoint.peer(client)
        do { try await explaining(endpoint) { _ = try await peer.connect() } } catch let error as PeerError
            where error.isTransient
        {}
        await peer.close()
    }

    private func configuration(_ client: any HTTPTransport) throws -> ReplicationConfiguration {
        configuration(source: try source.peer(client), target: try target.peer(client))
    }

    private func explaining(_ endpoint: ReplicationEndpoint, _ body: () async throws -> Void) async throws {
        do { try await body() } catch let error as PeerError where !error.isTransient {
            switch error.code {
            case .notFound: throw PeerError(.notFound, "could not open \(endpoint.shown)", status: 404, cause: error)
            case .unauthorized, .forbidden:
                throw PeerError(
                    error.code, "unauthorized to access or create database \(endpoint.shown)",
                    status: error.status ?? 401, cause: error)
            default: throw error
            }
        }
    }
}
