internal import Settle
internal import SettleHTTP
import SettleReplication

/// The stored replications of a server or of a database's folder, as `settle replications` changes them.
///
///     _local/settle-replications      all of a folder's, and the paused ones of a server
///     _replicator/orders              one that a server runs: a document of its own
struct KeptReplications {
    /// The database in which a server stores them.
    static let serverDatabase = "_replicator"
    private static let most = 10_000

    let client: Client
    let invocation: Invocation

    private var isServer: Bool { Invocation.isURL(client.place) }
    private var arguments: Arguments { invocation.arguments }
    private var verb: String { ReplicationsCommand.spec.name }

    /// All replications: first the running ones, then the stored ones.
    func all() throws -> [ReplicationsCommand.Kept] {
        let stored: StoredReplications
        do { stored = try read().stored } catch let error as CommandError where isServer && error.status == .notFound {
            // A server without the database has no stored replications.
            return []
        }
        return try (isServer ? running() : [])
            + stored.documents.map { member in
                let document = member.value
                return ReplicationsCommand.Kept(
                    id: member.name, source: Self.address(document["source"]), target: Self.address(document["target"]),
                    isContinuous: document["continuous"] == true,
                    state: ReplicationDocument.state(of: document.object ?? JSONObject()).rawValue)
            }
    }

    /// Stores a replication according to the arguments; returns its id.
    func add() throws -> String { isServer ? try addDocument() : try addToFolder() }

    /// Pauses a replication.
    func pause(_ id: String) throws {
        var (stored, revision) = try read()
        if stored[id] != nil {
            stored.set(.paused, of: id)
            return try write(stored, revision)
        }
        let document = try client.json("GET", path(id), about: DocumentID(unchecked: id))
        let members = (document.object ?? JSONObject()).filter { !$0.name.hasPrefix("_") }
        stored[id] = JSONObject(members.map { ($0.name, $0.value) })
        stored.set(.paused, of: id)
        // The replication is stored before its document is deleted, so that it is not lost whatever happens in
        // between.
        try write(stored, revision)
        try delete(id, document["_rev"]?.string)
    }

    /// Resumes a paused replication.
    func resume(_ id: String) throws {
        var (stored, revision) = try read()
        stored.set(.pending, of: id)
        guard let document = stored[id] else { throw CommandError.invalid("\"\(id)\" was not paused") }
        if isServer {
            try client.json("PUT", path(id), body: .object(document), about: DocumentID(unchecked: id))
            stored[id] = nil
        }
        try write(stored, revision)
    }

    /// Removes a replication.
    func remove(_ id: String) throws {
        var (stored, revision) = try read()
        if stored[id] != nil {
            stored[id] = nil
            try write(stored, revision)
        }
        guard isServer else { return }
        do {
            try delete(id, try client.json("GET", path(id), about: DocumentID(unchecked: id))["_rev"]?.string)
        } catch let error as CommandError where error.status == .notFound {}
    }
}

/// The replications that are stored.
extension KeptReplications {
    /// The stored replications, and the revision of the local document.
    private func read() throws -> (stored: StoredReplications, revision: String?) {
        if let (revision, body) = try client.localDocument(StoredReplications.id) {
            return (StoredReplications(body.json), revision)
        }
        let old = isServer ? try client.localDocument(StoredReplications.oldPausedID) : nil
        return (StoredReplications(old?.body.json), nil)
    }

    private func write(_ stored: StoredReplications, _ revision: String?) throws {
        var body = stored.body ?? [:]
        body["_rev"] = revision.map(JSONValue.string)
        if stored.body == nil, let revision {
            try client.json("DELETE", .document(StoredReplications.id), query: ["rev": revision])
        } else if stored.body != nil {
            try client.json("PUT", .document(StoredReplications.id), body: body)
        }
        if isServer, revision == nil { _ = try client.deleteLocalDocument(StoredReplications.oldPausedID) }
    }

    private func addToFolder() throws -> String {
        let (source, target) = (try arguments.operand("SOURCE"), try arguments.operand("TARGET"))
        let local = StoredReplications.here.string
        guard (source == local) != (target == local) else {
            throw CommandError.usage(
                "a folder keeps replications between itself, called `local`, and a URL", verb: verb)
        }
        if arguments.text("--name") != nil {
            throw CommandError.usage("--name is for servers; a folder's replications have IDs of their own", verb: verb)
        }
        let isPush = source == local
        let address = try PeerAddress(isPush ? target : source)
        let keepsPassword = arguments.flag("--store-password")
        let credentials: ReplicationCredentials =
            if keepsPassword {
                try RemoteOptions.KeptCredentials(console: invocation.console).credentials(for: address.url)
            } else { address.url.user.map { .basic(user: $0, password: "") } ?? .none }
        let peer = try address.peer(
            credentials: credentials, collection: arguments.text("--collection"), client: DefaultTransport())
        // The stored data depends only on the peer.
        let here = try ScratchDatabase(inMemory: true)
        var configuration: ReplicationConfiguration =
            isPush ? .push(here.database, to: peer) : .pull(here.database, from: peer)
        try ReplicationOptions(arguments: arguments, verb: verb).apply(to: &configuration)
        let asked = configuration
        let entry = try client.wait { _, _ in
            try await StoredReplications.entry(of: asked, withCredentials: keepsPassword)
        }
        var (stored, revision) = try read()
        stored[entry.name] = entry.document
        try write(stored, revision)
        return entry.name
    }
}

/// Documents of a server.
extension KeptReplications {
    private func running() throws -> [ReplicationsCommand.Kept] {
        let segments = ["_scheduler", "docs"] + [client.url.databaseName].compactMap(\.self)
        let known = try client.serverJSON(HTTPPath(segments: segments), query: ["limit": "\(Self.most)"])
        let rows = known["docs"]?.array ?? []
        let isContinuous = try continuous(rows.compactMap { $0["doc_id"] })
        return rows.map { row in
            let id = row["doc_id"]?.string ?? ""
            return ReplicationsCommand.Kept(
                id: id, source: ReplicationDocument.shownAddress(row["source"]).string ?? "",
                target: ReplicationDocument.shownAddress(row["target"]).string ?? "",
                isContinuous: isContinuous.contains(id), state: row["state"]?.string ?? "unknown",
                problem: row["info"]?["error"]?.string)
        }
    }

    /// The ids of continuous documents, which `_scheduler/docs` does not report.
    private func continuous(_ ids: [JSONValue]) throws -> Set<String> {
        if ids.isEmpty { return [] }
        let rows = try client.json("POST", "_all_docs", query: ["include_docs": "true"], body: ["keys": .array(ids)])
        return Set(
            (rows["rows"]?.array ?? []).filter { $0["doc"]?["continuous"] == true }.compactMap { $0["id"]?.string })
    }

    private func addDocument() throws -> String {
        var members: JSONObject = ["source": try side("SOURCE"), "target": try side("TARGET")]
        let filter = try ReplicationOptions(arguments: arguments, verb: verb).filter()
        guard arguments.text("--collection") == nil || members.contains(where: { $0.value["collection"] != nil }) else {
            throw CommandError.usage("--collection needs an address with ws:// or wss://", verb: verb)
        }
        for member in ReplicationDocument.members(of: filter) { members[member.name] = member.value }
        if arguments.flag("--continuous") { members["continuous"] = true }
        if arguments.flag("--create") { members["create_target"] = true }
        // Old servers create the database only at the first replication.
        try client.createUnlessThere()
        guard let id = try arguments.text("--name").map({ try DocumentID(validating: $0) }) else {
            return try client.json("POST", body: .object(members))["id"]?.string ?? ""
        }
        try client.json("PUT", .document(id), body: .object(members), about: id)
        return id.string
    }

    /// One side of a replication, with the credentials for it.
    private func side(_ operand: String) throws -> JSONValue {
        let given = try arguments.operand(operand)
        guard Invocation.isURL(given) else {
            throw CommandError.usage(
                "\(operand) must be a URL, also of a database of the server itself: http://\(client.url.authority)/\(given)",
                verb: verb)
        }
        let address = try PeerAddress(given)
        let credentials = try RemoteOptions.KeptCredentials(console: invocation.console).credentials(for: address.url)
        return try ReplicationDocument.endpoint(
            address, credentials, collection: address.isWebSocket ? arguments.text("--collection") : nil)
    }

    private func delete(_ id: String, _ revision: String?) throws {
        try client.json("DELETE", path(id), query: ["rev": revision ?? ""], about: DocumentID(unchecked: id))
    }

    private func path(_ id: String) throws -> HTTPPath { .document(try DocumentID(validating: id)) }

    /// An address without a password.
    private static func address(_ side: JSONValue?) -> String {
        guard let text = side?.string ?? side?["url"]?.string, let address = try? PeerAddress(text) else {
            return ReplicationDocument.shownAddress(side).string ?? ""
        }
        return address.text(user: address.url.user) + (side?["collection"]?.string.map { "#\($0)" } ?? "")
    }
}
