extension ClockedMember {
    /// The member after a change.
    ///
    ///     before  {"name": "Milk" @1, "size": {"unit": "l" @1, "count": 1 @1}}
    ///     now     {"name": "Milk",    "size": {"unit": "l"}}                       changed at 5
    ///     after   {"name": "Milk" @1, "size": {"unit": "l" @1, "count": removed @5}}
    ///
    /// An unchanged value keeps its clock. A changed one gets the change's, or the successor of the latest clock it had, or
    /// of one around or inside of it, if that is later: a change is never older than the value it replaces. Nor than the value
    /// before a foreign edit (SEMANTICS 159).
    ///
    /// - Parameters:
    ///   - new: The new value, or `nil` for none.
    ///   - clock: The time of the change.
    ///   - depth: The number of enclosing objects.
    ///   - cover: The latest clock of an enclosing object.
    ///   - others: The member in other known versions: the change is later than theirs, too.
    /// - Returns: The member after the change.
    func stamped(
        to new: JSONValue?, at clock: FieldClock, depth: Int, cover: FieldClock? = nil,
        inSightOf others: [ClockedMember] = []
    ) -> ClockedMember {
        if value == new { return self }
        guard let object = depth < ClockedDocument.depth ? new?.object : nil, let inside else {
            let latest = others.reduce(Self.later(cover, reach)) { Self.later($0, $1.reach) }
            return replaced(by: new, at: Self.moment(clock, after: latest), depth: depth)
        }
        let innerCover = others.reduce(Self.later(cover, wholeReach)) { Self.later($0, $1.wholeReach) }
        func inner(_ old: ClockedMember, _ name: String, to value: JSONValue?) -> ClockedMember {
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

    /// The member after its value was replaced.
    private func replaced(by new: JSONValue?, at moment: FieldClock?, depth: Int) -> ClockedMember {
        let written = Self.written(new, at: moment, depth: depth)
        // A new object does not count as written as a whole, because another replica may create it concurrently, and the two
        // are merged. It is later than the former value.
        guard let inside = written.inside, !inside.isEmpty else { return written }
        return ClockedMember(new, clock: wholeReach, inside: inside)
    }

    /// A value written as a whole at a time, with everything inside; `nil` if the time is unknown.
    static func written(_ value: JSONValue?, at moment: FieldClock?, depth: Int) -> ClockedMember {
        guard let object = depth < ClockedDocument.depth ? value?.object : nil else {
            return ClockedMember(value, clock: moment, isUnknown: moment == nil)
        }
        var inside = ClockedMembers()
        for member in object { inside.append(member.name, written(member.value, at: moment, depth: depth + 1)) }
        return ClockedMember(value, clock: moment, isUnknown: moment == nil, inside: inside)
    }

    /// A clock, or the successor of another one on the same device if that is not earlier.
    static func moment(_ clock: FieldClock, after other: FieldClock?) -> FieldClock? {
        guard let other, other >= clock else { return clock }
        return other.successor(on: clock.device)
    }
}
