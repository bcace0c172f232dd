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
    }

    /// The design documents that have a say in what is written.
    struct Validators: Sendable {
        /// Those with a validation function, in the order of their ids.
        var documents: [DesignDocument] = []
        /// The reason why one can't be read, which may have had a function.
        var damage: DatabaseError?
    }

    private let state = Guarded(State())

    /// The design documents that have a say in what is written.
    static func validators(of database: Database) throws -> Validators {
        let own = database.companion(DesignDocuments.self) { DesignDocuments() }
        // Taken before they are read: what is written meanwhile makes it old.
        let age = database.designEpoch
        if let known = own.state.withLock({ $0.age == age ? $0.validators : nil }) { return known }
        var found = Validators()
        found.documents = try own.all(in: database) { found.damage = $0 }
            .filter { $0.members["validate_doc_update"]?.string != nil }
        own.state.withLock { ($0.age, $0.validators) = (age, found) }
        return found
    }

    /// A design document by its name.
    ///
    /// - Throws: ``HTTPError`` with status 404.
    static func document(_ name: String, of database: Database) throws -> DesignDocument {
        let found = try DocumentLookup(source: database).winner(DocumentID(unchecked: "_design/" + name))
        return try DesignDocument(found, owner: owner(of: database), database: database)
    }

    /// Whose scripts a database's are: one that was deleted and made anew is another.
    static func owner(of database: Database) throws -> String {
        let own = database.companion(DesignDocuments.self) { DesignDocuments() }
        if let known = own.state.withLock({ $0.owner }) { return known }
        let owner = try "\(database.path ?? "") \(database.instanceName())"
        own.state.withLock { $0.owner = owner }
        return owner
    }

    /// All design documents that are not deleted.
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

/// A design document as far as its functions go.
struct DesignDocument: Sendable {
    let id: DocumentID
    let revision: RevisionID
    let members: JSONObject
    /// The source that its functions run as.
    let source: ScriptSource

    init(_ found: DocumentLookup.Found, owner: String, database: Database) throws {
        id = found.record.id
        revision = found.revision
        members = found.content.body.json.object ?? JSONObject()
        let printer = DocumentPrinter(source: database, options: DocumentOptions())
        let json = try printer.print(found.revision, found.content, of: found.record, hasMeta: false).text.bytes
        source = ScriptSource(owner: owner, key: "\(id) \(revision)", document: json)
    }

    /// The name without `_design/`.
    var name: String { String(id.string.dropFirst("_design/".count)) }

    /// The language of the functions.
    var language: String { members["language"]?.string ?? "javascript" }

    /// A function, by the names that lead to it.
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
