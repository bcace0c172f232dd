public import RevisionTree
internal import SettleDatabase

/// How a query would be answered: what CouchDB's `_explain` tells.
public struct QueryPlan: Sendable {
    /// Another index, and why it is not used.
    public struct Candidate: Sendable {
        /// The index.
        public let index: QueryIndex
        /// Whether it could be used.
        public let isUsable: Bool
        /// Why it is not, by CouchDB's name: `field_mismatch`, `sort_order_mismatch`, `is_partial`, `scope_mismatch`,
        /// `needs_text_search`, `excluded_by_user`, `unfavored_type`, `less_overlap`, `too_many_fields` or `alphabetically_comes_after`.
        public let reason: String
        /// How far it is from being used, from 1 up.
        public let rank: Int
    }

    /// The index that is used; `nil` when none serves the order that is asked for, so that the query fails.
    public let index: QueryIndex?
    /// What is looked for in an index of texts; `nil` for a query without `$text`.
    public let search: String?
    /// The values in the index to begin at, in the order in which it is read; of the list of all documents the id. `null` when
    /// no document can match, and of an index of texts.
    public let start: JSON
    /// The values to end at, where `"<MAX>"` stands for what is behind all values.
    public let end: JSON
    /// Whether the index is read from its end.
    public let isDescending: Bool
    /// Whether all that is asked for and shown is in the index, so that no document is read.
    public let isCovering: Bool
    /// The other indexes.
    public let candidates: [Candidate]
    /// The members in the selector whose conditions an index can serve.
    public let indexableFields: [String]
    /// The other members in the selector.
    public let unindexableFields: [String]
    /// Warnings, in CouchDB's wording.
    public let warnings: [String]
}

extension FindPlanner {
    /// How the query would be answered.
    ///
    /// - Throws: ``QueryError`` with code `invalidIndex`.
    package func explained() throws -> QueryPlan {
        let trace = try chosen(isExplained: true)
        let found = trace.winner == nil ? nil : try plan()
        let indexable = Set(selector.conditions.map(\.path))
        let unindexable = (searches.isEmpty ? [] : ["$default"]) + selector.fields.filter { !indexable.contains($0) }
        return QueryPlan(
            index: found?.index, search: searches.isEmpty ? nil : searches.joined(separator: " AND "),
            start: found?.bounds?.start ?? .null, end: found?.bounds?.end ?? .null,
            isDescending: found?.isDescending ?? false, isCovering: found?.isCovering ?? false,
            candidates: trace.candidates, indexableFields: selector.fields.filter { indexable.contains($0) },
            unindexableFields: unindexable, warnings: found?.warnings ?? [])
    }
}
