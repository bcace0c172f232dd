internal import Foundation
internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
internal import SettleImport
import SettleReplication

/// Single documents.
extension Client {
    /// A document with those of its revisions that a verb needs.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - revisions: Revisions whose contents are wanted though they may be no leaves.
    ///   - extent: What else is wanted.
    /// - Returns: The document; it has no revisions if it does not exist.
    /// - Throws: ``CommandError``.
    func state(
        of id: DocumentID, with revisions: [RevisionID] = [], _ extent: DocumentFetch.Extent = .leaves
    ) throws -> DocumentState {
        let isSettle = try extent != .leaves && isAtSettle()
        let copy = try wait(about: id) { connection, _ in
            try await DocumentFetch(connection: connection, isSettle: isSettle).fetch(id, with: revisions, extent)
        }
        return DocumentState(copy, attributesKeptOnDelete: attributesKeptOnDelete)
    }

    /// Goes over documents that are fetched together; Ctrl-C ends it.
    ///
    /// - Parameters:
    ///   - ids: The documents.
    ///   - extent: What is wanted besides the leaves.
    ///   - body: Is given each document, and says whether to go on.
    /// - Returns: Whether to go on.
    /// - Throws: ``CommandError``, or what `body` throws.
    func forEachState(
        of ids: [DocumentID], _ extent: DocumentFetch.Extent, _ body: (inout DocumentState) throws -> Bool
    ) throws -> Bool {
        let isSettle = try extent != .leaves && isAtSettle()
        func fetch<Value: Sendable>(_ work: @escaping @Sendable (DocumentFetch) async throws -> Value) throws -> Value {
            try Interruption.check()
            return try wait { connection, _ in try await work(DocumentFetch(connection: connection, isSettle: isSettle))
            }
        }
        var rest = try fetch { try await $0.list(ids) }[...]
        while !rest.isEmpty {
            let copies = try fetch { [rest] in try await $0.fetch(Array(rest), extent) }
            for copy in copies {
                var state = DocumentState(copy, attributesKeptOnDelete: attributesKeptOnDelete)
                guard try body(&state) else { return false }
            }
            rest = rest.dropFirst(copies.count)
        }
        return true
    }

    /// Writes an edit, which is refused if the revision it is made on is no leaf any more.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - body: The members.
    ///   - attachments: The attachments as `_attachments` has them; `nil` for those of `document`.
    ///   - document: The leaf; `nil` for a new document.
    ///   - isDeleted: Whether it is a tombstone.
    ///   - branches: Whether `document` may be any revision that a Settle server knows, so that the edit may begin a branch.
    /// - Returns: The new revision.
    /// - Throws: ``CommandError`` with status `conflict`, or `refused`.
    func save(
        _ id: DocumentID, _ body: DocumentBody, attachments: [WireAttachment]? = nil, on document: Document?,
        isDeleted: Bool = false, branches: Bool = false
    ) throws -> RevisionID {
        // A deleted document is revived by an edit of nothing, as a new one is made.
        let parent = document?.isDeleted == true && !branches ? nil : document?.revision
        let kept = isDeleted ? [] : document?.attachments ?? []
        let line = WireDocument(
            id: id.string, revision: parent.map { .revision($0) }, isDeleted: isDeleted, body: body,
            attachments: attachments ?? kept.map { $0.wire() })
        let path = HTTPPath.document(id)
        let answer = try send(
            path.isExact ? "PUT" : "POST", path.isExact ? path : "", query: branches ? ["conflicts": "branch"] : [:],
            line.bytes(.bodyLate), about: id)
        return try Self.revision(in: answer, of: id)
    }

    /// Deletes a leaf.
    ///
    /// - Parameters:
    ///   - document: The leaf.
    ///   - names: The members that the tombstone keeps besides those that each one of the database keeps.
    /// - Returns: The tombstone.
    /// - Throws: ``CommandError`` with status `conflict`, or `refused`.
    func delete(_ document: Document, keeping names: [String]) throws -> RevisionID {
        let (id, path) = (document.id, HTTPPath.document(document.id))
        if names.isEmpty, path.isExact, !document.isDeleted {
            let answer = try json("DELETE", path, query: ["rev": document.revision?.description ?? ""], about: id)
            return try Self.revision(in: answer, of: id)
        }
        let kept = try attributesKeptOnDelete().union(names)
        let members = (document.json.object ?? JSONObject()).filter { kept.contains($0.name) }
        let body = try DocumentBody(.object(JSONObject(members.map { ($0.name, $0.value) })))
        return try save(id, body, on: document, isDeleted: true)
    }

    private static func revision(in answer: JSONValue, of id: DocumentID) throws -> RevisionID {
        guard let revision = answer["rev"]?.string.flatMap({ RevisionID($0) }) else {
            throw CommandError("bad_answer", "the server says no revision of \"\(id)\"", status: .damaged)
        }
        return revision
    }

    /// Writes an edit of any known revision, so that it may begin a branch.
    ///
    /// - Returns: The new revision.
    func branch(_ state: DocumentState, _ given: GivenDocument, on parent: RevisionID) throws -> RevisionID? {
        // The content of an old revision may be gone, and nothing of it is needed.
        let before = state.document(parent)
        if try isAtSettle() {
            let document =
                before ?? Document(id: state.id, revision: parent, isDeleted: false, RevisionContent(body: .empty))
            return try save(state.id, given.body, attachments: given.editedAttachments, on: document, branches: true)
        }
        let scratch = try ScratchDatabase(inMemory: true)
        let importer = AttachmentImporter(scratch.database) { _ in state.attachments }
        let attachments =
            try given.attachments.map { try importer.attachments($0, of: state.id) } ?? before?.attachments ?? []
        let revision = RevisionHasher().revision(
            of: given.body, parent: parent, attachments: attachments.map(\.signature))
        try store([
            try onTheWay(state, revision, on: parent, isDeleted: false, given.body, attachments, scratch.database)
        ])
        return revision
    }

    /// Stores revisions as they are, with their histories; they never conflict.
    ///
    /// - Throws: ``CommandError`` when one is refused.
    func store(_ revisions: [PeerRevision]) throws {
        let outcomes = try wait { _, peer in try await peer.store(revisions, branching: .allowed) }
        for (revision, outcome) in zip(revisions, outcomes) {
            switch outcome {
            case .stored, .known: break
            case .refused(let error), .failed(let error): throw failure(about: revision.id).explained(error)
            }
        }
    }

    func onTheWay(
        _ state: DocumentState, _ revision: RevisionID, on parent: RevisionID, isDeleted: Bool, _ body: DocumentBody,
        _ attachments: [DocumentAttachment], _ scratch: Database? = nil
    ) throws -> PeerRevision {
        let path = state.tree.history(of: parent)?.signatures ?? []
        let before = state.document(parent)?.attachments ?? []
        return PeerRevision(
            id: state.id,
            history: try RevisionHistory(
                start: revision.generation, signatures: [revision.signature] + path), isDeleted: isDeleted, body: body,
            attachments: try attachments.map { attachment in
                let same = before.first { $0.name == attachment.name && $0.digest == attachment.digest }
                let placed = try attachment.described(
                    as: attachment.name, contentType: attachment.contentType,
                    revpos: same?.revpos ?? revision.generation, length: attachment.length)
                if let scratch, !attachment.isElsewhere { return placed.onTheWay(from: scratch) }
                return placed.onTheWay(as: same == nil ? try content(of: attachment, in: state) : .stub)
            })
    }

    /// The content of an attachment of another leaf, which has to be sent again.
    private func content(of attachment: DocumentAttachment, in state: DocumentState) throws -> PeerAttachment.Content {
        let owner = state.tree.revisions.sorted().last { revision in
            state.document(revision)?.attachments.contains { $0.digest == attachment.digest } ?? false
        }
        guard let owner else {
            throw CommandError.notFound("the content of \"\(attachment.name)\" of \"\(state.id)\" is not at the server")
        }
        let id = state.id
        let answers = try wait(about: id) { _, peer in
            try await peer.revisions([RevisionRequest(id: id, revision: owner)], budget: 8 << 20)
        }
        guard case .found(let found)? = answers.first,
            let same = found.attachments.first(where: { $0.digest == attachment.digest })
        else { throw CommandError.notFound("\(owner) of \"\(id)\" is no longer at the server; begin again") }
        return same.content
    }

    /// Forgets leaves of a document, all unless some are given.
    ///
    /// - Returns: Those that are forgotten.
    func purge(_ id: DocumentID, _ revisions: [RevisionID]) throws -> [RevisionID] {
        let leaves = revisions.isEmpty ? try state(of: id).tree.leaves.map(\.revision) : revisions
        if leaves.isEmpty { return [] }
        let body: JSONValue = [id.string: .array(leaves.map { .string($0.description) })]
        let answer = try json("POST", "_purge", body: body, about: id)
        let purged = Set((answer["purged"]?[id.string]?.array ?? []).compactMap(\.string))
        return leaves.filter { purged.contains($0.description) }
    }

    /// A local document.
    func localDocument(_ id: DocumentID) throws -> (revision: String, body: DocumentBody)? {
        _ = try info()
        let found = try wait(about: id) { _, peer in try await peer.localDocument(id) }
        return try found.map { ($0.revision, try DocumentBody($0.body)) }
    }

    /// Replaces a local document, or creates it; returns its new revision.
    @discardableResult
    func saveLocalDocument(_ id: DocumentID, _ body: DocumentBody) throws -> String {
        try wait(about: id) { _, peer in
            let before = try await peer.localDocument(id)
            return try await peer.saveLocalDocument(id, body: body.json, revision: before?.revision)
        }
    }

    /// Deletes a local document; returns whether there was one.
    func deleteLocalDocument(_ id: DocumentID) throws -> Bool {
        guard let revision = try localDocument(id)?.revision else { return false }
        try json("DELETE", .document(id), query: ["rev": revision], about: id)
        return true
    }
}

// MARK: - ScratchDatabase

/// A database for documents on their way, which goes with the object: in memory, or in a temporary folder where contents of
/// any size find room.
final class ScratchDatabase {
    let database: Database
    private let folder: String?

    init(inMemory: Bool) throws {
        var options = DatabaseOptions()
        options.maximumDocumentSize = .max
        options.warn = { _ in }
        if inMemory {
            folder = nil
            database = try Database.inMemory(options: options)
        } else {
            let path = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)").path
            folder = path
            database = try Database.create(path, options: options)
        }
        try database.setRevisionLimit(Int(Int32.max))
    }

    deinit {
        database.close()
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }
}
