extension ClockedMember {
    /// What a member is when several documents, of which all is known, are put together.
    ///
    ///     one      {"size": {"unit": "l" @3, "count": 1 @1}}
    ///     another  {"size": "big" @2}
    ///     joined   {"size": {"unit": "l" @3}}
    ///
    /// Each path has the latest of its changes. What was written as a whole erases all that is older inside of it; what is
    /// newer inside makes an object of it. So the outcome is that of all changes in the order of their clocks, in whatever
    /// order they arrive: joining is commutative, associative and idempotent.
    ///
    /// - Parameters:
    ///   - members: The member in each document.
    ///   - cover: The latest clock of an object around it.
    /// - Returns: The member; `nil` when nothing of it is left, nor a trace that it was removed.
    static func join(_ members: [ClockedMember], cover: AttributeClock? = nil) -> ClockedMember? {
        let latest = members.filter { $0.clock.map { clock in cover.map { clock >= $0 } ?? true } ?? false }
            .reduce(nil) { best, member in best.map { $0.isBefore(member) ? member : $0 } ?? member }
        let innerCover = later(cover, latest?.clock)
        var inside = ClockedMembers()
        for name in ClockedMembers.names(of: members.map(\.inside)) {
            let joined = join(members.compactMap { $0.inside?[name] }, cover: innerCover)
            if let joined { inside.append(name, joined) }
        }
        if !inside.isEmpty { return .object(inside, clock: latest?.clock) }
        guard let latest else { return nil }
        return latest.inside == nil ? latest : .object(ClockedMembers(), clock: latest.clock)
    }

    /// Whether another change comes after this one: by its clock, and between equals by the value.
    private func isBefore(_ other: ClockedMember) -> Bool {
        if let clock, let others = other.clock, clock != others { return clock < others }
        if rank != other.rank { return rank < other.rank }
        guard rank == 1, let value, let others = other.value else { return false }
        return value.utf8.lexicographicallyPrecedes(others.utf8)
    }

    private var rank: Int { inside != nil ? 2 : value != nil ? 1 : 0 }
}
