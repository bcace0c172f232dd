internal import Settle

extension Replica {
    /// Writes an edit that was made here to the server, which refuses it if the revision under it is no leaf any more.
    ///
    /// - Returns: The revision as the server tells it.
    /// - Throws: ``CommandError`` with status `conflict`, or `refused`.
    func send(edit saved: Document) throws -> RevisionID {
        guard let revision = saved.revision, let tree = try database.tree(of: saved.id) else {
            throw CommandError.invalid("\"\(saved.id)\" has no revision to send")
        }
        var line = DocumentJSON(saved)
        line.attachments = .object(JSONObject(try saved.attachments.map { ($0.name, try wire($0)) }))
        // A deleted document is revived by an edit of nothing, as a new one is made.
        let parent = tree.parent(of: revision).flatMap { tree[$0]?.isDeleted == true ? nil : $0 }
        let bytes = line.bytes(on: parent)
        let answer = try remote.wait(about: saved.id) { connection, _ in
            let response = try await connection.stream("PUT", .document(saved.id), body: .bytes(bytes)) { request in
                request.headers["Content-Type"] = "application/json"
                request.headers["Accept"] = "application/json"
            }
            return try JSON(utf8: try await response.collect(limit: 1 << 20))
        }
        try settle(saved.id)
        return answer["rev"]?.string.flatMap { RevisionID($0) } ?? revision
    }

    /// An attachment as an edit has it: a stub for what the server has, else its content.
    private func wire(_ attachment: Attachment) throws -> JSON {
        var members: [(String, JSON)] = [("content_type", .string(attachment.contentType))]
        if isElsewhere(attachment) {
            members += DocumentJSON.described(attachment).dropFirst() + [("stub", true)]
        } else {
            members.append(("data", .string(Base64.encode(try database.content(of: attachment)))))
        }
        return .object(JSONObject(members))
    }

    /// Stores the revisions that were written here at the server as they are, with their histories; they never conflict.
    ///
    /// - Throws: ``CommandError`` when the server refuses one.
    func sendRevisions(of id: DocumentID) throws {
        let revisions = try news(of: id).map { document, history in
            PeerRevision(
                id: id, history: history, isDeleted: document.isDeleted, body: try document.body(),
                attachments: try attachments(of: document, history))
        }
        if revisions.isEmpty { return }
        let outcomes = try remote.wait(about: id) { _, peer in try await peer.store(revisions, branching: .allowed) }
        for outcome in outcomes {
            switch outcome {
            case .stored, .known: break
            case .refused(let error), .failed(let error):
                throw remote.failure(about: id).told(error)
            }
        }
        try settle(id)
    }

    /// Where the contents of a new revision are: the server has those of the revision before; those of another leaf it has to
    /// be sent again.
    private func attachments(of document: Document, _ history: RevisionHistory) throws -> [PeerAttachment] {
        let before = try base(of: history, in: document.id)?.attachments ?? []
        return try document.attachments.map { attachment in
            guard isElsewhere(attachment) else { return attachment.onTheWay(from: database) }
            let isThere = before.contains { $0.name == attachment.name && $0.digest == attachment.digest }
            return attachment.onTheWay(as: isThere ? .stub : try content(of: attachment, in: document.id))
        }
    }

    private func content(of attachment: Attachment, in id: DocumentID) throws -> PeerAttachment.Content {
        guard let revision = try owner(of: attachment, in: id) else {
            throw CommandError.notFound("the content of \"\(attachment.name)\" of \"\(id)\" is not at the server")
        }
        let answers = try remote.wait(about: id) { _, peer in
            try await peer.revisions([RevisionRequest(id: id, revision: revision)], budget: 8 << 20)
        }
        guard case .found(let found)? = answers.first,
            let same = found.attachments.first(where: { $0.digest == attachment.digest })
        else { throw CommandError.notFound("\(revision) of \"\(id)\" is not at the server any more; begin again") }
        return same.content
    }
}

extension DocumentJSON {
    /// The document as an edit of a revision, or a new one.
    fileprivate func bytes(on parent: RevisionID?) -> [UInt8] {
        let edit = Document(
            id: document.id, revision: parent, isDeleted: document.isDeleted,
            RevisionContent(body: document.bodyOrEmpty, attachments: document.attachments))
        var line = DocumentJSON(edit)
        line.attachments = attachments
        return line.bytes
    }
}
