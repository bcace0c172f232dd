internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
import SettleReplication

extension Client {
    /// The winner of a document; `nil` if the document does not exist or its winner is a tombstone.
    func document(_ id: DocumentID) throws -> Document? {
        try wait(about: id) { connection, _ in
            do {
                let answer = try await connection.json("GET", .document(id), limit: 1 << 30)
                return try ReplicatedRevision(answer: answer.json.utf8).document
            } catch let error as CouchDBError where error.status == 404 && !ClientFailure.isAboutDatabase(error) {
                return nil
            }
        }
    }

    /// Goes over documents by their ids, as `_all_docs` has them; without bodies unless these are wanted.
    func forEachDocument(
        in range: DocumentRange, limit: Int, withBodies: Bool, _ body: (Document) throws -> Bool
    ) throws {
        var query = HTTPQuery()
        let (low, high) = range.descending ? ("endkey", "startkey") : ("startkey", "endkey")
        query[low] = range.from.map { JSONValue.string($0.string).description }
        query[high] = range.through.map { JSONValue.string($0.string).description }
        if range.descending { query["descending"] = "true" }
        if limit < .max { query["limit"] = String(limit) }
        if withBodies { query["include_docs"] = "true" }
        try forEachElement("rows", of: "_all_docs", query: query) { text in
            guard let document = try Self.document(text, "doc", revision: "value") else { return true }
            return try body(document)
        }
    }

    /// Goes over those documents that have live leaves besides the winner.
    ///
    /// - Parameters:
    ///   - ids: The documents to look at, in this order.
    ///   - body: Is given each winner with the other leaves, and says whether to go on.
    /// - Throws: ``CommandError``, or what `body` throws.
    func forEachDocumentInConflict(
        _ ids: [DocumentID], _ body: (Document, _ conflicts: [RevisionID]) throws -> Bool
    ) throws {
        let query: HTTPQuery = ["include_docs": "true", "conflicts": "true", "att_encoding_info": "true"]
        var goesOn = true
        for part in ids.parts(of: Self.idsAtOnce) where goesOn {
            try Interruption.check()
            let keys: JSONValue = ["keys": .array(part.map { .string($0.string) })]
            let response = try stream("_all_docs", query: query, body: keys)
            try forEachElement("rows", of: response) { text in
                let row = try JSONOutline(text)
                guard let range = row["doc"], text[range].first == UInt8(ascii: "{") else { return true }
                let json = Array(text[range])
                guard let list = try JSONOutline(json)["_conflicts"] else { return true }
                let conflicts = (try JSONValue(utf8: Array(json[list])).array ?? []).compactMap(\.string)
                goesOn = try body(ReplicatedRevision(answer: json).document, conflicts.compactMap { RevisionID($0) })
                return goesOn
            }
        }
    }

    /// Goes over deleted documents by their last changes.
    func forEachDeletedDocument(isDescending: Bool, withBodies: Bool, _ body: (Document) throws -> Bool) throws {
        var query = HTTPQuery()
        if isDescending { query["descending"] = "true" }
        if withBodies { query["include_docs"] = "true" }
        try forEachElement("results", of: "_changes", query: query) { text in
            let row = try ChangeLine(text)
            guard row.isDeleted, let id = row.id, let revision = row.leaves.first else { return true }
            return try body(row.document ?? Self.document(id, revision, isDeleted: true))
        }
    }

    /// The document of a row of `_all_docs`: whole if the row has it, else id and revision.
    private static func document(_ row: [UInt8], _ member: String, revision: String) throws -> Document? {
        let outline = try JSONOutline(row)
        if let range = outline[member], row[range].first == UInt8(ascii: "{") {
            return try ReplicatedRevision(answer: Array(row[range])).document
        }
        let json = try JSONValue(utf8: row)
        guard let id = json["id"]?.string, let text = json[revision]?["rev"]?.string, let revision = RevisionID(text)
        else { return nil }
        return document(id, revision, isDeleted: false)
    }

    private static func document(_ id: String, _ revision: RevisionID, isDeleted: Bool) -> Document {
        Document(
            id: DocumentID(unchecked: id), revision: revision, isDeleted: isDeleted, RevisionContent(body: .empty))
    }
}
