/// A member of a document, with the clock of its change.
///
///     value      clock      is unknown
///     a value    10:00      no           changed at 10:00
///     none       10:00      no           removed at 10:00
///     a value    none       yes          by a foreign edit, or before there were clocks; later than its bound
///     none       none       no           never existed, as far as this document knows
///     an object  none       no           its members have the clocks
///     an object  10:00      no           written as a whole at 10:00: everything inside is as new, or newer
struct ClockedAttribute: Hashable, Sendable {
    /// The value; `nil` if the member is missing.
    let value: JSONValue?
    /// The clock of its last change as a whole; `nil` if it was never changed as a whole, or the clock is unknown.
    let clock: AttributeClock?
    /// Whether a foreign edit has changed it, or may have.
    let isUnknown: Bool
    /// The latest clock of the value that a foreign edit replaced; a later change must exceed it.
    let bound: AttributeClock?
    /// The members of an object, including removed ones; `nil` for a single value.
    let inside: ClockedAttributes?
    /// Whether the changes of this member and of everything inside are known.
    let isTrusted: Bool
    /// The latest change of this member or of anything inside.
    let newest: AttributeClock?
    /// The latest clock of this member or of anything inside, including bounds.
    let reach: AttributeClock?

    /// Creates a member. An unknown member has no clock, and only an unknown member has a bound.
    init(
        _ value: JSONValue?, clock: AttributeClock?, isUnknown: Bool = false, after bound: AttributeClock? = nil,
        inside: ClockedAttributes? = nil
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

    /// The clock of this member as a whole, or its bound.
    var wholeReach: AttributeClock? { clock ?? bound }

    /// A member that never existed.
    static let nothing = ClockedAttribute(nil, clock: nil)

    /// An object with the given members.
    static func object(_ inside: ClockedAttributes, clock: AttributeClock? = nil) -> ClockedAttribute {
        ClockedAttribute(inside.json, clock: clock, inside: inside)
    }

    /// Reads a member.
    ///
    /// - Parameters:
    ///   - value: The value, `nil` for none.
    ///   - node: Its entries.
    ///   - hasClocks: Whether the document has clocks at all; then a member without an entry never existed.
    ///   - depth: The number of enclosing objects.
    ///   - cover: The latest clock of an enclosing object; an older entry is ignored.
    init(_ value: JSONValue?, _ node: ClockNode?, hasClocks: Bool, depth: Int, cover: AttributeClock? = nil) {
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
                // A foreign edit replaced an object with clocks inside by a single value, or removed it.
                isUnknown = isUnknown || clock == nil || node?.inside.isEmpty == false
            } else {
                isUnknown = !hasClocks
            }
            self.init(value, clock: clock, isUnknown: isUnknown, after: isUnknown ? node?.newest : nil)
            return
        }
        let cover = Self.later(cover, clock)
        var inside = ClockedAttributes()
        for member in object {
            let node = node?.inside[ExactText(member.name)]
            inside.append(
                member.name,
                ClockedAttribute(member.value, node, hasClocks: hasClocks, depth: depth + 1, cover: cover))
        }
        let removed = (node?.inside ?? [:]).filter { object[$0.key.string] == nil }
        for (name, node) in removed.sorted(by: { $0.key < $1.key }) {
            inside.append(
                name.string, ClockedAttribute(nil, node, hasClocks: hasClocks, depth: depth + 1, cover: cover))
        }
        self.init(
            value, clock: clock, isUnknown: isUnknown || inside.isEmpty && clock == nil && depth > 0,
            after: node?.entry?.moment, inside: inside)
    }

    /// The later of two clocks.
    static func later(_ first: AttributeClock?, _ second: AttributeClock?) -> AttributeClock? {
        guard let first, let second else { return first ?? second }
        return max(first, second)
    }
}

extension ClockedAttribute {
    /// Joins the same member of several documents without foreign edits.
    ///
    ///     one      {"size": {"unit": "l" @3, "count": 1 @1}}
    ///     another  {"size": "big" @2}
    ///     joined   {"size": {"unit": "l" @3}}
    ///
    /// Each path has its latest change. A value written as a whole removes everything older inside of it; anything
    /// newer inside makes it an object. So the outcome is that of all changes in the order of their clocks,
    /// whatever order they arrive in: joining is commutative, associative and idempotent.
    ///
    /// - Parameters:
    ///   - members: The member in each document.
    ///   - cover: The latest clock of an enclosing object.
    /// - Returns: The member; `nil` if nothing of it is left, not even the clock of its removal.
    static func join(_ members: [ClockedAttribute], cover: AttributeClock? = nil) -> ClockedAttribute? {
        let latest = members.filter { $0.clock.map { clock in cover.map { clock >= $0 } ?? true } ?? false }
            .reduce(nil) { best, member in best.map { $0.isBefore(member) ? member : $0 } ?? member }
        let innerCover = later(cover, latest?.clock)
        var inside = ClockedAttributes()
        for name in ClockedAttributes.names(of: members.map(\.inside)) {
            let joined = join(members.compactMap { $0.inside?[name] }, cover: innerCover)
            if let joined { inside.append(name, joined) }
        }
        if !inside.isEmpty { return .object(inside, clock: latest?.clock) }
        guard let latest else { return nil }
        return latest.inside == nil ? latest : .object(ClockedAttributes(), clock: latest.clock)
    }

    /// Whether another change is later: by its clock, and if the clocks are equal, by the value.
    private func isBefore(_ other: ClockedAttribute) -> Bool {
        if let clock, let others = other.clock, clock != others { return clock < others }
        if rank != other.rank { return rank < other.rank }
        guard rank == 1, let value, let others = other.value else { return false }
        return value.utf8.lexicographicallyPrecedes(others.utf8)
    }

    private var rank: Int { inside != nil ? 2 : value != nil ? 1 : 0 }
}

// MARK: - ClockedAttributes

/// The members of an object with their clocks, in order. Names are compared byte by byte.
struct ClockedAttributes: Hashable, Sendable {
    private(set) var names: [String] = []
    private(set) var members: [ClockedAttribute] = []
    private var positions: [ExactText: Int] = [:]
    /// Up to this number members are searched linearly.
    private static let searched = 16

    var isEmpty: Bool { members.isEmpty }

    subscript(name: String) -> ClockedAttribute? {
        if positions.isEmpty {
            for index in names.indices where names[index].hasSameBytes(as: name) { return members[index] }
            return nil
        }
        return positions[ExactText(name)].map { members[$0] }
    }

    /// Appends a member with a new name.
    mutating func append(_ name: String, _ member: ClockedAttribute) {
        names.append(name)
        members.append(member)
        if !positions.isEmpty {
            positions[ExactText(name)] = names.count - 1
        } else if names.count > Self.searched {
            for (index, name) in names.enumerated() { positions[ExactText(name)] = index }
        }
    }

    /// Replaces the member with the name, or adds it.
    mutating func set(_ name: String, _ member: ClockedAttribute) {
        let position =
            positions.isEmpty ? names.firstIndex { $0.hasSameBytes(as: name) } : positions[ExactText(name)]
        if let position { members[position] = member } else { append(name, member) }
    }

    /// The existing members, as a value.
    var json: JSONValue {
        .object(JSONObject(zip(names, members).compactMap { name, member in member.value.map { (name, $0) } }))
    }

    /// The names in several objects: first those of the first object in order, then the remaining ones.
    static func names(of all: [ClockedAttributes?]) -> [String] {
        var known = JSONObject()
        for members in all {
            for name in members?.names ?? [] where known[name] == nil { known[name] = .null }
        }
        return known.names
    }
}

// MARK: - Stamp

extension ClockedAttribute {
    /// The member after a change.
    ///
    ///     before  {"name": "Milk" @1, "size": {"unit": "l" @1, "count": 1 @1}}
    ///     now     {"name": "Milk",    "size": {"unit": "l"}}                       changed at 5
    ///     after   {"name": "Milk" @1, "size": {"unit": "l" @1, "count": removed @5}}
    ///
    /// An unchanged value keeps its clock. A changed one gets the change's clock. But if the member, or anything
    /// around or inside of it, has a later clock, it gets that clock's successor: a change is never older than the
    /// value it replaces, nor than the value before a foreign edit (SEMANTICS 159).
    ///
    /// - Parameters:
    ///   - new: The new value, or `nil` for none.
    ///   - clock: The time of the change.
    ///   - depth: The number of enclosing objects.
    ///   - cover: The latest clock of an enclosing object.
    ///   - others: The member in other known versions: the change is later than theirs too.
    /// - Returns: The member after the change.
    func stamped(
        to new: JSONValue?, at clock: AttributeClock, depth: Int, cover: AttributeClock? = nil,
        inSightOf others: [ClockedAttribute] = []
    ) -> ClockedAttribute {
        if value == new { return self }
        guard let object = depth < ClockedDocument.depth ? new?.object : nil, let inside else {
            let latest = others.reduce(Self.later(cover, reach)) { Self.later($0, $1.reach) }
            return replaced(by: new, at: Self.moment(clock, after: latest), depth: depth)
        }
        let innerCover = others.reduce(Self.later(cover, wholeReach)) { Self.later($0, $1.wholeReach) }
        func inner(_ old: ClockedAttribute, _ name: String, to value: JSONValue?) -> ClockedAttribute {
            old.stamped(
                to: value, at: clock, depth: depth + 1, cover: innerCover,
                inSightOf: others.compactMap { $0.inside?[name] })
        }
        var changed = ClockedAttributes()
        for member in object {
            let old = inside[member.name] ?? .nothing
            changed.append(member.name, inner(old, member.name, to: member.value))
        }
        for (name, old) in zip(inside.names, inside.members) where object[name] == nil {
            changed.append(name, inner(old, name, to: nil))
        }
        return ClockedAttribute(new, clock: self.clock, isUnknown: isUnknown, after: bound, inside: changed)
    }

    /// The member after its value was replaced.
    private func replaced(by new: JSONValue?, at moment: AttributeClock?, depth: Int) -> ClockedAttribute {
        let written = Self.written(new, at: moment, depth: depth)
        // A new object does not count as written as a whole, because another replica may create it concurrently,
        // and then the two are merged. It is later than the former value.
        guard let inside = written.inside, !inside.isEmpty else { return written }
        return ClockedAttribute(new, clock: wholeReach, inside: inside)
    }

    /// A value written as a whole at a time, with everything inside. If the time is `nil`, it is unknown.
    static func written(_ value: JSONValue?, at moment: AttributeClock?, depth: Int) -> ClockedAttribute {
        guard let object = depth < ClockedDocument.depth ? value?.object : nil else {
            return ClockedAttribute(value, clock: moment, isUnknown: moment == nil)
        }
        var inside = ClockedAttributes()
        for member in object { inside.append(member.name, written(member.value, at: moment, depth: depth + 1)) }
        return ClockedAttribute(value, clock: moment, isUnknown: moment == nil, inside: inside)
    }

    /// A clock, or the successor of another one on the same device if that is not earlier.
    static func moment(_ clock: AttributeClock, after other: AttributeClock?) -> AttributeClock? {
        guard let other, other >= clock else { return clock }
        return other.successor(on: clock.device)
    }
}
