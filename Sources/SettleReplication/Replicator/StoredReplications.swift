public import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The persistent replications of a database, which it keeps in a local document, each in CouchDB's format of `_replicator`.
///
///     _local/settle-replications
///     {"replications": {"9f3c…": {"source": {"url": "https://anna@couch.example/notes"}, "target": "local", "continuous": true}}}
///
/// The side that is no address is this database. A password is there only if the app said so.
struct StoredReplications: Sendable {
    private static let id = DocumentID(unchecked: "_local/settle-replications")
    private static let member = "replications"
    /// How the database's own side is named.
    static let here: JSON = "local"

    let database: Database

    /// All of them, by name.
    func all() throws -> [(name: String, members: JSONObject)] {
        let stored = try database.localDocument(Self.id)?.body.json[Self.member]?.object ?? JSONObject()
        return stored.compactMap { member in member.value.object.map { (member.name, $0) } }
    }

    /// Keeps one, in place of that with its name; `nil` forgets it.
    func set(_ name: String, _ members: JSONObject?) throws { try change { $0[name] = members.map(JSON.object) } }

    /// Changes one that is there.
    func update(_ name: String, _ body: (inout JSONObject) throws -> Void) throws {
        try change { stored in
            guard var members = stored[name]?.object else { return }
            try body(&members)
            stored[name] = .object(members)
        }
    }

    /// Forgets all but some.
    func removeAll(except kept: Set<String> = []) throws {
        try change { stored in
            for name in stored.names where !kept.contains(name) { stored[name] = nil }
        }
    }

    private func change(_ body: (inout JSONObject) throws -> Void) throws {
        try database.transaction {
            let before = try database.localDocument(Self.id)?.body.json[Self.member]?.object ?? JSONObject()
            var stored = before
            try body(&stored)
            guard stored != before else { return }
            if stored.isEmpty {
                try database.deleteLocalDocument(Self.id)
            } else {
                try database.saveLocalDocument(
                    Self.id, body: try DocumentBody(.object([Self.member: .object(stored)])))
            }
        }
    }
}

extension StoredReplications {
    /// The name of a replication among those of a database.
    static func name(of configuration: ReplicationConfiguration) async throws -> String {
        ReplicationID(
            source: try await configuration.peer.identity(), target: "\(configuration.direction)",
            filter: configuration.filter, branching: .allowed
        ).description
    }

    /// A configuration in CouchDB's format.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` when the other side is none that can be written down.
    static func members(
        of configuration: ReplicationConfiguration, withCredentials: Bool
    ) throws -> JSONObject {
        guard let peer = configuration.peer as? CouchDBPeer else {
            throw PeerError(
                .badRequest, "only a replication with a CouchDBPeer can be kept, and \(configuration.peer.name) is none"
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
        return members
    }

    /// Writes credentials into a stored one; only those that are kept with it already are replaced.
    static func renew(_ members: inout JSONObject, _ credentials: Credentials) throws {
        guard let side = ["source", "target"].first(where: { members[$0] != here }), var endpoint = members[side],
            endpoint["auth"] != nil, let place = endpoint["url"]?.string
        else { return }
        endpoint["auth"] = try ReplicationDocument.endpoint(HTTPURL(place), credentials)["auth"]
        members[side] = endpoint
    }

    /// What is to be done with a stored one.
    static func state(of members: JSONObject) -> PersistentReplication.State {
        if members["paused"] == true { return .paused }
        return members["_replication_state"] == "completed" ? .completed : .active
    }

    /// What stored members say, without the other side's peer.
    static func read(_ members: JSONObject) throws -> (document: ReplicationDocument, isPush: Bool, url: HTTPURL) {
        var document: ReplicationDocument
        do { document = try ReplicationDocument(members) } catch { throw PeerError(.badRequest, error.message) }
        if case .named(ReplicationDocument.byChannel, let parameters) = document.filter {
            document.filter = .channels((parameters["channels"]?.string ?? "").split(separator: ",").map(String.init))
        }
        guard let url = document.source.url ?? document.target.url else {
            throw PeerError(.badRequest, "a stored replication has no address")
        }
        return (document, document.source.url == nil, url)
    }

    private static func endpoint(_ peer: CouchDBPeer, withCredentials: Bool) throws -> JSON {
        let (url, credentials) = (peer.url, peer.credentials)
        // The user's name is part of what the replication is; the password is not.
        let place = credentials.user.map { user in
            "\(url.scheme.rawValue)://\(PercentCoding.encode(user))@\(url.authority)\(url.path)"
        }
        var json: JSON = ["url": .string(place ?? "\(url)")]
        guard withCredentials else { return json }
        json["auth"] = try ReplicationDocument.endpoint(url, credentials)["auth"]
        let headers = peer.options.headers.fields.map { ($0.name, JSON.string($0.value)) }
        if !headers.isEmpty { json["headers"] = .object(JSONObject(headers)) }
        return json
    }
}

/// A replication stored in a database; ``Replications/all`` has those that run now.
public struct PersistentReplication: Sendable, Hashable {
    /// Whether the replication should run.
    public enum State: String, Sendable, Hashable {
        /// It is started by ``Replications/resume(credentials:client:configure:)``.
        case active
        /// It was paused.
        case paused
        /// It was one-shot, and has completed.
        case completed
    }

    /// The name under which it is stored.
    public let name: String
    /// The direction.
    public let direction: ReplicationDirection
    /// The peer's address, with the user's name and without the password.
    public let url: HTTPURL
    /// Whether it is continuous.
    public let isContinuous: Bool
    /// Whether it should run.
    public let state: State
    /// Whether the password is stored with it.
    public let hasPassword: Bool
    /// Its filter, as the members `doc_ids`, `selector`, or `filter` and `query_params`; none for all documents.
    public let filter: JSONObject
}
