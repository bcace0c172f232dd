internal import SettleCore

/// The members that tell elements apart: texts and numbers that one element before and one after the change have, and no other.
private struct TellingMembers {
    private struct Member: Hashable {
        let name: String
        let value: JSONValue
    }

    private var counts: [Member: (before: Int, after: Int)] = [:]

    init(_ before: ArraySlice<JSONValue>, _ after: ArraySlice<JSONValue>) {
        for member in before.lazy.flatMap(Self.members) { counts[member, default: (0, 0)].before += 1 }
        for member in after.lazy.flatMap(Self.members) { counts[member, default: (0, 0)].after += 1 }
    }

    private static func members(_ element: JSONValue) -> [Member] {
        (element.object ?? JSONObject()).compactMap { member in
            member.value.string != nil || member.value.number != nil
                ? Member(name: member.name, value: member.value) : nil
        }
    }

    func contains(_ member: JSONObject.Member) -> Bool {
        counts[Member(name: member.name, value: member.value)].map { $0 == (1, 1) } ?? false
    }
}

/// Which elements of a changed list are which elements of the stored one.
///
/// Elements are told apart by the first of some members that all of them have, such as `id`. Without one, equal elements in the same
/// order are matched, then objects between them that have most in common, then equal elements that were moved. Where at least as many
/// elements are as were, those that have nothing in common are matched by their order.
///
///     before   [milk 1,  bread 1,  eggs 1]
///     after    [milk 1,  bread 2,  salt 1,  eggs 1]
///                 │         ┊                  │          │ equal   ┊ shares a member
///
/// A stored list that is not what the list before was decoded from, because the model left elements out, fits nothing.
struct ListAlignment {
    /// For each element after the change its place in the list before and in the stored one; `nil` for a new element.
    private(set) var pairs: [(before: Int, stored: Int)?]

    /// Matches elements; `nil` if the stored list does not fit the one before.
    ///
    /// - Complexity: O(*n*) with an identity; else O(*n* · *m*) for the *n* and *m* elements between the first and the last change,
    ///   up to ``maximumPairs`` of them. Beyond that only the elements before and after these are matched.
    init?(before: [JSONValue], after: [JSONValue], stored: [JSONValue], identities: [String]) {
        guard before.count == stored.count else { return nil }
        for name in identities {
            guard let old = Self.identified(before, by: name), let new = Self.identified(after, by: name),
                let kept = Self.identified(stored, by: name)
            else { continue }
            guard old.keys.allSatisfy({ kept[$0] != nil }) else { return nil }
            pairs = [(before: Int, stored: Int)?](repeating: nil, count: after.count)
            for (identity, place) in new {
                if let old = old[identity], let kept = kept[identity] { pairs[place] = (old, kept) }
            }
            return
        }
        guard let places = Self.places(of: before, in: stored) else { return nil }
        pairs = Self.matches(before, after).map { match in match.map { ($0, places[$0]) } }
    }

    /// The most pairs of elements that are compared.
    static let maximumPairs = 250_000

    /// The places of elements by the text of their identity; `nil` if one has none, or two have the same.
    private static func identified(_ elements: [JSONValue], by name: String) -> [JSONValue: Int]? {
        var places: [JSONValue: Int] = [:]
        for (place, element) in elements.enumerated() {
            guard let identity = element.object?[name], identity.string != nil || identity.number != nil,
                places.updateValue(place, forKey: identity) == nil
            else { return nil }
        }
        return places
    }

    /// The place in the stored list of each element of the list before: the same place, unless the list is in another order, as that
    /// of a set is.
    private static func places(of before: [JSONValue], in stored: [JSONValue]) -> [Int]? {
        let isSame = zip(before, stored).allSatisfy { $0.hasSameMeaning(as: $1) }
        if !isSame, before.count <= 1000 {
            var free = Array(stored.indices)
            let places = before.map { element -> Int? in
                guard let index = free.firstIndex(where: { stored[$0].hasSameMeaning(as: element) }) else { return nil }
                return free.remove(at: index)
            }
            let known = places.compactMap { $0 }
            if known.count == before.count { return known }
        }
        guard zip(before, stored).allSatisfy({ $0.kind == $1.kind }) else { return nil }
        return Array(before.indices)
    }

    /// For each element after the change the one before that it was.
    private static func matches(_ before: [JSONValue], _ after: [JSONValue]) -> [Int?] {
        var matches = [Int?](repeating: nil, count: after.count)
        var start = 0
        while start < min(before.count, after.count), before[start].hasSameMeaning(as: after[start]) {
            matches[start] = start
            start += 1
        }
        var (oldEnd, newEnd) = (before.count, after.count)
        while oldEnd > start, newEnd > start, before[oldEnd - 1].hasSameMeaning(as: after[newEnd - 1]) {
            (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
            matches[newEnd] = oldEnd
        }
        let (old, new) = (start..<oldEnd, start..<newEnd)
        if old.count * new.count <= maximumPairs {
            align(before, old, after, new, &matches)
        } else if old.count == new.count {
            for place in new { matches[place] = place }
        }
        return matches
    }

    /// Finds the pairs in order that have most in common, then elements that were moved.
    private static func align(
        _ before: [JSONValue], _ old: Range<Int>, _ after: [JSONValue], _ new: Range<Int>, _ matches: inout [Int?]
    ) {
        let width = new.count + 1
        let telling = TellingMembers(before[old], after[new])
        let isInPlace = new.count >= old.count
        let common = old.map { left in new.map { inCommon(before[left], after[$0], telling, isInPlace) } }
        // The best sum for the elements from a place on, in both lists.
        var best = [Int](repeating: 0, count: (old.count + 1) * width)
        for row in (0..<old.count).reversed() {
            for column in (0..<new.count).reversed() {
                let paired = common[row][column] + best[(row + 1) * width + column + 1]
                let skipped = max(best[(row + 1) * width + column], best[row * width + column + 1])
                best[row * width + column] = common[row][column] > 0 ? max(paired, skipped) : skipped
            }
        }
        var free = Set(old)
        var (row, column) = (0, 0)
        while row < old.count, column < new.count {
            let here = best[row * width + column]
            if common[row][column] > 0, here == common[row][column] + best[(row + 1) * width + column + 1] {
                matches[new.lowerBound + column] = old.lowerBound + row
                free.remove(old.lowerBound + row)
                (row, column) = (row + 1, column + 1)
            } else if here == best[(row + 1) * width + column] {
                row += 1
            } else {
                column += 1
            }
        }
        for place in new where matches[place] == nil {
            let moved = free.sorted().first { common[$0 - old.lowerBound][place - new.lowerBound] >= equal }
            guard let moved else { continue }
            matches[place] = moved
            free.remove(moved)
        }
    }

    /// What equal elements have in common: more than any that differ.
    private static let equal = 1_000_000

    /// How much two elements have in common: nothing, unless both are objects or both are lists. Objects share a telling member or
    /// most of their members, unless elements were changed in place.
    private static func inCommon(
        _ left: JSONValue, _ right: JSONValue, _ telling: TellingMembers, _ isInPlace: Bool
    ) -> Int {
        if left.hasSameMeaning(as: right) { return equal }
        switch (left, right) {
        case (.object(let left), .object(let right)):
            let shared = left.filter { member in right[member.name]?.hasSameMeaning(as: member.value) ?? false }
            let told = shared.count(where: telling.contains)
            guard isInPlace || told > 0 || shared.count * 2 > max(left.count, right.count) else { return 0 }
            return 1 + min(shared.count, 1000) + min(told, 100) * 1000
        case (.array, .array): return isInPlace ? 1 : 0
        default: return 0
        }
    }
}
