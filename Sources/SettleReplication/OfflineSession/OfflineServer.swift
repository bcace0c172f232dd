internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

/// The server of an offline session: any CouchDB, asked document by document.
///
/// An edit is a `PUT` with the `_rev` it was made on, so that the server itself compares: it is taken only while that is
/// still the document's winner.
struct OfflineServer: Sendable {
    /// What the server has of a document.
    struct State: Sendable {
        /// The winner and its ancestors, newest first; `nil` of a document that is deleted or was never there.
        var history: RevisionHistory?
        /// Its content, attachments as their digests.
        var body: DocumentBody?
        /// The names, types and digests of its attachments, as the server tells them.
        var attachments = JSONObject()
        /// Whether it was deleted there, and not just never made.
        var isDeleted = false
        /// The server's time, in milliseconds since 1970.
        var date: Int64?
    }

    /// What was sent.
    struct Edit: Sendable {
        var id: DocumentID
        var base: RevisionID?
        var isDeleted = false
        var body: DocumentBody
        var attachments: [(name: String, json: JSON)] = []
    }

    let peer: CouchDBPeer

    /// Sends an edit.
    ///
    /// - Returns: The revision the server made, and its time.
    /// - Throws: ``PeerError`` with code `conflict` when the document is another there.
    func put(_ edit: Edit) async throws -> (revision: RevisionID, date: Int64?) {
        let calls = try peer.calls()
        let response = try await calls.stream("PUT", .document(edit.id), json: bytes(edit))
        let (json, date) = try await read(response, .document(edit.id))
        guard let revision = json["rev"]?.string.flatMap({ RevisionID($0) }) else {
            throw PeerError(.badAnswer, "\(calls.place(.document(edit.id))) took an edit and did not say as what")
        }
        return (revision, date)
    }

    private func bytes(_ edit: Edit) -> [UInt8] {
        var bytes = Array("{".utf8)
        func add(_ text: String) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes += Array(text.utf8)
        }
        if let base = edit.base { add("\"_rev\":\"\(base)\"") }
        if edit.isDeleted { add("\"_deleted\":true") }
        let members = edit.body.utf8.dropFirst().dropLast()
        if !members.isEmpty { add(String(decoding: members, as: UTF8.self)) }
        if !edit.attachments.isEmpty {
            add("\"_attachments\":" + JSON.object(JSONObject(edit.attachments.map { ($0.name, $0.json) })).description)
        }
        return bytes + [UInt8(ascii: "}")]
    }

    /// What the server has of a document now, or as one revision.
    func state(of id: DocumentID, at revision: RevisionID? = nil) async throws -> State {
        let calls = try peer.calls()
        var query: HTTPQuery = ["revs": "true"]
        if let revision { query["rev"] = revision.description }
        do {
            let response = try await calls.stream("GET", .document(id), query: query)
            let date = Self.date(response)
            let bytes = try await response.collect(limit: 64 << 20)
            let fetched = try bytes.withUnsafeBufferPointer { try FetchedRevision($0) }
            let json = try JSON(utf8: bytes)
            return State(
                history: fetched.history, body: fetched.isDeleted ? nil : fetched.body,
                attachments: json["_attachments"]?.object ?? JSONObject(), isDeleted: fetched.isDeleted, date: date)
        } catch {
            let error = PeerError(error, at: calls.place(.document(id)))
            guard error.code == .notFound, revision == nil else { throw error }
            // There is no such document, or no such database.
            return State(isDeleted: error.serverWords == "deleted", date: try await time())
        }
    }

    /// The server's time; reaches the database, too.
    func time() async throws -> Int64? {
        let calls = try peer.calls()
        return try await read(calls.stream("GET", ""), "").date
    }

    /// An id that the server makes.
    func newID() async throws -> DocumentID {
        let calls = try peer.calls()
        let json = try await calls.server.json("GET", "_uuids", query: ["count": "1"])
        guard let id = json["uuids"]?[0]?.string.flatMap({ try? DocumentID(validating: $0) }) else {
            throw PeerError(.badAnswer, "\(calls.server.place("_uuids")) gave no id")
        }
        return id
    }

    private func read(_ response: HTTPClientResponse, _ path: HTTPPath) async throws -> (json: JSON, date: Int64?) {
        let place = try peer.calls().place(path)
        do {
            return (try JSON(utf8: try await response.collect(limit: 1 << 20)), Self.date(response))
        } catch { throw PeerError(error, at: place) }
    }

    private static func date(_ response: HTTPClientResponse) -> Int64? {
        response.headers["Date"].flatMap { HTTPDate.seconds(of: $0) }.map { Int64($0 * 1000) }
    }
}
