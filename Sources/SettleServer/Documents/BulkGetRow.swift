internal import SettleCore
internal import SettleDatabase

/// One document requested by `_bulk_get`.
struct BulkGetRow: Sendable {
    /// The given id; `nil` if missing or invalid.
    let id: DocumentID?
    /// The id as the answer repeats it.
    let name: JSONValue
    let revision: WireRevision?
    let attachmentsSince: [WireRevision]?
    /// The reason why the row is refused.
    let problem: HTTPError?
    /// The revision in the answer to a refused row.
    let badRevision: JSONValue

    /// Reads a row; an invalid one holds an error.
    init(_ value: JSONValue) {
        var id: DocumentID?
        var revision: WireRevision?
        var since: [WireRevision]?
        var problem: HTTPError?
        var bad = JSONValue.null
        let members = value.object ?? JSONObject()
        do {
            guard !members.isEmpty else { throw HTTPError.badRequest("document must be a JSON object") }
            guard let given = members["id"] else { throw HTTPError.badRequest("document id missed") }
            guard let text = given.string else { throw HTTPError.illegalID("Document id must be a string") }
            id = try WireDocument.checked(text)
            bad = members["rev"] ?? .null
            revision = try members["rev"].map { try WireRevision($0) }
            bad = members["atts_since"] ?? .null
            since = try bad.isNull ? nil : Self.since(bad, &bad)
        } catch { problem = HTTPError(error) }
        (self.id, self.revision, attachmentsSince) = (id, revision, since)
        (self.problem, badRevision) = (problem, bad)
        name = members["id"] ?? .null
    }

    private static func since(_ value: JSONValue, _ bad: inout JSONValue) throws -> [WireRevision]? {
        guard let list = value.array else {
            throw HTTPError.badRequest("att_since value must be array of revs.")
        }
        let revisions = try list.map { item in
            bad = item
            return try WireRevision(item)
        }
        return revisions.isEmpty ? nil : revisions
    }

    /// The requested revisions, or the error: the row's problem, or that the document is missing.
    ///
    /// - Throws: ``HTTPError`` for a damaged document, which is reported in the answer; ``DatabaseError``.
    func results(
        in database: Database, _ options: DocumentOptions
    ) throws -> [Result<DocumentLookup.Found, DocumentLookup.MissingRevision>] {
        guard let id else { return [] }
        do { return try find(id, in: database, options) } catch let error as DatabaseError
            where error.code == .damagedDocument
        {
            database.report(error, of: id)
            throw HTTPError(error)
        }
    }

    private func find(
        _ id: DocumentID, in database: Database, _ options: DocumentOptions
    ) throws -> [Result<DocumentLookup.Found, DocumentLookup.MissingRevision>] {
        try DocumentLookup(source: database).open(
            revision.map { .some([$0]) } ?? .all, of: id, isLatest: options.isLatest)
    }

    /// The request's options, combined with this row's.
    func options(_ all: DocumentOptions) -> DocumentOptions {
        guard let attachmentsSince else { return all }
        var options = all
        (options.attachmentsSince, options.hasAttachments) = (attachmentsSince, true)
        return options
    }

    /// The revision in the answer to an unreadable row.
    var wantedRevision: JSONValue { revision.map { .string($0.description) } ?? "undefined" }

    func failure(_ revision: JSONValue, _ error: HTTPError) -> JSONValue {
        ["id": name, "rev": revision, "error": .string(error.error), "reason": .string(error.reason)]
    }
}
