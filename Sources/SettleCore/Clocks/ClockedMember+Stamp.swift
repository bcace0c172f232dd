extension ClockedMember {
    /// What a member is after a change.
    ///
    ///     before  {"name": "Milk" @1, "size": {"unit": "l" @1, "count": 1 @1}}
    ///     now     {"name": "Milk",    "size": {"unit": "l"}}                       changed at 5
    ///     after   {"name": "Milk" @1, "size": {"unit": "l" @1, "count": removed @5}}
    ///
    /// What is the same keeps its clock. What differs gets the change's, or the successor of the latest clock it had, or
    /// there was around or inside of it, if that is later still: a change is never older than what it changed. Nor than what
    /// was there before somebody who knows no clocks changed it (SEMANTICS 159).
    ///
    /// - Parameters:
    ///   - new: The value now, `nil` for none.
    ///   - clock: When it was changed.
    ///   - depth: How many objects are around it.
    ///   - cover: The latest clock of an object around it.
    ///   - others: The member in other versions that were in sight: the change is later than what was changed there, too.
    /// - Returns: The member after the change.
    func stamped(
        to new: JSON?, at clock: AttributeClock, depth: Int, cover: AttributeClock? = nil,
        inSightOf others: [ClockedMember] = []
    ) -> ClockedMember {
        if value == new { return self }
        guard let object = depth < ClockedDocument.depth ? new?.object : nil, let inside else {
            let latest = others.reduce(Self.later(cover, reach)) { Self.later($0, $1.reach) }
            return replaced(by: new, at: Self.moment(clock, after: latest), depth: depth)
        }
        let innerCover = others.reduce(Self.later(cover, wholeReach)) { Self.later($0, $1.wholeReach) }
        func inner(_ old: ClockedMember, _ name: String, to value: JSON?) -> ClockedMember {
            old.stamped(
                to: value, at: clock, depth: depth + 1, cover: innerCover,
                inSightOf: others.compactMap { $0.inside?[name] })
        }
        var changed = ClockedMembers()
        for member in object {
            let old = inside[member.name] ?? .nothing
            changed.append(member.name, inner(old, member.name, to: member.value))
        }
        for (name, old) in zip(inside.names, inside.members) where object[name] == nil {
            changed.append(name, inner(old, name, to: nil))
        }
        return ClockedMember(new, clock: self.clock, isUnknown: isUnknown, after: bound, inside: changed)
    }

    /// What a member is after something else was put in its place.
    private func replaced(by new: JSON?, at moment: AttributeClock?, depth: Int) -> ClockedMember {
        let written = Self.written(new, at: moment, depth: depth)
        // An object that comes into being is not written as a whole: another one may be made elsewhere at the same time,
        // and the two become one. It comes after what was here before.
        guard let inside = written.inside, !inside.isEmpty else { return written }
        return ClockedMember(new, clock: wholeReach, inside: inside)
    }

    /// A value as if it had been written as a whole at a moment, all that is inside too; `nil` for a moment that is not
    /// known.
    static func written(_ value: JSON?, at moment: AttributeClock?, depth: Int) -> ClockedMember {
        guard let object = depth < ClockedDocument.depth ? value?.object : nil else {
            return ClockedMember(value, clock: moment, isUnknown: moment == nil)
        }
        var inside = ClockedMembers()
        for member in object { inside.append(member.name, written(member.value, at: moment, depth: depth + 1)) }
        return ClockedMember(value, clock: moment, isUnknown: moment == nil, inside: inside)
    }

    /// A moment, or if another one is not before it, that one's successor on the same device.
    static func moment(_ clock: AttributeClock, after other: AttributeClock?) -> AttributeClock? {
        guard let other, other >= clock else { return clock }
        return other.successor(on: clock.device)
    }
}
