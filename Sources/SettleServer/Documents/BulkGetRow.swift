internal import SettleCore
internal import SettleDatabase

/// One document that `_bulk_get` is asked for.
struct BulkGetRow: Sendable {
    /// The id as given; `nil` where there is none that may be.
    let id: DocumentID?
    /// The id as it is told back.
    let name: JSON
    let revision: WireRevision?
    let attachmentsSince: [WireRevision]?
    /// Why the row can't be answered.
    let problem: HTTPError?
    /// What the answer names as the revision when the row can't be answered.
    let badRevision: JSON

    /// Reads a row; an error takes the place of one that can't be read.
    init(_ value: JSON) {
        var id: DocumentID?
        var revision: WireRevision?
        var since: [WireRevision]?
        var problem: HTTPError?
        var bad = JSON.null
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

    private static func since(_ value: JSON, _ bad: inout JSON) throws -> [WireRevision]? {
        guard let list = value.array else {
            throw HTTPError.badRequest("att_since value must be array of revs.")
        }
        let revisions = try list.map { item in
            bad = item
            return try WireRevision(item)
        }
        return revisions.isEmpty ? nil : revisions
    }

    /// The revisions that are asked for, or why there are none: the problem, or that the document is missing.
    ///
    /// - Throws: ``HTTPError`` for a document that is damaged; the error takes its place in the answer; ``DatabaseError``.
    func results(
        in database: Database, _ options: DocumentOptions
    ) throws -> [Result<DocumentLookup.Found, DocumentLookup.MissingRevision>] {
        guard let id else { return [] }
        do { return try find(id, in: database, options) } catch let error as DatabaseError
            where error.code == .damagedDocument
        {
            database.note(error, of: id)
            throw HTTPError(error)
        }
    }

    private func find(
        _ id: DocumentID, in database: Database, _ options: DocumentOptions
    ) throws -> [Result<DocumentLookup.Found, DocumentLookup.MissingRevision>] {
        try DocumentLookup(database: database).open(
            revision.map { .some([$0]) } ?? .all, of: id, isLatest: options.isLatest)
    }

    /// What a request wants of every document, with what it wants of this one.
    func options(_ all: DocumentOptions) -> DocumentOptions {
        guard let attachmentsSince else { return all }
        var options = all
        (options.attachmentsSince, options.hasAttachments) = (attachmentsSince, true)
        return options
    }

    /// What the answer names as the revision of a row that can't be read.
    var wantedRevision: JSON { revision.map { .string($0.description) } ?? "undefined" }

    /// The answer for a revision that does not exist.
    func failure(_ revision: JSON, _ error: HTTPError) -> JSON {
        ["id": name, "rev": revision, "error": .string(error.error), "reason": .string(error.reason)]
    }
}
