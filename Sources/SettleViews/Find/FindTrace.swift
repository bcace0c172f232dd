/// The steps of a planner's choice of an index.
struct FindTrace: Sendable {
    /// A candidate index.
    struct Ranked: Sendable {
        let index: QueryIndex
        /// The number of members with conditions that are not among its first members.
        let distance: Int
    }

    /// All indexes.
    let indexes: [QueryIndex]
    /// The indexes that are not partial.
    let global: [QueryIndex]
    /// The examined indexes, with the reasons why some are not usable.
    let inScope: [QueryIndex]
    let usability: [(index: QueryIndex, reasons: [String])]
    let usable: [QueryIndex]
    /// The requested indexes, or all usable ones.
    var filtered: [QueryIndex] = []
    /// The indexes of the preferred kind.
    var ofType: [QueryIndex] = []
    /// The same, ordered by preference.
    var ranked: [Ranked] = []

    init(
        indexes: [QueryIndex], global: [QueryIndex], inScope: [QueryIndex], usability: [(QueryIndex, [String])],
        usable: [QueryIndex]
    ) {
        self.indexes = indexes
        self.global = global
        self.inScope = inScope
        self.usability = usability.map { (index: $0.0, reasons: $0.1) }
        self.usable = usable
    }

    /// The chosen index.
    var winner: QueryIndex? { ranked.first?.index }

    /// The other indexes with the reason for each, last name first, as CouchDB lists them.
    var candidates: [QueryPlan.Candidate] {
        let places = places
        return indexes.reversed().compactMap { index in
            index == winner ? nil : candidate(index, places)
        }
    }

    /// The ranks at which indexes were eliminated, by stage.
    private struct Places {
        let unfavored: Int
        let excluded: Int
        let unusable: Int
        let outOfScope: Int
        let partial: Int
    }

    private var places: Places {
        func next(_ place: Int, _ all: [QueryIndex], _ kept: [QueryIndex]) -> Int {
            all.contains { !kept.contains($0) } ? place + 1 : place
        }
        let unfavored = max(1, ranked.count)
        let excluded = next(unfavored, filtered, ofType)
        let unusable = next(excluded, usable, filtered)
        let outOfScope = next(unusable, inScope, usable)
        let partial = next(outOfScope, global, inScope)
        return Places(
            unfavored: unfavored, excluded: excluded, unusable: unusable, outOfScope: outOfScope, partial: partial)
    }

    private func candidate(_ index: QueryIndex, _ places: Places) -> QueryPlan.Candidate {
        func made(_ reason: String, _ isUsable: Bool, _ rank: Int) -> QueryPlan.Candidate {
            QueryPlan.Candidate(index: index, isUsable: isUsable, reason: reason, rank: rank)
        }
        guard inScope.contains(index) else {
            return global.contains(index)
                ? made("scope_mismatch", false, places.outOfScope) : made("is_partial", false, places.partial)
        }
        if let reason = usability.first(where: { $0.index == index })?.reasons.first {
            return made(reason, false, places.unusable)
        }
        guard filtered.contains(index) else { return made("excluded_by_user", true, places.excluded) }
        guard let place = ranked.firstIndex(where: { $0.index == index }) else {
            return made("unfavored_type", true, places.unfavored)
        }
        if ranked[place].distance > 0 { return made("less_overlap", true, place) }
        let isLonger = index.fields.count > winner?.fields.count ?? 0
        return made(isLonger ? "too_many_fields" : "alphabetically_comes_after", true, place)
    }
}
