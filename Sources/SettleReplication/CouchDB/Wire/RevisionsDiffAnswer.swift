internal import RevisionTree
internal import SettleDatabase

/// The answer to `_revs_diff`: `{"a": {"missing": ["2-b"], "possible_ancestors": ["1-a"]}}`.
enum RevisionsDiffAnswer {
    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - bytes: The JSON.
    ///   - asked: What was asked.
    /// - Returns: Rows in the order asked, of documents of which something is missing; each revision once.
    /// - Throws: ``WireFault``, or `JSONError`.
    static func read(_ bytes: [UInt8], asked: some Sequence<ChangedDocument>) throws -> [RevisionsDiff] {
        guard let members = try JSON(utf8: bytes).object else { throw WireFault("the answer of _revs_diff is no object") }
        return try asked.compactMap { change in
            guard let row = members[change.id.string] else { return nil }
            let told = Set(try revisions(row["missing"]))
            let missing = change.leaves.filter(told.contains)
            guard !missing.isEmpty else { return nil }
            return RevisionsDiff(
                id: change.id, missing: missing, possibleAncestors: try revisions(row["possible_ancestors"]))
        }
    }

    private static func revisions(_ list: JSON?) throws -> [RevisionID] {
        try (list?.array ?? []).map { value in
            guard let revision = value.string.flatMap({ RevisionID($0) }) else {
                throw WireFault("a row of _revs_diff names a revision that is none")
            }
            return revision
        }
    }
}
