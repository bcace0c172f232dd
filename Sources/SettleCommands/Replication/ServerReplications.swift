internal import Settle

/// Replications that a server keeps in its `_replicator` database, or in another one that is called so.
///
///     _replicator/orders            {"source": …, "target": …, "continuous": true}      is run
///     _local/settle-paused          {"paused": {"notes": {"source": …, …}}}             is put aside
struct ServerReplications: ReplicationsCommand.Keeper {
    private static let aside = DocumentID(unchecked: "_local/settle-paused")
    private static let member = "paused"
    private static let most = 10_000

    private let arguments: Arguments
    private let console: Console
    private let connection: CouchDBConnection
    private let verb = ReplicationsCommand.spec.name

    init(_ invocation: Invocation) throws {
        Interruption.watch()
        (arguments, console) = (invocation.arguments, invocation.console)
        let given = try HTTPURL(arguments.operand("DB"))
        let options = RemoteOptions(arguments: arguments, console: console)
        let credentials = try options.credentials(for: given)
        let url = given.withoutCredentials
        let console = invocation.console
        connection = CouchDBConnection(
            database: url.databaseName == nil ? url.appending("_replicator") : url, client: try options.client(),
            credentials: credentials
        ) { console.complain("settle: \($0)", json: ["warning": .string($0)]) }
    }

    func all() throws -> [ReplicationsCommand.Kept] {
        try wait { connection in
            let paused: JSONObject
            do { paused = try await Self.aside(connection).paused } catch let error as CouchDBError
                where ClientFailure.isAboutDatabase(error)
            {
                return []
            }
            let segments = ["_scheduler", "docs"] + [connection.url.databaseName].compactMap(\.self)
            let limit = "\(Self.most)"
            let known = try await connection.server.json(
                "GET", HTTPPath(segments: segments), query: ["limit": limit]
            ).json
            let running = (known["docs"]?.array ?? []).map(Self.shown)
            let isContinuous = try await Self.continuous(running.map(\.id), connection)
            return running.map { replication in
                ReplicationsCommand.Kept(
                    id: replication.id, source: replication.source, target: replication.target,
                    isContinuous: isContinuous.contains(replication.id), state: replication.state,
                    problem: replication.problem)
            }
                + paused.map { member in
                    ReplicationsCommand.Kept(
                        id: member.name, source: Self.address(member.value["source"]),
                        target: Self.address(member.value["target"]),
                        isContinuous: member.value["continuous"] == true, state: "paused")
                }
        }
    }

    func add() throws -> String {
        var members: JSONObject = [
            "source": try side("SOURCE"), "target": try side("TARGET"),
        ]
        let filter = try ReplicationOptions(arguments: arguments, verb: verb).filter()
        for member in ReplicationDocument.members(of: filter) { members[member.name] = member.value }
        if arguments.flag("--continuous") { members["continuous"] = true }
        if arguments.flag("--create") { members["create_target"] = true }
        let (body, name) = (JSON.object(members), arguments.text("--name"))
        let id = try name.map { try DocumentID(validating: $0) }
        return try wait { connection in
            func write() async throws -> String {
                let answer =
                    if let id {
                        try await connection.json("PUT", .document(id), body: body)
                    } else { try await connection.json("POST", "", body: body) }
                return answer.json["id"]?.string ?? id?.string ?? ""
            }
            do { return try await write() } catch let error as CouchDBError where ClientFailure.isAboutDatabase(error) {
                // A server of old that has replicated nothing so far.
                _ = try await connection.json("PUT", "")
                return try await write()
            }
        }
    }

    func pause(_ id: String) throws {
        try wait { connection in
            let document = try await connection.json("GET", .document(DocumentID(validating: id))).json
            // Written down before it is taken away: whatever happens between, it is not lost.
            var aside = try await Self.aside(connection)
            let members = (document.object ?? JSONObject()).filter { !$0.name.hasPrefix("_") }
            aside.paused[id] = .object(JSONObject(members.map { ($0.name, $0.value) }))
            try await Self.put(aside, connection)
            try await Self.delete(id, document["_rev"]?.string, connection)
        }
    }

    func resume(_ id: String) throws {
        try wait { connection in
            var aside = try await Self.aside(connection)
            guard let members = aside.paused[id] else {
                throw CommandError.invalid("\"\(id)\" was not paused")
            }
            _ = try await connection.json("PUT", .document(DocumentID(validating: id)), body: members)
            aside.paused[id] = nil
            try await Self.put(aside, connection)
        }
    }

    func remove(_ id: String) throws {
        try wait { connection in
            var aside = try await Self.aside(connection)
            if aside.paused[id] != nil {
                aside.paused[id] = nil
                try await Self.put(aside, connection)
            }
            do {
                let document = try await connection.json("GET", .document(DocumentID(validating: id))).json
                try await Self.delete(id, document["_rev"]?.string, connection)
            } catch let error as CouchDBError where error.status == 404 && !ClientFailure.isAboutDatabase(error) {}
        }
    }

    /// What was put aside, and the revision of the document that says so.
    private struct Aside: Sendable {
        var paused = JSONObject()
        var revision: String?
    }

    private static func aside(_ connection: CouchDBConnection) async throws -> Aside {
        do {
            let document = try await connection.json("GET", .document(aside)).json
            return Aside(paused: document[member]?.object ?? JSONObject(), revision: document["_rev"]?.string)
        } catch let error as CouchDBError where error.status == 404 && !ClientFailure.isAboutDatabase(error) {
            return Aside()
        }
    }

    private static func put(_ value: Aside, _ connection: CouchDBConnection) async throws {
        var members: JSONObject = [member: .object(value.paused)]
        members["_rev"] = value.revision.map(JSON.string)
        _ = try await connection.json("PUT", .document(aside), body: .object(members))
    }

    private static func delete(_ id: String, _ revision: String?, _ connection: CouchDBConnection) async throws {
        _ = try await connection.json(
            "DELETE", .document(DocumentID(validating: id)), query: ["rev": revision ?? ""])
    }

    /// Which of some replications are continuous, which `_scheduler/docs` does not tell.
    private static func continuous(_ ids: [String], _ connection: CouchDBConnection) async throws -> Set<String> {
        if ids.isEmpty { return [] }
        let answer = try await connection.json(
            "POST", "_all_docs", query: ["include_docs": "true"],
            body: ["keys": .array(ids.map(JSON.string))])
        let rows = answer.json["rows"]?.array ?? []
        return Set(rows.filter { $0["doc"]?["continuous"] == true }.compactMap { $0["id"]?.string })
    }

    private static func shown(_ row: JSON) -> ReplicationsCommand.Kept {
        let problem = row["info"]?["error"]?.string
        return ReplicationsCommand.Kept(
            id: row["doc_id"]?.string ?? "", source: address(row["source"]), target: address(row["target"]),
            isContinuous: false, state: row["state"]?.string ?? "unknown", problem: problem)
    }

    private static func address(_ json: JSON?) -> String {
        ReplicationDocument.shownAddress(json).string ?? ""
    }

    /// One side, with what is needed to log in there.
    private func side(_ operand: String) throws -> JSON {
        let given = try arguments.operand(operand)
        guard Invocation.isURL(given) else {
            throw CommandError.usage(
                "\(operand) must be a URL, also of a database of the server itself: \(connection.server.url)/\(given)",
                verb: verb)
        }
        let url = try HTTPURL(given)
        return try ReplicationDocument.endpoint(
            url, RemoteOptions.KeptCredentials(console: console).credentials(for: url))
    }

    private func wait<Value: Sendable>(
        for work: @escaping @Sendable (CouchDBConnection) async throws -> Value
    ) throws -> Value {
        do { return try Waiting.wait { [connection] in try await work(connection) } } catch {
            throw ClientFailure(url: connection.url).told(error)
        }
    }
}
