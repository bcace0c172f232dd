internal import SettleCore
internal import SettleDatabase

/// A `_revs_diff` response: `{"a": {"missing": ["2-b"], "possible_ancestors": ["1-a"]}}`.
enum RevisionsDiffAnswer {
    /// Reads a response.
    ///
    /// - Parameters:
    ///   - bytes: The JSON.
    ///   - asked: The documents in the request.
    /// - Returns: Rows in request order, for documents with missing revisions; each revision once.
    /// - Throws: ``WireFault``, or `JSONError`.
    static func read(_ bytes: [UInt8], asked: some Sequence<ChangedDocument>) throws -> [RevisionsDiff] {
        guard let members = try JSONValue(utf8: bytes).object else {
            throw WireFault("the answer of _revs_diff is no object")
        }
        return asked.compactMap { change in
            guard let row = members[change.id.string] else { return nil }
            let told = Set(revisions(row["missing"]))
            let missing = change.leaves.filter(told.contains)
            guard !missing.isEmpty else { return nil }
            return RevisionsDiff(
                id: change.id, missing: missing, possibleAncestors: revisions(row["possible_ancestors"]))
        }
    }

    /// A list of revisions. Invalid ones are skipped: they were not requested and can't be ancestors.
    private static func revisions(_ list: JSONValue?) -> [RevisionID] {
        (list?.array ?? []).compactMap { $0.string.flatMap { RevisionID($0) } }
    }
}
