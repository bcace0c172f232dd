internal import Settle

/// Where a verb finds a document and writes what it made of it: a database on this machine, or a replica of the document at a
/// server.
struct DocumentPlace {
    /// Holds the document.
    let database: Database
    /// What goes to the server; `nil` on this machine.
    let replica: Replica?

    /// Sees that an edit which was saved in the database is where it belongs.
    ///
    /// - Returns: Its revision.
    func commit(_ saved: Document?) throws -> RevisionID? {
        guard let replica, let saved else { return saved?.revision }
        return try replica.send(edit: saved)
    }

    /// Sees that revisions which were written into the database, without looking whether they make a conflict, are where
    /// they belong.
    func commitRevisions(of id: DocumentID) throws { try replica?.sendRevisions(of: id) }

    /// Hands on the content of an attachment, piece by piece.
    func read(_ attachment: Attachment, of document: Document, _ body: ([UInt8]) throws -> Void) throws {
        guard let remote = replica?.remote else {
            let reader = try database.attachmentReader(for: attachment)
            while let piece = try reader.read() { try body(piece) }
            return
        }
        var query = HTTPQuery()
        query["rev"] = document.revision?.description
        let path = HTTPPath.attachment(attachment.name, of: document.id)
        let response = try remote.stream(path, query: query, about: document.id) { request in
            request.headers["Accept"] = "*/*"
            request.acceptsCompression = true
        }
        var count: Int64 = 0
        while let piece = try remote.next(of: response) {
            count += Int64(piece.count)
            try body(piece)
        }
        guard count == attachment.length else {
            throw CommandError(
                "attachment_missing",
                "\"\(attachment.name)\" of \"\(document.id)\" came with \(count) of \(attachment.length) bytes",
                status: .damaged)
        }
    }

    /// A local document.
    func localDocument(_ id: DocumentID) throws -> (revision: String, body: DocumentBody)? {
        guard let remote = replica?.remote else {
            return try database.localDocument(id).map { ($0.revision, $0.body) }
        }
        let found = try remote.wait(about: id) { _, peer in try await peer.localDocument(id) }
        return try found.map { ($0.revision, try DocumentBody($0.body)) }
    }

    /// Writes a local document; returns its revision.
    func saveLocalDocument(_ id: DocumentID, _ body: DocumentBody) throws -> String {
        guard let remote = replica?.remote else { return try database.saveLocalDocument(id, body: body).revision }
        return try remote.saveLocalDocument(id, body)
    }

    /// Deletes a local document; returns whether there was one.
    func deleteLocalDocument(_ id: DocumentID) throws -> Bool {
        guard let remote = replica?.remote else { return try database.deleteLocalDocument(id) }
        guard let revision = try localDocument(id)?.revision else { return false }
        try remote.json("DELETE", .document(id), query: ["rev": revision], about: id)
        return true
    }
}

extension Client {
    /// Writes a local document on top of what is there; returns its revision.
    func saveLocalDocument(_ id: DocumentID, _ body: DocumentBody) throws -> String {
        try wait(about: id) { _, peer in
            let before = try await peer.localDocument(id)
            return try await peer.saveLocalDocument(id, body: body.json, revision: before?.revision)
        }
    }
}
