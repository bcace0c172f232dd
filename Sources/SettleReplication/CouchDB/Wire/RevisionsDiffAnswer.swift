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
        guard let members = try JSON(utf8: bytes).object else {
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

    /// A list of revisions; what is none was not asked about, and is no ancestor either.
    private static func revisions(_ list: JSON?) -> [RevisionID] {
        (list?.array ?? []).compactMap { $0.string.flatMap { RevisionID($0) } }
    }
}
