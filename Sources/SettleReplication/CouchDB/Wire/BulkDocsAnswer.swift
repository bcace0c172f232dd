internal import SettleCore

/// A `_bulk_docs` response: rows about revisions that were not stored and, from some servers, about those that were.
struct BulkDocsAnswer {
    /// A revision that was not stored.
    struct Refusal {
        let id: String
        /// The revision; `nil` if the server does not report it.
        let revision: RevisionID?
        let error: String
        let reason: String
        /// The status, if the server reports one, as Sync Gateway does.
        let status: Int?
    }

    let refusals: [Refusal]

    /// Reads a response.
    ///
    /// - Throws: ``WireFault``, or `JSONError`.
    init(_ bytes: [UInt8]) throws {
        guard let rows = try JSONValue(utf8: bytes).array else {
            throw WireFault("the answer of _bulk_docs is no list")
        }
        refusals = try rows.compactMap { row in
            guard let error = row["error"]?.string else { return nil }
            guard let id = row["id"]?.string else { throw WireFault("a row of _bulk_docs has no id") }
            return Refusal(
                id: id, revision: row["rev"]?.string.flatMap { RevisionID($0) }, error: error,
                reason: row["reason"]?.string ?? "", status: row["status"]?.int)
        }
    }
}
