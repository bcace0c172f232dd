internal import SettleCore

/// Matches the elements of a changed list with those of the stored one.
///
/// Elements that have an identity, such as `id`, match only if it is equal. All others are matched in steps, each
/// among the remaining elements:
///
///     1. equal elements, in their order                      before   [milk 1,  bread 1,  eggs 1]
///     2. objects that share a telling member                 after    [eggs 1,  bread 2,  salt 1,  milk 1]
///     3. objects that share most of their members                        1         2                  1
///     4. if no fewer elements are left than before: by their order
///
/// A telling member is a text or number that exactly one element has before the change, and exactly one after it.
struct ListAlignment {
    /// For each element after the change, its position in the list before and in the stored list; `nil` for a new
    /// element.
    private(set) var pairs: [(before: Int, stored: Int)?]
    /// The positions of stored elements that the model left out when it was decoded.
    let unread: Set<Int>

    /// Matches elements; `nil` if the stored list does not correspond to the list before the change.
    ///
    /// - Complexity: O(*n*) for *n* elements, and O(*n* · *m*) for those that reach the third step. If they are
    ///   more than ``maximumPairs`` pairs, that step is skipped.
    init?(before: [JSONValue], after: [JSONValue], stored: [JSONValue], identities: [String]) {
        let name = identities.first { name in
            (before + after).contains { Self.identity($0, name) != nil }
                && [before, after, stored].allSatisfy { Self.areUnique($0, name) }
        }
        guard let places = Self.places(of: before, in: stored, name) else { return nil }
        var matches = Matches(before, after)
        if let name { matches.matchIdentified(by: name) }
        matches.matchEqual()
        matches.matchTelling()
        matches.matchSimilar()
        matches.matchInOrder()
        pairs = matches.result.map { match in match.map { ($0, places[$0]) } }
        unread = Set(stored.indices).subtracting(places)
    }

    /// The maximum number of pairs of elements that are compared.
    static let maximumPairs = 250_000

    /// The identity of an element, if it has the member.
    static func identity(_ element: JSONValue, _ name: String) -> JSONValue? {
        guard let value = element.object?[name], value.string != nil || value.number != nil else { return nil }
        return value
    }

    private static func areUnique(_ elements: [JSONValue], _ name: String) -> Bool {
        var seen: Set<JSONValue> = []
        return elements.allSatisfy { identity($0, name).map { seen.insert($0).inserted } ?? true }
    }

    /// The position in the stored list of each element of the list before: that of the element with the same
    /// identity, or of an equal element if the order is different, as for a set, or else the same position.
    private static func places(of before: [JSONValue], in stored: [JSONValue], _ name: String?) -> [Int]? {
        if let name {
            let places = Dictionary(
                stored.enumerated().compactMap { place, element in identity(element, name).map { ($0, place) } },
                uniquingKeysWith: min)
            let known = before.compactMap { identity($0, name).flatMap { places[$0] } }
            if known.count == before.count { return known }
        }
        guard before.count == stored.count else { return nil }
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
}

/// The matches found so far, and the remaining elements.
private struct Matches {
    private struct Member: Hashable {
        let name: String
        let value: JSONValue
    }

    private let before: [JSONValue]
    private let after: [JSONValue]
    private(set) var result: [Int?]
    private var old: [Int]
    private var new: [Int]

    init(_ before: [JSONValue], _ after: [JSONValue]) {
        (self.before, self.after) = (before, after)
        result = [Int?](repeating: nil, count: after.count)
        (old, new) = (Array(before.indices), Array(after.indices))
    }

    private mutating func match(_ pairs: [(old: Int, new: Int)]) {
        for pair in pairs { result[pair.new] = pair.old }
        let taken = (Set(pairs.map(\.old)), Set(pairs.map(\.new)))
        old.removeAll { taken.0.contains($0) }
        new.removeAll { taken.1.contains($0) }
    }

    /// Matches elements with the same identity. Afterwards no remaining element has an identity.
    mutating func matchIdentified(by name: String) {
        let places = Dictionary(
            old.compactMap { place in ListAlignment.identity(before[place], name).map { ($0, place) } },
            uniquingKeysWith: min)
        match(
            new.compactMap { place in
                ListAlignment.identity(after[place], name).flatMap { places[$0] }.map { ($0, place) }
            })
        old.removeAll { ListAlignment.identity(before[$0], name) != nil }
        new.removeAll { ListAlignment.identity(after[$0], name) != nil }
    }

    /// Matches equal elements, in order.
    mutating func matchEqual() {
        var waiting: [JSONValue: ArraySlice<Int>] = [:]
        for place in old { waiting[before[place], default: []].append(place) }
        match(new.compactMap { place in waiting[after[place]]?.popFirst().map { ($0, place) } })
    }

    /// Matches objects that share telling members, those with the most in common first.
    mutating func matchTelling() {
        var owners: [Member: (old: [Int], new: [Int])] = [:]
        for place in old {
            for member in members(before[place]) { owners[member, default: ([], [])].old.append(place) }
        }
        for place in new { for member in members(after[place]) { owners[member, default: ([], [])].new.append(place) } }
        var votes: [Int: [Int: Int]] = [:]
        for owner in owners.values where owner.old.count == 1 && owner.new.count == 1 {
            votes[owner.new[0], default: [:]][owner.old[0], default: 0] += 1
        }
        let ranked = votes.flatMap { new, olds in olds.map { (old: $0.key, new: new, votes: $0.value) } }
            .sorted { ($1.votes, $0.new, $0.old) < ($0.votes, $1.new, $1.old) }
        match(eachOnce(ranked.map { ($0.old, $0.new) }))
    }

    private func members(_ element: JSONValue) -> [Member] {
        (element.object ?? JSONObject()).compactMap { member in
            member.value.string == nil && member.value.number == nil
                ? nil : Member(name: member.name, value: member.value)
        }
    }

    /// Matches objects that share more than half of their members, those with the most in common first.
    mutating func matchSimilar() {
        guard old.count * new.count <= ListAlignment.maximumPairs else { return }
        var ranked: [(old: Int, new: Int, shared: Int)] = []
        for left in old {
            guard let mine = before[left].object else { continue }
            for right in new {
                guard let theirs = after[right].object else { continue }
                let shared = mine.count { member in theirs[member.name]?.hasSameMeaning(as: member.value) ?? false }
                if shared * 2 > max(mine.count, theirs.count) { ranked.append((left, right, shared)) }
            }
        }
        ranked.sort { ($1.shared, $0.new, $0.old) < ($0.shared, $1.new, $1.old) }
        match(eachOnce(ranked.map { ($0.old, $0.new) }))
    }

    /// Matches objects with objects and lists with lists, in order, unless elements were removed.
    mutating func matchInOrder() {
        guard new.count >= old.count else { return }
        match(zip(old, new).filter { before[$0].kind == after[$1].kind }.map { ($0, $1) })
    }

    /// The first pairs in which each element occurs once.
    private func eachOnce(_ pairs: [(Int, Int)]) -> [(old: Int, new: Int)] {
        var (olds, news): (Set<Int>, Set<Int>) = ([], [])
        return pairs.filter { pair in
            guard !olds.contains(pair.0), !news.contains(pair.1) else { return false }
            olds.insert(pair.0)
            news.insert(pair.1)
            return true
        }.map { ($0.0, $0.1) }
    }
}
