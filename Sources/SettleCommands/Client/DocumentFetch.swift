internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
import SettleReplication

/// Brings the revisions of documents that a verb looks at.
struct DocumentFetch: Sendable {
    /// What is brought besides the leaves.
    enum Extent: Sendable {
        /// Nothing.
        case leaves
        /// The revisions where branches part, as far as the server still has them, for merges; of Settle also where leaves
        /// came from, and which are deletions.
        case bases
        /// Which inner revisions the server still has; their members stay there.
        case stored
    }

    let connection: CouchDBConnection
    /// Whether it is a Settle server, which tells all of a tree at once.
    let isSettle: Bool
    /// A leaf of 8 MB, a thousand times.
    private static let longestAnswer = 8 << 30
    private static let atOnce = 8

    /// Fetches documents, several at the same time.
    ///
    /// - Parameters:
    ///   - ids: The documents.
    ///   - revisions: Revisions of all of them that are wanted even if they are no leaves.
    ///   - extent: What else is wanted.
    /// - Returns: Them in the order given; those that are not there without leaves.
    /// - Throws: ``CouchDBError``, ``TransportError``, or ``CommandError`` for JSON that is not a document.
    func fetch(_ ids: [DocumentID], with revisions: [RevisionID] = [], _ extent: Extent) async throws -> [DocumentCopy]
    {
        try await withThrowingTaskGroup(of: (Int, DocumentCopy).self) { group in
            var rest = ids.indices
            func start() {
                guard let index = rest.popFirst() else { return }
                group.addTask { (index, try await fetch(ids[index], with: revisions, extent)) }
            }
            for _ in 0..<Self.atOnce { start() }
            var results = [DocumentCopy?](repeating: nil, count: ids.count)
            while let (index, result) = try await group.next() {
                results[index] = result
                start()
            }
            return results.compactMap(\.self)
        }
    }

    private func fetch(
        _ id: DocumentID, with revisions: [RevisionID], _ extent: Extent
    ) async throws -> DocumentCopy {
        var documents = try await leaves(of: id)
        let (count, leaves) = (documents.count, Set(documents.map(\.history.revision)))
        var wanted = revisions
        if extent == .bases, leaves.count > 1 {
            var tree = RevisionTree()
            for leaf in documents { _ = tree.insert(leaf.history, isDeleted: leaf.isDeleted) }
            wanted += tree.branchPoints
        }
        for revision in wanted where !leaves.contains(revision) {
            if let document = try await document(id, revision) { documents.append(document) }
        }
        let rows = extent == .stored || extent == .bases && count > 1 ? try await treeRows(of: id) : nil
        var copy = DocumentCopy(id)
        if extent == .stored, rows?.isWhole != true {
            for inner in try await stored(behind: documents, of: id) {
                copy.insert(inner.history, isDeleted: inner.isDeleted, nil)
            }
        }
        let isDeleted = rows == nil && documents.prefix(count).allSatisfy(\.isDeleted)
        let winner = documents.prefix(count).map(\.history.revision).max()
        for document in documents {
            copy.insert(
                document.history, isDeleted: document.isDeleted,
                RevisionContent(body: document.body, attachments: document.attachments),
                isDeletionAtSource: isDeleted && document.history.revision == winner)
        }
        for row in rows?.rows ?? [] {
            guard let revision = row["rev"]?.string.flatMap({ RevisionID($0) }) else { continue }
            if extent == .stored, row["leaf"] == false, row["stored"] == true,
                let path = copy.tree.history(of: revision)
            {
                copy.insert(path, isDeleted: row["deleted"] == true, nil)
            }
            if row["deletion"] == true { copy.mark(revision, .deletion) }
            if row["remote"] == true { copy.mark(revision, .incoming) }
        }
        return copy
    }

    /// What a Settle server tells of the revisions of a document, and whether no chain of them is folded; `nil` at another
    /// server, and for a document that is not there or has too many leaves.
    private func treeRows(of id: DocumentID) async throws -> (rows: [JSONValue], isWhole: Bool)? {
        let path = HTTPPath.endpoint("_conflicts", about: id)
        guard isSettle, path.isExact else { return nil }
        do {
            let answer = try await connection.json(
                "GET", path, query: ["docs": "false", "tree": "full"], limit: Self.longestAnswer)
            let rows = answer.json["tree"]?["revisions"]?.array ?? []
            return (rows, rows.allSatisfy { $0["folded"] == nil })
        } catch let error as CouchDBError where [400, 404].contains(error.status) { return nil }
    }

    private func leaves(of id: DocumentID) async throws -> [ReplicatedRevision] {
        let answer: CouchDBAnswer
        do {
            answer = try await connection.json(
                "GET", .document(id), query: ["open_revs": "all", "revs": "true", "att_encoding_info": "true"],
                limit: Self.longestAnswer)
        } catch let error as CouchDBError where error.status == 404 && !ClientFailure.isAboutDatabase(error) {
            return []
        }
        return try (answer.json.array ?? []).compactMap { row in
            try row["ok"].map { try ReplicatedRevision(answer: $0.utf8) }
        }
    }

    /// One revision; `nil` when the server has it no more.
    private func document(_ id: DocumentID, _ revision: RevisionID) async throws -> ReplicatedRevision? {
        let query: HTTPQuery = ["rev": revision.description, "revs": "true", "att_encoding_info": "true"]
        do {
            let answer = try await connection.json("GET", .document(id), query: query, limit: Self.longestAnswer)
            return try ReplicatedRevision(answer: answer.json.utf8)
        } catch let error as CouchDBError where error.status == 404 && !ClientFailure.isAboutDatabase(error) {
            return nil
        }
    }

    /// Which inner revisions the server has: of the winner's path it tells all at once, of others each is asked for.
    private func stored(
        behind leaves: [ReplicatedRevision], of id: DocumentID
    ) async throws -> [(history: RevisionHistory, isDeleted: Bool)] {
        var paths: [RevisionID: RevisionHistory] = [:]
        for leaf in leaves {
            let history = leaf.history
            for (index, revision) in history.revisions.enumerated().dropFirst() {
                paths[revision] = try RevisionHistory(
                    start: revision.generation, signatures: Array(history.signatures[index...]))
            }
        }
        var states: [RevisionID: String] = [:]
        if !paths.isEmpty, leaves.contains(where: { !$0.isDeleted }) {
            let answer = try await connection.json(
                "GET", .document(id), query: ["revs_info": "true"], limit: Self.longestAnswer)
            for row in answer.json["_revs_info"]?.array ?? [] {
                if let revision = row["rev"]?.string.flatMap({ RevisionID($0) }) {
                    states[revision] = row["status"]?.string
                }
            }
        }
        for revision in paths.keys where states[revision] == nil {
            states[revision] = try await isThere(id, revision) ? "available" : "missing"
        }
        return paths.sorted { $0.key < $1.key }.compactMap { revision, history in
            states[revision] == "missing" ? nil : (history, states[revision] == "deleted")
        }
    }

    private func isThere(_ id: DocumentID, _ revision: RevisionID) async throws -> Bool {
        do {
            let response = try await connection.stream("HEAD", .document(id), query: ["rev": revision.description])
            _ = try await response.collect(limit: 1 << 16)
            return true
        } catch let error as CouchDBError where error.status == 404 { return false }
    }
}

// MARK: - Answers

extension ReplicatedRevision {
    /// Reads a document as a server sends it: with its history where that was asked for, and its attachments as stubs, whose
    /// contents stay at the server. Members that say what the server knows of it besides are passed over.
    ///
    /// - Throws: ``CommandError`` for JSON that is not a document.
    init(answer bytes: [UInt8]) throws {
        let document: WireDocument
        do { document = try bytes.withUnsafeBufferPointer { try WireDocument(answer: $0) } } catch is WireDocument.Fault
        {
            throw Self.bad("a document with an invalid _revisions or _attachments")
        }
        guard let id = document.id, let revision = document.revision?.id else {
            throw Self.bad("a document without _id or _rev")
        }
        self.init(
            id: DocumentID(unchecked: id), history: document.history ?? RevisionHistory(revision),
            isDeleted: document.isDeleted, body: document.body,
            attachments: try document.attachments.map { try Self.stub($0) })
    }

    /// The document, to be shown.
    var document: Document {
        Document(
            id: id, revision: revision, isDeleted: isDeleted, RevisionContent(body: body, attachments: attachments))
    }

    private static func bad(_ what: String) -> CommandError {
        CommandError("bad_answer", "the server sent \(what)", status: .damaged)
    }

    private static func stub(_ wire: WireAttachment) throws -> DocumentAttachment {
        guard let digest = wire.digest.flatMap({ AttachmentDigest($0) }),
            let elsewhere = DocumentAttachment.elsewhere(digest)
        else { throw bad("the attachment \"\(wire.name)\" without digest") }
        let length = wire.length ?? 0
        guard length >= 0, wire.encodedLength ?? 0 >= 0 else {
            throw bad("the attachment \"\(wire.name)\" with a length below zero")
        }
        return DocumentAttachment(
            name: wire.name, contentType: wire.contentType, revpos: wire.revpos ?? 0, digest: digest, length: length,
            encodedLength: wire.encodedLength ?? length,
            encoding: wire.encoding.flatMap { DocumentAttachment.Encoding(rawValue: $0) } ?? .identity, blob: elsewhere)
    }
}
