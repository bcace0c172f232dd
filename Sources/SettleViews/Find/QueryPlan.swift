public import SettleCore
internal import SettleDatabase

/// The plan of a query, as CouchDB's `_explain` returns it.
public struct QueryPlan: Sendable {
    /// Another index, and why it is not used.
    public struct Candidate: Sendable {
        /// The index.
        public let index: QueryIndex
        /// Whether it is usable.
        public let isUsable: Bool
        /// The reason, by CouchDB's name: `field_mismatch`, `sort_order_mismatch`, `is_partial`, `scope_mismatch`,
        /// `needs_text_search`, `excluded_by_user`, `unfavored_type`, `less_overlap`, `too_many_fields` or
        /// `alphabetically_comes_after`.
        public let reason: String
        /// Its distance from being chosen, from 1 up.
        public let rank: Int
    }

    /// The chosen index; `nil` when no index has the requested order, and the documents must not be sorted without one,
    /// so that the query fails.
    public let index: QueryIndex?
    /// The search of a text index; `nil` for a query without `$text`.
    public let search: String?
    /// The values in the index to start at, in reading order; for the list of all documents an id. `null` when no
    /// document can match, and for a text index.
    public let start: JSONValue
    /// The values to end at, where `"<MAX>"` stands for a value after all others.
    public let end: JSONValue
    /// Whether the index is read backward.
    public let isDescending: Bool
    /// Whether the documents are sorted in memory, for no index has the requested order.
    public let sortsInMemory: Bool
    /// Whether the index has all members in conditions and in the selection, so that no document is read.
    public let isCovering: Bool
    /// The other indexes.
    public let candidates: [Candidate]
    /// The members of the selector whose conditions can use an index.
    public let indexableFields: [String]
    /// The other members of the selector.
    public let unindexableFields: [String]
    /// Warnings, in CouchDB's wording.
    public let warnings: [String]
}

extension FindPlanner {
    /// Plans the query without running it.
    ///
    /// - Throws: ``QueryError`` with code `invalidIndex`.
    package func explained() throws -> QueryPlan {
        if let unordered { return try unordered.explained() }
        let trace = try chosen(isExplained: true)
        let found = trace.winner == nil ? nil : try plan()
        let indexable = Set(selector.conditions.map(\.path))
        let unindexable = (searches.isEmpty ? [] : ["$default"]) + selector.fields.filter { !indexable.contains($0) }
        return QueryPlan(
            index: found?.index, search: searches.isEmpty ? nil : searches.joined(separator: " AND "),
            start: found?.bounds?.start ?? .null, end: found?.bounds?.end ?? .null,
            isDescending: found?.isDescending ?? false, sortsInMemory: found?.sortsInMemory ?? false,
            isCovering: found?.isCovering ?? false,
            candidates: trace.candidates, indexableFields: selector.fields.filter { indexable.contains($0) },
            unindexableFields: unindexable, warnings: found?.warnings ?? [])
    }
}
