internal import Settle
import SettleCore
internal import SettleHTTP
import SettleReplication

/// The journal of local operations, which a Settle server has for administrators of the database.
extension Client {
    /// What `_journal` answers with at most; a device has fewer operations.
    private static var maximumOperations: Int { 1_000_000 }

    /// The operations and the pending changes.
    ///
    /// - Parameter id: The document that they are about; `nil` for all documents.
    /// - Returns: The operations in the order in which they happened, and the pending changes, as `settle log --json` prints them.
    /// - Throws: ``CommandError``; with status `notFound` if the database has no journal.
    func journal(of id: DocumentID? = nil) throws -> (history: [JSONValue], pending: [JSONValue]) {
        var query: HTTPQuery = ["after": "0", "limit": "\(Self.maximumOperations)"]
        query["id"] = id?.string
        let answer = try journalJSON("GET", "_journal", query: query)
        return (answer["history"]?.array ?? [], answer["pending"]?.array ?? [])
    }

    /// Switches the journal on or off; its operations are deleted with it.
    func setJournal(_ isOn: Bool) throws { _ = try journalJSON("PUT", "_journal", body: .bool(isOn)) }

    /// Undoes operations.
    ///
    /// - Parameters:
    ///   - id: The document whose operations are undone, all of them; `nil` for the newest operations.
    ///   - count: How many of these.
    /// - Returns: The operations, the newest first.
    /// - Throws: ``CommandError``; with status `notFound` if the database has no journal.
    func undo(_ id: DocumentID?, count: Int) throws -> [JSONValue] {
        let body: JSONValue = id.map { ["id": .string($0.string)] } ?? ["count": .number(JSONNumber(count))]
        let answer = try journalJSON("POST", HTTPPath(segments: ["_journal", "_undo"]), body: body)
        return answer["undone"]?.array ?? []
    }

    private func journalJSON(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = [:], body: JSONValue? = nil
    ) throws -> JSONValue {
        guard try isAtSettle() else {
            throw CommandError.usage("\(name) is at a CouchDB, which keeps no journal of local operations")
        }
        let answer = try wait { connection, _ -> JSONValue? in
            do {
                return try await connection.json(method, path, query: query, body: body, limit: 1 << 30).json
            } catch let error as CouchDBError where error.status == 412 { return nil }
        }
        guard let answer else { throw CommandError.withoutJournal }
        return answer
    }
}
