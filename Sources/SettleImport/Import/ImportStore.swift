package import Foundation
package import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// The destination of an import.
package protocol ImportStore {
    /// Stores the attachments of the input.
    var attachmentImporter: AttachmentImporter { get }

    /// An id for a document that has none: 32 hex digits, as CouchDB makes them.
    func newID() -> String

    /// Runs a closure in one transaction, if the destination supports that.
    func transaction(_ body: () throws -> Void) throws

    /// Stores documents as edits.
    func save(_ documents: [Document], onConflict conflict: ImportConflict) throws -> [ImportOutcome]

    /// Stores revisions with their histories.
    func insert(_ revisions: [ReplicatedRevision]) throws -> [ImportOutcome]

    /// Stores a local document.
    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws

    /// Finds the revision of a document by its signature, and returns its history; `nil` if no revision has the signature.
    func history(of id: DocumentID, endingIn signature: RevisionSignature) throws -> RevisionHistory?

    /// Sets the date at which a document is purged; false if the destination has no such dates.
    func setExpiration(_ date: Date, of id: DocumentID) throws -> Bool

    /// Closes the live leaves of a document beside one, by tombstones.
    func keep(_ revision: RevisionID, of id: DocumentID) throws

    /// The place at which an interrupted import ended, if the destination has one.
    func mark() throws -> JSONValue?

    /// Stores the place of an import; `nil` at its end.
    func setMark(_ mark: JSONValue?) throws
}

extension ImportStore {
    package func newID() -> String { SecureRandom.hexadecimal() }
}

/// The treatment of existing documents.
package enum ImportConflict: String, CaseIterable, Sendable { case fail, overwrite, skip }

/// The outcome of a document.
package enum ImportOutcome {
    case stored, known, skipped
    case failed(any Error)

    /// The outcome of a document that was not saved because the database has one of its id.
    package static func unsaved(
        _ document: Document, _ conflict: ImportConflict, in database: Database, because error: any Error
    ) throws -> ImportOutcome {
        if try database.document(document.id).map({ $0.holdsSame(as: document) }) == true { return .known }
        return conflict == .skip ? .skipped : .failed(error)
    }
}

// MARK: - DatabaseImportStore

/// Stores documents in a database on this machine.
package struct DatabaseImportStore: ImportStore {
    private let database: Database
    package let attachmentImporter: AttachmentImporter
    private static let markID = DocumentID(unchecked: "_local/settle-import")

    package init(_ database: Database) {
        self.database = database
        attachmentImporter = AttachmentImporter(database)
    }

    package func transaction(_ body: () throws -> Void) throws { try database.transaction(body) }

    package func save(_ documents: [Document], onConflict conflict: ImportConflict) throws -> [ImportOutcome] {
        let results = try database.saveAll(documents, onConflict: conflict == .overwrite ? .lastWriteWins : .fail)
        return try zip(documents, results).map { document, result in
            switch result {
            case .success: return .stored
            case .failure(let error as DatabaseError) where error.code == .conflict:
                return try .unsaved(document, conflict, in: database, because: error)
            case .failure(let error): return .failed(error)
            }
        }
    }

    package func insert(_ revisions: [ReplicatedRevision]) throws -> [ImportOutcome] {
        try database.insertReplicated(revisions).map { outcome in
            switch outcome {
            case .stored: .stored
            case .known: .known
            case .refused(let error): .failed(error)
            }
        }
    }

    package func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws {
        if try database.localDocument(id)?.body == body { return }
        try database.saveLocalDocument(id, body: body)
    }

    package func history(of id: DocumentID, endingIn signature: RevisionSignature) throws -> RevisionHistory? {
        try database.tree(of: id)?.history(endingIn: signature)
    }

    package func setExpiration(_ date: Date, of id: DocumentID) throws -> Bool {
        try database.setExpiration(of: id, at: date)
        return true
    }

    package func keep(_ revision: RevisionID, of id: DocumentID) throws {
        for leaf in try database.leaves(of: id) where leaf.revision != revision && !leaf.isDeleted {
            try database.delete(leaf, onConflict: .branch)
        }
    }

    package func mark() throws -> JSONValue? { try database.localDocument(Self.markID)?.body.json }

    package func setMark(_ mark: JSONValue?) throws {
        if let mark {
            try database.saveLocalDocument(Self.markID, body: DocumentBody(mark))
        } else {
            try database.deleteLocalDocument(Self.markID)
        }
    }
}

extension RevisionTree {
    /// The history of the newest revision that has a signature.
    package func history(endingIn signature: RevisionSignature) -> RevisionHistory? {
        revisions.filter { $0.signature == signature }.max().flatMap { history(of: $0) }
    }
}

extension Document {
    /// Whether a document that was read has the body and the attachments of another one.
    package func holdsSame(as other: Document) -> Bool {
        guard let body = try? body(), let otherBody = try? other.body() else { return false }
        return body == otherBody && attachments.map(\.name) == other.attachments.map(\.name)
            && attachments.map(\.digest) == other.attachments.map(\.digest)
    }
}
