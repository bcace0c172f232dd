internal import SettleCore
internal import SettleDatabase
internal import SettleScripting

/// A design document as far as its functions go.
struct DesignDocument: Sendable {
    let id: DocumentID
    let revision: RevisionID
    let members: JSONObject
    /// What its functions are run by.
    let source: ScriptSource

    init(_ found: DocumentLookup.Found, owner: String, database: Database) throws {
        id = found.record.id
        revision = found.revision
        members = found.content.body.json.object ?? JSONObject()
        let printer = DocumentPrinter(database: database, options: DocumentOptions())
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
        var value = JSON.object(members)
        for name in path {
            guard let members = value.object else { throw HTTPError.notFound("json_mismatch") }
            guard let inner = members[name] else { throw HTTPError.notFound("missing json key: \(name)") }
            value = inner
        }
    }
}
