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
    /// Documents that are fetched together have about this many bytes, so that memory stays bounded.
    private static let bytesAtOnce = 16 << 20

    /// Fetches a document by requests of its own.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - revisions: Revisions that are wanted even if they are no leaves.
    ///   - extent: What else is wanted.
    /// - Returns: The document; it has no revisions if the server does not have it.
    /// - Throws: ``CouchDBError``, ``TransportError``, or ``CommandError`` for JSON that is not a document.
    func fetch(
        _ id: DocumentID, with revisions: [RevisionID] = [], _ extent: Extent
    ) async throws -> DocumentCopy {
        let leaves = try await leaves(of: id)
        let rows = extent == .stored || extent == .bases && leaves.count > 1 ? try await treeRows(of: id) : nil
        var copy = copy(of: id, leaves, isMarked: rows != nil)
        for row in rows?.rows ?? [] {
            guard let revision = row["rev"]?.string.flatMap({ RevisionID($0) }) else { continue }
            if row["deletion"] == true { copy.mark(revision, .deletion) }
            if row["remote"] == true { copy.mark(revision, .incoming) }
        }
        for revision in revisions + (extent == .bases ? copy.tree.branchPoints : [])
        where copy.document(revision) == nil {
            if let document = try await document(id, revision) { copy.insert(document) }
        }
        guard extent == .stored else { return copy }
        guard let rows, rows.isWhole else {
            for inner in try await stored(behind: leaves, of: id) {
                copy.insert(inner.history, isDeleted: inner.isDeleted, nil)
            }
            return copy
        }
        for row in rows.rows where row["leaf"] == false && row["stored"] == true {
            if let revision = row["rev"]?.string.flatMap({ RevisionID($0) }), let path = copy.tree.history(of: revision)
            {
                copy.insert(path, isDeleted: row["deleted"] == true, nil)
            }
        }
        return copy
    }

    /// Makes a copy of a document from its leaves and other revisions. Where nothing else says which leaf is a deletion, the
    /// winner of a deleted document is one.
    private func copy(of id: DocumentID, _ documents: [ReplicatedRevision], isMarked: Bool) -> DocumentCopy {
        var copy = DocumentCopy(id)
        copy.knowsSides = isMarked || documents.count < 2
        let isDeleted = !isMarked && documents.allSatisfy(\.isDeleted)
        let winner = documents.map(\.history.revision).max()
        for document in documents {
            copy.insert(document, isDeletionAtSource: isDeleted && document.history.revision == winner)
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

// MARK: - Lists

/// A document of a list of conflicts, with what the list says of it.
struct ListedConflict: Sendable {
    let id: DocumentID
    /// The leaves to decide between; empty where the list does not say.
    private(set) var leaves: Set<RevisionID> = []
    /// Those of them that came from elsewhere.
    private(set) var remote: [RevisionID] = []
    /// Their common ancestor, if the server has its content.
    private(set) var base: RevisionID?

    init(_ id: DocumentID) { self.id = id }

    /// Reads the value of a row of `_conflicts`; a row without one says nothing.
    init(_ id: DocumentID, _ value: JSONValue?) {
        self.id = id
        func revision(_ value: JSONValue?) -> RevisionID? { value?.string.flatMap { RevisionID($0) } }
        guard let value, let winner = revision(value["rev"]) else { return }
        leaves = Set((value["conflicts"]?.array ?? []).compactMap(revision) + [winner])
        remote = (value["remote"]?.array ?? []).compactMap(revision)
        base = revision(value["base"])
    }
}

extension DocumentFetch {
    private typealias Wanted = (id: DocumentID, revision: RevisionID?)

    /// Lists documents with what a Settle server says of their conflicts; another one says nothing.
    func list(_ ids: [DocumentID]) async throws -> [ListedConflict] {
        guard isSettle else { return ids.map { ListedConflict($0) } }
        let answer = try await connection.json(
            "POST", "_conflicts", body: ["keys": .array(ids.map { .string($0.string) })], limit: Self.longestAnswer)
        let rows = answer.json["rows"]?.array ?? []
        return ids.enumerated().map { index, id in
            ListedConflict(id, rows.indices.contains(index) ? rows[index]["value"] : nil)
        }
    }

    /// Fetches documents of a list together: by one request, and by a second one if branches part at revisions that the list does
    /// not name. From a server without `_bulk_get` each is fetched by requests of its own, and from one that accepts fewer documents
    /// in one request only as many as it accepts.
    ///
    /// - Parameters:
    ///   - listed: The documents.
    ///   - extent: What is wanted besides the leaves; inner revisions that are stored can't be.
    /// - Returns: The first of them in their order, at least one: as many as fit into memory.
    /// - Throws: ``CouchDBError``, ``TransportError``, or ``CommandError`` for JSON that is not a document.
    func fetch(_ listed: [ListedConflict], _ extent: Extent) async throws -> [DocumentCopy] {
        let hasBases = extent == .bases
        let wanted = listed.flatMap { document -> [Wanted] in
            [(document.id, nil)] + (hasBases ? document.base.map { [(document.id, $0)] } ?? [] : [])
        }
        let found: [DocumentID: [ReplicatedRevision]]
        do { found = try await together(wanted, budget: Self.bytesAtOnce) } catch let error as CouchDBError
            where error.status == 413 && listed.count > 1
        {
            // The server accepts fewer documents in one request.
            return try await fetch(Array(listed.prefix(listed.count / 2)), extent)
        } catch let error as CouchDBError
            where [400, 404, 405, 413, 501].contains(error.status) && !ClientFailure.isAboutDatabase(error)
        {
            var copies: [DocumentCopy] = []
            for document in listed.prefix(16) { copies.append(try await fetch(document.id, extent)) }
            return copies
        }
        var copies: [DocumentCopy] = []
        for document in listed {
            guard let revisions = found[document.id] else { break }
            copies.append(try await copy(of: document, revisions, extent))
        }
        guard hasBases else { return copies }
        let missing = copies.flatMap { copy -> [Wanted] in
            copy.tree.branchPoints.filter { copy.document($0) == nil }.map { (copy.id, $0) }
        }
        guard !missing.isEmpty else { return copies }
        // The server has accepted this many rows.
        for part in missing.parts(of: wanted.count) {
            let others = try await together(part, budget: .max)
            for index in copies.indices { for other in others[copies[index].id] ?? [] { copies[index].insert(other) } }
        }
        return copies
    }

    /// Makes a copy of a document with the marks that the list has. If the document was changed since it was listed, or was not
    /// listed with its leaves, a Settle server is asked for its marks.
    private func copy(
        of document: ListedConflict, _ revisions: [ReplicatedRevision], _ extent: Extent
    ) async throws -> DocumentCopy {
        guard isSettle, extent == .bases else { return copy(of: document.id, revisions, isMarked: false) }
        var copy = copy(of: document.id, revisions, isMarked: true)
        for leaf in document.leaves where copy.tree[leaf]?.isDeleted == true { copy.mark(leaf, .deletion) }
        for leaf in document.remote { copy.mark(leaf, .incoming) }
        let live = copy.tree.leaves.filter { !$0.isDeleted }.map(\.revision)
        let isSame = document.leaves == Set(live + copy.tree.disputedDeletions)
        return isSame ? copy : try await fetch(document.id, extent)
    }

    /// Fetches revisions of many documents by one request; all leaves where none is named.
    ///
    /// - Parameters:
    ///   - wanted: The documents with their revisions; at least one.
    ///   - budget: The answer is read until it has this many bytes.
    /// - Returns: The revisions that the server has, of the first document and the others that were read to their ends.
    /// - Throws: ``CouchDBError``, ``TransportError``, or ``CommandError`` for JSON that is not a document.
    private func together(
        _ wanted: [Wanted], budget: Int
    ) async throws -> [DocumentID: [ReplicatedRevision]] {
        let rows = wanted.map { id, revision -> JSONValue in
            var row: JSONValue = ["id": .string(id.string)]
            if let revision { row["rev"] = .string(revision.description) }
            return row
        }
        let body: JSONValue = ["docs": .array(rows)]
        let response = try await connection.stream(
            "POST", "_bulk_get", query: ["revs": "true", "att_encoding_info": "true"], body: .bytes(body.utf8)
        ) { request in
            request.acceptsCompression = true
            request.headers["Accept"] = "application/json"
            request.headers["Content-Type"] = "application/json"
        }
        var rest = wanted.reduce(into: [DocumentID: Int]()) { $0[$1.id, default: 0] += 1 }
        var found: [DocumentID: [ReplicatedRevision]] = [:]
        var bytes = 0
        func receive(_ element: JSONElements.Element) throws -> Bool {
            guard case .bytes(let text) = element else { throw Client.overlong }
            guard let row = try? BulkGetAnswer(text) else { throw JSONElements.Fault.malformed }
            let id = DocumentID(unchecked: row.id)
            found[id, default: []] += []
            for entry in row.entries {
                switch entry {
                case .document(let range):
                    found[id, default: []].append(try ReplicatedRevision(answer: Array(text[range])))
                case .failure(_, "not_found", _): break
                case .failure(_, let error, let reason):
                    throw CouchDBError(status: 500, error: error, reason: reason, method: "POST", path: "_bulk_get")
                }
            }
            bytes += text.count
            if let count = rest[id] { rest[id] = count > 1 ? count - 1 : nil }
            return bytes < budget || rest[wanted[0].id] != nil
        }
        var elements = JSONElements(of: "results", longestElement: Client.longestElement)
        for try await piece in response.body {
            guard try elements.parse(piece, receive) else { return found.filter { rest[$0.key] == nil } }
        }
        _ = try elements.finish()
        for (id, _) in wanted { found[id, default: []] += [] }
        return found
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

extension DocumentCopy {
    /// Adds a revision with its content.
    fileprivate mutating func insert(_ document: ReplicatedRevision, isDeletionAtSource: Bool = false) {
        insert(
            document.history, isDeleted: document.isDeleted,
            RevisionContent(body: document.body, attachments: document.attachments),
            isDeletionAtSource: isDeletionAtSource)
    }
}
