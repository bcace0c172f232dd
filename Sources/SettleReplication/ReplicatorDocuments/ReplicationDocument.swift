package import SettleCore
internal import SettleDatabase
internal import SettlePlatform

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
    /// `doc_ids`, `selector`, or `filter` with `query_params`.
    package var filter = ReplicationFilter.all
    /// `since_seq`
    package var since: PeerSequence?
    /// `use_checkpoints`
    package var usesCheckpoints = true
    /// `checkpoint_interval`, in milliseconds in the document.
    package var checkpointInterval: Duration?
    /// `worker_batch_size`: how many revisions are fetched in one request.
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

    /// A number, or its text; numbers beyond any real count are read as ``most``.
    private static func count(_ name: String, _ members: JSONObject) throws(ReplicationDocumentError) -> Int? {
        guard let value = members[name] else { return nil }
        guard let count = Self.integer(value), count > 0 else {
            throw ReplicationDocumentError("parameter `\(name)` must be a positive integer")
        }
        return min(count, most)
    }

    private static let most = Int(Int32.max)

    /// An integer, or its text; one that exceeds 64 bits is read as the largest.
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

/// Why a document does not describe a replication.
package struct ReplicationDocumentError: Error, Sendable {
    /// What is wrong with it, without values that may be secrets.
    package let message: String

    package init(_ message: String) { self.message = message }
}
