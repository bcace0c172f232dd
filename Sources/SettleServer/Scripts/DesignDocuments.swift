internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleScripting

/// The cached design documents of an open database.
final class DesignDocuments: Sendable {
    private struct State {
        var age: UInt64?
        var validators = Validators()
        var owner: String?
        /// Documents by id, as of an age.
        var named: (age: UInt64, documents: [DocumentID: DesignDocument])?
        /// The bytes of these documents' JSON.
        var bytes = 0

        /// Caches a document, in place of all others if they would be too many.
        mutating func keep(_ document: DesignDocument, of age: UInt64) {
            guard document.length <= DesignDocuments.mostBytes else { return }
            let isFull =
                named?.documents.count == DesignDocuments.most
                || bytes + document.length > DesignDocuments.mostBytes
            if named?.age != age || isFull { (named, bytes) = ((age, [:]), 0) }
            bytes += document.length - (named?.documents[document.id]?.length ?? 0)
            named?.documents[document.id] = document
        }
    }

    /// The number of documents that are cached by name, and the bytes of their JSON.
    private static let (most, mostBytes) = (16, 1 << 20)

    /// The design documents that validate writes.
    struct Validators: Sendable {
        /// Those with a validation function, in the order of their ids.
        var documents: [DesignDocument] = []
        /// The error of an unreadable design document, which may have had a validation function.
        var damage: DatabaseError?
    }

    private let state = Guarded(State())

    /// The design documents that validate writes.
    static func validators(of database: Database) throws -> Validators {
        let own = database.companion(DesignDocuments.self) { DesignDocuments() }
        // Read before the documents: a change in between makes the result old.
        let age = database.designEpoch
        if let known = own.state.withLock({ $0.age == age ? $0.validators : nil }) { return known }
        var found = Validators()
        found.documents = try own.all(in: database) { found.damage = $0 }
            .filter { $0.members["validate_doc_update"]?.string != nil }
        own.state.withLock { ($0.age, $0.validators) = (age, found) }
        return found
    }

    /// A design document by name.
    ///
    /// - Throws: ``HTTPError`` with status 404.
    static func document(_ name: String, of database: Database) throws -> DesignDocument {
        let own = database.companion(DesignDocuments.self) { DesignDocuments() }
        // Read before the document: a change in between makes the result old.
        let age = database.designEpoch
        let id = DocumentID(unchecked: "_design/" + name)
        if let known = own.state.withLock({ $0.named?.age == age ? $0.named?.documents[id] : nil }) { return known }
        let found = try DocumentLookup(source: database).winner(id)
        let document = try DesignDocument(found, owner: owner(of: database), database: database)
        own.state.withLock { $0.keep(document, of: age) }
        return document
    }

    /// The owner of a database's scripts. A database that was deleted and created again is another owner.
    static func owner(of database: Database) throws -> String {
        let own = database.companion(DesignDocuments.self) { DesignDocuments() }
        if let known = own.state.withLock({ $0.owner }) { return known }
        let owner = try "\(database.path ?? "") \(database.instanceName())"
        own.state.withLock { $0.owner = owner }
        return owner
    }

    /// All design documents, except for deleted ones.
    static func all(in database: Database) throws -> [DesignDocument] {
        try database.companion(DesignDocuments.self) { DesignDocuments() }.all(in: database) { _ in }
    }

    private func all(in database: Database, damaged: (DatabaseError) -> Void) throws -> [DesignDocument] {
        let owner = try Self.owner(of: database)
        var range = ListingNamespace.design.range
        var all: [DesignDocument] = []
        while case let page = try database.records(in: range, limit: 100, withContent: true), let last = page.last {
            for record in page {
                if let damage = record.damage { damaged(damage) }
                guard let winner = record.tree.winner, !winner.isDeleted, let content = record.content else { continue }
                let found = DocumentLookup.Found(record: record, revision: winner.revision, content: content)
                all.append(try DesignDocument(found, owner: owner, database: database))
            }
            range.after = last.id
        }
        return all
    }
}

/// A design document with its functions.
struct DesignDocument: Sendable {
    let id: DocumentID
    let revision: RevisionID
    let members: JSONObject
    /// The context in which its functions run.
    let source: ScriptSource
    /// The number of bytes of its JSON.
    let length: Int

    init(_ found: DocumentLookup.Found, owner: String, database: Database) throws {
        id = found.record.id
        revision = found.revision
        members = found.content.body.json.object ?? JSONObject()
        let printer = DocumentPrinter(source: database, options: DocumentOptions())
        let json = try printer.print(found.revision, found.content, of: found.record, hasMeta: false).text.bytes
        length = json.count
        source = ScriptSource(owner: owner, key: "\(id) \(revision)", document: json)
    }

    /// The name without `_design/`.
    var name: String { String(id.string.dropFirst("_design/".count)) }

    /// The language of the functions.
    var language: String { members["language"]?.string ?? "javascript" }

    /// Checks that a function exists, and throws otherwise.
    ///
    /// - Throws: ``HTTPError`` with status 404.
    func require(_ path: String...) throws {
        var value = JSONValue.object(members)
        for name in path {
            guard let members = value.object else { throw HTTPError.notFound("json_mismatch") }
            guard let inner = members[name] else { throw HTTPError.notFound("missing json key: \(name)") }
            value = inner
        }
    }
}
