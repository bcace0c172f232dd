/// A member as a document has it, with what is known of when it was changed.
///
///     value      clock      is unknown
///     a value    10:00      no           changed at 10:00
///     none       10:00      no           removed at 10:00
///     a value    none       yes          by somebody who knows no clocks, or before there were any; after its bound
///     none       none       no           never there, as far as this document knows
///     an object  none       no           what counts is inside
///     an object  10:00      no           it was written as a whole at 10:00: all that is inside is as new, or newer
struct ClockedMember: Hashable, Sendable {
    /// The value, `nil` for none.
    let value: JSON?
    /// When it was changed as a whole; `nil` when it never was, or that is not known.
    let clock: AttributeClock?
    /// Whether it was changed, or may have been, by somebody who knows no clocks.
    let isUnknown: Bool
    /// The latest moment of what is not known to be the same any more: what is unknown here was put in its place, and what
    /// replaces that is later, too.
    let bound: AttributeClock?
    /// What is inside of an object, removed members too; `nil` for what is one value.
    let inside: ClockedMembers?
    /// Whether of this and of all inside it is known when it was changed.
    let isTrusted: Bool
    /// The latest change of it or of anything inside.
    let newest: AttributeClock?
    /// The latest moment it bears: of its changes, and the bounds, of it and of anything inside.
    let reach: AttributeClock?

    /// Makes a member; one that is unknown has no clock, and only such a one has a bound.
    init(
        _ value: JSON?, clock: AttributeClock?, isUnknown: Bool = false, after bound: AttributeClock? = nil,
        inside: ClockedMembers? = nil
    ) {
        self.value = value
        self.clock = isUnknown ? nil : clock
        self.isUnknown = isUnknown
        self.bound = isUnknown ? bound : nil
        self.inside = inside
        isTrusted = !isUnknown && inside?.members.allSatisfy(\.isTrusted) ?? true
        newest = inside?.members.reduce(self.clock) { Self.later($0, $1.newest) } ?? self.clock
        let own = self.clock ?? self.bound
        reach = inside?.members.reduce(own) { Self.later($0, $1.reach) } ?? own
    }

    /// The moment of it as a whole, or the one it came after.
    var wholeReach: AttributeClock? { clock ?? bound }

    /// A member that is not there and never was.
    static let nothing = ClockedMember(nil, clock: nil)

    /// An object without members, or with those given.
    static func object(_ inside: ClockedMembers, clock: AttributeClock? = nil) -> ClockedMember {
        ClockedMember(inside.json, clock: clock, inside: inside)
    }

    /// Reads a member.
    ///
    /// - Parameters:
    ///   - value: The value, `nil` for none.
    ///   - node: The entries about it.
    ///   - hasClocks: Whether the document has clocks at all; then what it does not mention was never there.
    ///   - depth: How many objects are around it.
    ///   - cover: The latest clock of an object around it; an entry older than that is none.
    init(_ value: JSON?, _ node: ClockNode?, hasClocks: Bool, depth: Int, cover: AttributeClock? = nil) {
        let object = depth < ClockedDocument.depth ? value?.object : nil
        var clock: AttributeClock?
        var isUnknown = node?.entry != nil
        if case .known(let known, let digest) = node?.entry, cover.map({ known >= $0 }) ?? true,
            digest == ValueDigest(of: value, isObject: object != nil)
        {
            (clock, isUnknown) = (known, false)
        }
        guard let object else {
            let isMentioned = node.map { $0.entry != nil || !$0.inside.isEmpty } ?? false
            if value != nil || isMentioned {
                // What was an object has become one value, or nothing, behind the back of the clocks inside.
                isUnknown = isUnknown || clock == nil || node?.inside.isEmpty == false
            } else {
                isUnknown = !hasClocks
            }
            self.init(value, clock: clock, isUnknown: isUnknown, after: isUnknown ? node?.newest : nil)
            return
        }
        let cover = Self.later(cover, clock)
        var inside = ClockedMembers()
        for member in object {
            let node = node?.inside[ClockedMembers.Name(text: member.name)]
            inside.append(
                member.name,
                ClockedMember(member.value, node, hasClocks: hasClocks, depth: depth + 1, cover: cover))
        }
        let removed = (node?.inside ?? [:]).filter { object[$0.key.text] == nil }
        for (name, node) in removed.sorted(by: { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }) {
            inside.append(
                name.text, ClockedMember(nil, node, hasClocks: hasClocks, depth: depth + 1, cover: cover))
        }
        self.init(
            value, clock: clock, isUnknown: isUnknown || inside.isEmpty && clock == nil && depth > 0,
            after: node?.entry?.moment, inside: inside)
    }

    /// The later of two moments.
    static func later(_ first: AttributeClock?, _ second: AttributeClock?) -> AttributeClock? {
        guard let first, let second else { return first ?? second }
        return max(first, second)
    }
}

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
