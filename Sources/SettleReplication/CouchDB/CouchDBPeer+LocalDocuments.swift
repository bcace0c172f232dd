package import SettleCore

extension CouchDBPeer {
    /// A local document; see ``Peer/localDocument(_:)``.
    package func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        let calls = try calls()
        do {
            let document = try await calls.json("GET", .document(id))
            guard let members = document.object, let revision = document["_rev"]?.string else {
                throw PeerError(WireFault("a local document has no _rev"), at: calls.place(.document(id)))
            }
            let body = members.filter { !$0.name.hasPrefix("_") }.map { ($0.name, $0.value) }
            return PeerLocalDocument(revision: revision, body: .object(JSONObject(body)))
        } catch let error as PeerError where error.status == 404 && !error.isAboutDatabase { return nil }
    }

    /// Writes a local document; see ``Peer/saveLocalDocument(_:body:revision:)``.
    package func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        let calls = try calls()
        var members: [(String, JSONValue)] = [("_id", .string(id.string))]
        if let revision { members.append(("_rev", .string(revision))) }
        members += (body.object ?? JSONObject()).filter { !$0.name.hasPrefix("_") }.map { ($0.name, $0.value) }
        let answer = try await calls.json("PUT", .document(id), json: JSONValue.object(JSONObject(members)).utf8)
        guard let written = answer["rev"]?.string else {
            throw PeerError(
                WireFault("a local document was written, but no rev is told"), at: calls.place(.document(id)))
        }
        return written
    }
}

extension PeerError {
    /// Whether a status 404 says that the database is missing, and not something in it.
    var isAboutDatabase: Bool {
        guard let answer = cause as? CouchDBError, answer.status == 404 else { return false }
        let reason = answer.reason.lowercased()
        return reason == "no_db_file" || reason.hasPrefix("database does not exist")
            || reason.contains("no such database")
    }
}
