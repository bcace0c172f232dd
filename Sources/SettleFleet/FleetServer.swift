internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform
internal import SettleServer

/// The server of a fleet: Settle's own, in this process, with a database in memory.
final class FleetServer {
    let database: Database
    let server: InProcessServer
    private let fault: PlantedFault?
    let memory = Guarded(PlantedFault.Memory())

    init(_ fault: PlantedFault?) throws {
        var options = DatabaseOptions()
        options.warn = { _ in }
        database = try Database.inMemory(options: options)
        server = try InProcessServer(database, name: "fleet", scripts: nil)
        self.fault = fault
    }

    deinit {
        server.close()
        database.close()
    }

    /// Empties the database after a run.
    func clear() throws {
        for change in try database.changes() { try database.purge(change.id) }
        if try database.revisionLimit() != 1000 { try database.setRevisionLimit(1000) }
        memory.withLock { $0 = PlantedFault.Memory() }
    }

    func connect() -> MobileLine {
        memory.withLock { ($0.usesVersions, $0.pushed) = (false, []) }
        return MobileLine(
            server.connect(userAgent: "CouchbaseLite/4.1.0", fault?.limits ?? BLIPLimits()),
            fault.map { PlantedFault.Line(fault: $0, database: database, memory: memory) })
    }

    /// Sends a request as a client of CouchDB's API.
    @discardableResult
    func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> (status: Int, json: JSONValue) {
        try call(method, path, body?.utf8 ?? [], "application/json")
    }

    /// Sends a request with a body of a given type.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ body: [UInt8], _ type: String
    ) throws -> (status: Int, json: JSONValue) {
        var request = HTTPRequest(method, try HTTPURL(server.url.text + path), body: .bytes(body))
        if !body.isEmpty { request.headers["Content-Type"] = type }
        let response = server.respond(to: request)
        guard case .bytes(let bytes) = response.body.content else { return (response.status, .null) }
        return (response.status, (try? JSONValue(utf8: bytes)) ?? .null)
    }

    /// The winner of a document; `nil` for a deleted or missing one.
    func document(_ id: String) throws -> Document? {
        guard let document = try database.document(DocumentID(unchecked: id)), !document.isDeleted else { return nil }
        return document
    }

    /// The body of the winner.
    func body(_ id: String) throws -> JSONObject? { try document(id)?.json.object }

    func tree(_ id: String) throws -> RevisionTree? { try database.tree(of: DocumentID(unchecked: id)) }

    /// The documents with several live leaves.
    var conflicts: [String] { get throws { try database.conflictedDocumentIDs().map(\.string) } }

    var ids: [String] { get throws { try database.changes().map(\.id.string).sorted() } }
}
