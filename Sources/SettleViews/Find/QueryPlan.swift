public import SettleCore
internal import SettleDatabase
internal import SettleQuery

/// The plan of a query, as CouchDB's `_explain` returns it.
public struct QueryPlan: Sendable {
    /// Another index, and the reason why it is not used.
    public struct Candidate: Sendable {
        /// The index.
        public let index: QueryIndex
        /// Whether it is usable.
        public let isUsable: Bool
        /// The reason, by CouchDB's name: `field_mismatch`, `sort_order_mismatch`, `is_partial`, `scope_mismatch`,
        /// `needs_text_search`, `excluded_by_user`, `unfavored_type`, `less_overlap`, `too_many_fields` or
        /// `alphabetically_comes_after`.
        public let reason: String
        /// Its distance from being chosen, at least 1.
        public let rank: Int
    }

    /// The chosen index; `nil` if no index has the requested order and the documents must not be sorted in memory,
    /// so that the query fails.
    public let index: QueryIndex?
    /// The search of a text index; `nil` for a query without `$text`.
    public let search: String?
    /// The values in the index to start at, in reading order; for the list of all documents an id. `null` if no
    /// document can match, and for a text index.
    public let start: JSONValue
    /// The values to end at; `"<MAX>"` means a value after all others.
    public let end: JSONValue
    /// Whether the index is read backward.
    public let isDescending: Bool
    /// Whether the documents are sorted in memory, because no index has the requested order.
    public let sortsInMemory: Bool
    /// Whether the index contains all members in conditions and in the selection, so that no document is read.
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
        let found = trace.winner.map(plan)
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

// MARK: - FindPlan

/// The plan of a query: an index, and the range of it to read.
package struct FindPlan: Sendable {
    /// The place to search for documents.
    enum Search: Sendable {
        /// Nowhere, because no document can match.
        case nowhere
        /// In the list of all documents.
        case documents(DocumentRange)
        /// In a range of rows of an index.
        case rows(RowRange)
        /// In the texts of documents, with the searches of a query's `$text` conditions.
        case texts([String])
    }

    /// The bounds of the search, as CouchDB shows them.
    package struct Bounds: Sendable {
        /// The values to start at; for the list of all documents an id.
        package let start: JSONValue
        /// The values to end at.
        package let end: JSONValue
    }

    /// The placeholder for a value after all others.
    package static let greatest: JSONValue = "<MAX>"

    /// The index.
    package let index: QueryIndex
    /// The bounds; `nil` if the conditions contradict each other, so that there is nothing to search.
    package let bounds: Bounds?
    /// Whether the index is read in descending order.
    package let isDescending: Bool
    /// Whether the index contains all members in conditions and in the selection.
    package let isCovering: Bool
    let search: Search
    /// Whether every row in the range matches, so that documents need not be checked.
    let isExact: Bool
    /// Whether the documents are sorted in memory, because the index does not have their order.
    package let sortsInMemory: Bool
    /// Warnings for the client.
    package let warnings: [String]

    /// The searches for a text index; `nil` if there is nothing to search for in one.
    var searches: [String]? { if case .texts(let searches) = search { searches } else { nil } }
}

// MARK: - FindTrace

/// The steps of a planner's choice of an index.
struct FindTrace {
    /// A candidate index.
    struct Ranked {
        /// The position of the index.
        let place: Int
        /// The number of members with conditions that are not among its first members.
        let distance: Int
    }

    /// All indexes. The other lists contain positions in this one.
    let indexes: [QueryIndex]
    /// The indexes that are not partial.
    let global: [Int]
    /// The examined indexes.
    let inScope: [Int]
    /// The reasons why each of them is not usable; empty for a usable one.
    let reasons: [[String]]
    /// The requested indexes, or all usable ones.
    var filtered: [Int] = []
    /// The indexes of the preferred kind.
    var ofType: [Int] = []
    /// The same, ordered by preference.
    var ranked: [Ranked] = []

    /// The usable indexes.
    var usable: [Int] { zip(inScope, reasons).filter { $0.1.isEmpty }.map(\.0) }

    /// The chosen index.
    var winner: QueryIndex? { ranked.first.map { indexes[$0.place] } }

    /// The other indexes with the reason for each, last name first, as CouchDB lists them.
    var candidates: [QueryPlan.Candidate] {
        let ranks = ranks
        return indexes.indices.reversed().compactMap { place in
            place == ranked.first?.place ? nil : candidate(place, ranks)
        }
    }

    /// The ranks at which indexes were eliminated, by stage.
    private struct Ranks {
        let unfavored: Int
        let excluded: Int
        let unusable: Int
        let outOfScope: Int
        let partial: Int
    }

    private var ranks: Ranks {
        func next(_ rank: Int, _ all: [Int], _ kept: [Int]) -> Int {
            Set(all).isSubset(of: kept) ? rank : rank + 1
        }
        let unfavored = max(1, ranked.count)
        let excluded = next(unfavored, filtered, ofType)
        let unusable = next(excluded, usable, filtered)
        let outOfScope = next(unusable, inScope, usable)
        let partial = next(outOfScope, global, inScope)
        return Ranks(
            unfavored: unfavored, excluded: excluded, unusable: unusable, outOfScope: outOfScope, partial: partial)
    }

    private func candidate(_ place: Int, _ ranks: Ranks) -> QueryPlan.Candidate {
        let index = indexes[place]
        func made(_ reason: String, _ isUsable: Bool, _ rank: Int) -> QueryPlan.Candidate {
            QueryPlan.Candidate(index: index, isUsable: isUsable, reason: reason, rank: rank)
        }
        guard let examined = inScope.firstIndex(of: place) else {
            return global.contains(place)
                ? made("scope_mismatch", false, ranks.outOfScope) : made("is_partial", false, ranks.partial)
        }
        if let reason = reasons[examined].first { return made(reason, false, ranks.unusable) }
        guard filtered.contains(place) else { return made("excluded_by_user", true, ranks.excluded) }
        guard let rank = ranked.firstIndex(where: { $0.place == place }) else {
            return made("unfavored_type", true, ranks.unfavored)
        }
        if ranked[rank].distance > 0 { return made("less_overlap", true, rank) }
        let isLonger = index.fields.count > winner?.fields.count ?? 0
        return made(isLonger ? "too_many_fields" : "alphabetically_comes_after", true, rank)
    }
}
