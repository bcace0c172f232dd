internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform
internal import SettleServer
internal import SettleTesting

/// A client of CouchDB's API. It saves, deletes, attaches, writes branches, and settles conflicts by uniting the
/// leaves.
struct CouchClient {
    /// An action of the client.
    enum Action: String, CaseIterable {
        case save
        case saveWithoutAttachments
        case delete
        case attach
        case changeBlob
        /// Writes a revision beside the winner, with `new_edits` false.
        case branch
        /// Settles all conflicts.
        case settle
        /// Saves more often than the database keeps revisions.
        case saveOften
        /// Writes a document with an id that LiteCore does not accept.
        case oddID
    }

    let server: FleetServer

    private func path(_ id: String) -> String {
        "/"
            + id.utf8.map { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(byte))
                default: "%" + Hexadecimal.encode([byte])
                }
            }.joined()
    }

    /// Adds a word to the winner, and keeps its attachments by default.
    ///
    /// - Returns: Whether it was stored.
    func save(_ id: String, adding word: String, keepsAttachments: Bool = true) throws -> Bool {
        var body: JSONObject = [:]
        if let document = try server.document(id) {
            body = document.json.object ?? [:]
            body["_rev"] = document.revision.map { .string($0.description) }
            if keepsAttachments, !document.attachments.isEmpty {
                body["_attachments"] = .object(
                    JSONObject(document.attachments.map { ($0.name, ["stub": true] as JSONValue) }))
            }
            if !keepsAttachments {
                let digests = LiteDevice.digests(of: .object(body))
                server.memory.withLock { $0.lost.formUnion(digests.map { id + $0 }) }
            }
        }
        body[word] = true
        return try server.call("PUT", path(id), .object(body)).status < 300
    }

    /// - Returns: The words that the deletion gave up.
    func delete(_ id: String) throws -> [String] {
        guard let document = try server.document(id), let revision = document.revision else { return [] }
        let words = document.json.object?.names ?? []
        return try server.call("DELETE", path(id) + "?rev=\(revision)").status < 300 ? words : []
    }

    /// Stores an attachment, which may be a blob's content.
    func attach(_ id: String, _ name: String, _ content: [UInt8]) throws {
        guard let revision = try server.document(id)?.revision else { return }
        let coded = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init).joined(
            separator: "%2F")
        try server.call("PUT", path(id) + "/\(coded)?rev=\(revision)", content, "text/plain")
    }

    /// Writes a leaf beside the winner, as the child of one of its ancestors.
    func branch(_ id: String, adding word: String, _ random: inout SeededRandom) throws -> Bool {
        guard let tree = try server.tree(id), let winner = tree.winner, !winner.isDeleted,
            let history = tree.history(of: winner.revision), var body = try server.body(id)
        else { return false }
        guard body["photo"] == nil, try server.document(id)?.attachments.isEmpty == true else { return false }
        let parents = history.revisions.dropFirst(random.below(2)).prefix(3)
        guard let parent = random.pick(Array(parents)) else { return false }
        let path = Array(history.revisions.drop { $0 != parent })
        let digest = Hexadecimal.encode((0..<16).map { _ in UInt8(random.below(256)) })
        body[word] = true
        body["_id"] = .string(id)
        body["_rev"] = .string("\(parent.generation + 1)-\(digest)")
        body["_revisions"] = [
            "start": .number(JSONNumber(Int(parent.generation + 1))),
            "ids": .array(([digest] + path.map(\.signature.description)).map { .string($0) }),
        ]
        let answer = try server.call("POST", "/_bulk_docs", ["new_edits": false, "docs": [.object(body)]])
        return answer.status < 300 && answer.json.array?.isEmpty ?? true
    }

    /// Unites the leaves of every document in conflict, and deletes the losers.
    ///
    /// - Returns: The number of documents that it settled.
    func settle() throws -> Int {
        let ids = try server.conflicts
        for id in ids {
            let leaves = try server.database.leaves(of: DocumentID(unchecked: id)).filter { !$0.isDeleted }
            guard let winner = leaves.first, let revision = winner.revision else { continue }
            // A blob comes with its attachment, which stays with the leaf.
            var body = leaves.dropFirst().reduce(winner.json.object ?? [:]) { united, leaf in
                LiteResolver.unite(united, (leaf.json.object ?? [:]).without { $0 == "photo" })
            }
            body["_rev"] = .string(revision.description)
            if !winner.attachments.isEmpty {
                body["_attachments"] = .object(
                    JSONObject(winner.attachments.map { ($0.name, ["stub": true] as JSONValue) }))
            }
            _ = try server.call("PUT", path(id), .object(body))
            for leaf in leaves.dropFirst() {
                if let revision = leaf.revision { _ = try server.call("DELETE", path(id) + "?rev=\(revision)") }
            }
        }
        return ids.count
    }
}
