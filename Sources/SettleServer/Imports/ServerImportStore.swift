internal import Foundation
internal import SettleCore
internal import SettleDatabase
internal import SettleImport

/// Stores the documents of a file in a database of the server, with the checks of any write over HTTP: design documents are
/// for administrators and have a form, documents have a largest size, and validation functions are asked.
///
/// A batch is not one transaction, because functions run between its reads and its writes.
struct ServerImportStore: ImportStore {
    private let base: DatabaseImportStore
    private let database: Database
    private let context: RequestContext
    private let writeGuard: WriteGuard
    private let designCheck: DesignDocumentCheck
    var attachmentImporter: AttachmentImporter { base.attachmentImporter }
    /// How often a document is tried that others write at the same time.
    private static let attempts = 10

    /// - Throws: ``HTTPError`` if the database has functions that this server can't run; ``DatabaseError``.
    init(_ database: Database, _ context: RequestContext) throws {
        (self.database, self.context) = (database, context)
        base = DatabaseImportStore(database)
        writeGuard = try WriteGuard(context)
        designCheck = DesignDocumentCheck(scripts: context.scripts, database: database)
    }

    func transaction(_ body: () throws -> Void) throws { try body() }

    func save(_ documents: [Document], onConflict conflict: ImportConflict) throws -> [ImportOutcome] {
        var outcomes = [ImportOutcome](repeating: .stored, count: documents.count)
        var rest = Array(documents.indices)
        for attempt in 1...Self.attempts where !rest.isEmpty {
            var edits: [(index: Int, edit: DocumentEdit)] = []
            for index in rest {
                do {
                    edits.append((index, try edit(documents[index], overwrites: conflict == .overwrite)))
                } catch let error as HTTPError { outcomes[index] = .failed(error) }
            }
            rest = []
            for (item, result) in zip(edits, try writeGuard.write(edits.map(\.edit), to: database)) {
                guard case .failure(let error) = result else { continue }
                let told = HTTPError(error)
                if error.code != .conflict {
                    outcomes[item.index] = .failed(told)
                } else if conflict == .overwrite, attempt < Self.attempts {
                    // Another client, or a document before it in the file, has written it meanwhile.
                    rest.append(item.index)
                } else {
                    outcomes[item.index] = try .unsaved(documents[item.index], conflict, in: database, because: told)
                }
            }
        }
        return outcomes
    }

    /// The edit that makes a document, or puts its content in place of one that is there.
    private func edit(_ document: Document, overwrites: Bool) throws -> DocumentEdit {
        let id = document.id
        let winner = overwrites ? try database.tree(of: id)?.winner : nil
        let parent = winner.flatMap { $0.isDeleted ? nil : $0.revision }
        let given = try document.body()
        try check(id, isDeleted: false, given)
        let (body, attachments) = try EditedBlobs(database: database).adapt(
            given, document.attachments, of: id, parent: parent)
        return DocumentEdit(id: id, parent: parent, body: body, attachments: attachments)
    }

    func insert(_ revisions: [ReplicatedRevision]) throws -> [ImportOutcome] {
        try writeGuard.checkReplicated()
        var outcomes = [ImportOutcome](repeating: .stored, count: revisions.count)
        var allowed: [Int] = []
        for (index, revision) in revisions.enumerated() {
            do {
                try check(revision.id, isDeleted: revision.isDeleted, revision.body)
                allowed.append(index)
            } catch let error as HTTPError { outcomes[index] = .failed(error) }
        }
        let results = try writeGuard.insert(
            allowed.map { revisions[$0] }, to: database, refusingBranches: false, leavingConflicts: false)
        for (index, result) in zip(allowed, results) {
            switch result {
            case .stored: break
            case .known: outcomes[index] = .known
            case .refused(let error): outcomes[index] = .failed(HTTPError(error))
            }
        }
        return outcomes
    }

    /// Checks what no validation function does.
    private func check(_ id: DocumentID, isDeleted: Bool, _ body: DocumentBody) throws {
        try writeGuard.check(id)
        let most = context.largestDocument
        if body.utf8.count > most {
            throw HTTPError(
                413, "document_too_large",
                "\"\(id)\" has \(body.utf8.count) bytes; the setting max_document_size allows \(most)")
        }
        if id.isDesign {
            try designCheck.check(WireDocument(id: id.string, isDeleted: isDeleted, body: body))
        }
    }

    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws {
        try writeGuard.check(id)
        try base.saveLocal(id, body)
    }

    func history(of id: DocumentID, endingIn signature: RevisionSignature) throws -> RevisionHistory? {
        try base.history(of: id, endingIn: signature)
    }

    func setExpiration(_ date: Date, of id: DocumentID) throws -> Bool { try base.setExpiration(date, of: id) }

    func keep(_ revision: RevisionID, of id: DocumentID) throws {
        let others = try database.leaves(of: id).filter { $0.revision != revision && !$0.isDeleted }
        let edits = others.map { DocumentEdit(id: id, parent: $0.revision, isDeleted: true, body: .empty) }
        for result in try writeGuard.write(edits, to: database) { _ = try result.get() }
    }

    func mark() throws -> JSONValue? { try base.mark() }

    func setMark(_ mark: JSONValue?) throws { try base.setMark(mark) }
}
