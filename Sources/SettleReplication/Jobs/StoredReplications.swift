package import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Replication documents that a database stores in a local document, which is never replicated, and does not run
/// itself.
///
///     _local/settle-replications
///     {"replications": {"9f3c…": {"source": {"url": "https://anna@couch.example/notes"}, "target": "local", "continuous": true,
///                                 "_replication_state": "paused"}}}
///
/// An app's database stores its persistent replications this way; in them the side `local` is this database. A
/// server's `_replicator` database stores its paused replications this way, because it would run a normal document.
/// A password is stored only on request.
package struct StoredReplications: Sendable, Equatable {
    /// The id of the local document.
    package static let id = DocumentID(unchecked: "_local/settle-replications")
    /// The id of the local document in which older versions of the tool stored a server's paused replications.
    package static let oldPausedID = DocumentID(unchecked: "_local/settle-paused")
    /// The name of the database's own side.
    package static let here: JSONValue = "local"
    private static let member = "replications"

    /// The documents, by name, in the order in which they were stored.
    package private(set) var documents: JSONObject

    /// Reads the body of a local document, including one of an older version.
    package init(_ body: JSONValue? = nil) {
        let stored = (body?[Self.member] ?? body?["paused"])?.object ?? JSONObject()
        let isOldPaused = body?[Self.member] == nil
        documents = JSONObject(
            stored.compactMap { member in
                guard var document = member.value.object else { return nil }
                let wasPaused = document["paused"] == true || isOldPaused
                document["paused"] = nil
                if wasPaused { document["_replication_state"] = "paused" }
                return (member.name, .object(document))
            })
    }

    /// The body of the local document; `nil` if there are no replications.
    package var body: JSONValue? { documents.isEmpty ? nil : [Self.member: .object(documents)] }

    /// The document of a name. Setting `nil` removes it.
    package subscript(name: String) -> JSONObject? {
        get { documents[name]?.object }
        set { documents[name] = newValue.map(JSONValue.object) }
    }

    /// Sets the state of a document; the state pending removes the member.
    package mutating func set(_ state: ReplicationState, of name: String) {
        guard var document = self[name] else { return }
        document["_replication_state"] = state == .pending ? nil : .string(state.rawValue)
        self[name] = document
    }
}

/// The stored replications of an app's database.
extension StoredReplications {
    /// The name and the document of a configuration.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` when the peer is neither a ``CouchDBPeer`` nor a ``MobilePeer``, or its
    ///   credentials can't be stored.
    package static func entry(
        of configuration: ReplicationConfiguration, withCredentials: Bool
    ) async throws -> (name: String, document: JSONObject) {
        guard let peer = configuration.peer as? any AddressedPeer else {
            throw PeerError(
                .badRequest,
                "only a replication with a CouchDBPeer or a MobilePeer can be kept, and \(configuration.peer.name) is neither"
            )
        }
        let remote = try endpoint(peer, withCredentials: withCredentials)
        let isPush = configuration.direction == .push
        var members: JSONObject = ["source": isPush ? here : remote, "target": isPush ? remote : here]
        if configuration.isContinuous { members["continuous"] = true }
        if configuration.createsTarget { members["create_target"] = true }
        if !configuration.usesCheckpoints { members["use_checkpoints"] = false }
        if configuration.branching == .refused { members["branching"] = "refused" }
        members["since_seq"] = configuration.since?.json
        for member in ReplicationDocument.members(of: configuration.filter) { members[member.name] = member.value }
        return (try await name(of: configuration), members)
    }

    /// The name under which a configuration is stored.
    static func name(of configuration: ReplicationConfiguration) async throws -> String {
        ReplicationID(
            source: try await configuration.peer.identity(), target: "\(configuration.direction)",
            filter: configuration.filter, branching: .allowed
        ).description
    }

    /// Replaces stored credentials. If none are stored, none are added.
    mutating func renew(_ name: String, _ credentials: ReplicationCredentials) throws {
        guard var document = self[name],
            let side = ["source", "target"].first(where: { document[$0] != Self.here }), var endpoint = document[side],
            endpoint["auth"] != nil, let place = endpoint["url"]?.string
        else { return }
        endpoint["auth"] = try ReplicationDocument.endpoint(PeerAddress(place), credentials)["auth"]
        document[side] = endpoint
        self[name] = document
    }

    /// The content of a stored document, except for the peer.
    static func read(_ members: JSONObject) throws -> (document: ReplicationDocument, isPush: Bool, url: HTTPURL) {
        var document: ReplicationDocument
        do { document = try ReplicationDocument(members) } catch { throw PeerError(.badRequest, error.message) }
        document.filter = document.filter.byChannels
        guard let url = document.source.url ?? document.target.url else {
            throw PeerError(.badRequest, "a stored replication has no address")
        }
        return (document, document.source.url == nil, url)
    }

    private static func endpoint(_ peer: any AddressedPeer, withCredentials: Bool) throws -> JSONValue {
        // The user's name is part of the replication's identity; the password is not.
        var json: JSONValue = ["url": .string(peer.address.text(user: peer.credentials.user))]
        json["collection"] = peer.collection.map(JSONValue.string)
        guard withCredentials else { return json }
        json["auth"] = try ReplicationDocument.endpoint(peer.address, peer.credentials)["auth"]
        let headers = peer.headers.fields.map { ($0.name, JSONValue.string($0.value)) }
        if !headers.isEmpty { json["headers"] = .object(JSONObject(headers)) }
        return json
    }
}
