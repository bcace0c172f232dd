import Settle

/// One device: a database with a journal, and a session that sends it to the server.
struct Device {
    let name: String
    let database: Database
    let session: OfflineSession

    init(folder: String, server: HTTPURL, name: String) async throws {
        var options = DatabaseOptions()
        options.journal = true
        database = try Database.openOrCreate(folder, options: options)
        let peer = try CouchDBPeer(server)
        try await peer.create()
        session = try OfflineSession(database, server: peer)
        self.name = name
    }

    /// Puts something on the list, or changes how many are wanted.
    func want(_ item: String, _ count: Int) throws {
        let id = try DocumentID(validating: item)
        var document = try database.document(id) ?? Document(id: id)
        document["count"] = .number(JSONNumber(count))
        try database.save(document, onConflict: .fail)
    }

    /// Takes something off the list.
    func remove(_ item: String) throws {
        try database.delete(DocumentID(validating: item))
    }

    /// The list in one line: `bread 1, milk 2`.
    func list() throws -> String {
        let items = try database.changes().compactMap { try database.document($0.id) }
        let lines = items.map { "\($0.id) \($0["count"]?.int ?? 1)" }.sorted()
        return lines.isEmpty ? "nothing" : lines.joined(separator: ", ")
    }

    /// Says how the device is doing.
    func show() throws {
        let waiting = database.journal?.count ?? 0
        print(
            "  \(name) (\(session.status.state.rawValue)): \(try list())", waiting > 0 ? "— \(waiting) to be sent" : "")
    }
}
