import SettleCore

extension Group {
    /// Makes the database with the first revision of each document; one that is there is removed.
    func prepare(_ connection: Connection, _ server: Server, _ options: DeviceOptions, _ number: Int) async throws {
        try await remove(connection, server)
        _ = try await ask(connection, server.request("PUT", path))
        let documents = self.documents.enumerated().map { index, id in
            let content = Content(device: options.devices + number, edit: index, size: options.size)
            let revision = content.revision(generation: 1)
            note(revision, of: id)
            return content.document(id, [revision], isDeleted: false)
        }
        let body = #"{"new_edits":false,"docs":[\#(documents.joined(separator: ","))]}"#
        _ = try await ask(connection, server.request("POST", "\(path)/_bulk_docs", body))
    }

    func remove(_ connection: Connection, _ server: Server) async throws {
        _ = try await ask(connection, server.request("DELETE", path), alsoGood: 404)
    }

    /// Compares the server with what was written, and each device with the server.
    func verify(_ connection: Connection, _ server: Server) async throws -> Verdict {
        let asked = written.map { id, revisions in
            #""\#(id)":[\#(revisions.map { "\"\($0)\"" }.joined(separator: ","))]"#
        }
        let lacking = try await ask(
            connection, server.request("POST", "\(path)/_revs_diff", "{\(asked.joined(separator: ","))}"))
        let page = ChangesPage(
            try await ask(connection, server.request("GET", "\(path)/_changes?style=all_docs")))
        var verdict = Verdict(revisions: written.values.reduce(0) { $0 + $1.count }, devices: devices.count)
        verdict.lost = (lacking.object ?? [:]).reduce(0) { $0 + ($1.value["missing"]?.array?.count ?? 0) }
        let rows = Dictionary(page.rows.map { ($0.id, $0.revisions) }) { first, _ in first }
        verdict.equal = devices.count { device in
            device.unpushed.isEmpty && device.replica.count == rows.count
                && device.replica.allSatisfy { id, tree in
                    rows[id].map { $0.first == tree.winner && Set($0) == tree.leaves } ?? false
                }
        }
        return verdict
    }

    private func ask(_ connection: Connection, _ request: [UInt8], alsoGood: Int = 200) async throws -> JSONValue {
        let answer = try await connection.exchange(request)
        guard answer.status / 100 == 2 || answer.status == alsoGood else {
            throw SetupFailure(request: path, status: answer.status)
        }
        return try JSONValue(utf8: answer.body)
    }
}

/// Whether anything was lost, and whether all have the same.
struct Verdict {
    /// Revisions that devices have written.
    var revisions = 0
    var devices = 0
    /// Revisions of them that the server lacks.
    var lost = 0
    /// Devices whose leaves and winners are those of the server.
    var equal = 0

    var isGood: Bool { lost == 0 && equal == devices }

    static func += (left: inout Verdict, right: Verdict) {
        left.revisions += right.revisions
        left.devices += right.devices
        left.lost += right.lost
        left.equal += right.equal
    }
}
