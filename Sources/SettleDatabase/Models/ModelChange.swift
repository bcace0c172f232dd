internal import SettleCore

/// What an app changed in a model: its JSON before and after, as a change of the JSON that is stored.
///
/// A model knows some members of a document and spells them in its own way. So the stored JSON is never replaced by the model's. Both
/// encodings are compared, and only their differences are made to the stored JSON:
///
///     stored   {"name":"Ada","at":"2026-01-01T00:00:00Z",    "place":{"city":"Brno","zip":"60200"}}
///     before   {"name":"Ada","at":"2026-01-01T00:00:00.000Z","place":{"city":"Brno"}}
///     after    {"name":"Ada","at":"2026-01-01T00:00:00.000Z","place":{"city":"Prague"}}
///     ───────────────────────────────────────────────────────────────────────────────
///     result   {"name":"Ada","at":"2026-01-01T00:00:00Z",    "place":{"city":"Prague","zip":"60200"}}
///
/// | before and after | the stored value |
/// |---|---|
/// | say the same, or after says what is stored | keeps its bytes |
/// | objects, and an object is stored | member by member: set, changed or removed; the others stay |
/// | lists, and a list is stored that fits the one before | element by element: see ``ListAlignment`` |
/// | anything else | is replaced by the value after |
struct ModelChange {
    /// The members that the model encoded before the change.
    let before: JSONObject
    /// The members that it encodes now.
    let after: JSONObject
    /// The names of members that identify elements of lists.
    let identities: [String]
    /// Whether the model carries the revision it was read at.
    let hasRevision: Bool

    /// Makes the difference of two encodings of one model.
    init(from before: ModelContent, to after: ModelContent, of model: Any.Type) {
        (self.before, self.after, hasRevision) = (before.members, after.members, after.hasRevision)
        identities = (model as? any DocumentModel.Type)?.elementIdentities ?? ["id", "_id"]
    }

    /// Whether the model says the same as before.
    var isEmpty: Bool { before.hasSameMeaning(as: after) }

    /// How lists that were changed are written.
    enum Lists {
        /// Element by element, so that members that the model does not know stay.
        case byElement
        /// As a whole.
        case whole
    }

    /// Makes the change to the members of a document.
    ///
    /// - Parameters:
    ///   - stored: The members that the model was decoded from.
    ///   - lists: How lists are written.
    /// - Returns: The members, and whether a list among them was written element by element.
    /// - Complexity: O(*n* · *d*) for *n* bytes and *d* levels, and for lists as ``ListAlignment``.
    func applied(to stored: JSONObject, _ lists: Lists = .byElement) -> (members: JSONObject, hasMatched: Bool) {
        var pass = Pass(lists: lists, identities: identities)
        return (pass.object(before, after, stored), pass.hasMatched)
    }

    /// One application of the change.
    private struct Pass {
        let lists: Lists
        let identities: [String]
        var hasMatched = false

        mutating func value(_ before: JSONValue, _ after: JSONValue, _ stored: JSONValue) -> JSONValue {
            if before.hasSameMeaning(as: after) || after.hasSameMeaning(as: stored) { return stored }
            switch (before, after, stored) {
            case (.object(let before), .object(let after), .object(let stored)):
                return .object(object(before, after, stored))
            case (.array(let before), .array(let after), .array(let stored)):
                return .array(list(before, after, stored))
            default: return after
            }
        }

        mutating func object(_ before: JSONObject, _ after: JSONObject, _ stored: JSONObject) -> JSONObject {
            var result = stored
            for member in after {
                let old = before[member.name]
                guard let kept = stored[member.name] else {
                    // A default value that the document does not have is not stored before it is changed.
                    if old.map({ !$0.hasSameMeaning(as: member.value) }) ?? true { result[member.name] = member.value }
                    continue
                }
                result[member.name] =
                    if let old { value(old, member.value, kept) } else {
                        member.value.hasSameMeaning(as: kept) ? kept : member.value
                    }
            }
            for member in before where after[member.name] == nil { result[member.name] = nil }
            return result
        }

        mutating func list(_ before: [JSONValue], _ after: [JSONValue], _ stored: [JSONValue]) -> [JSONValue] {
            guard lists == .byElement,
                let alignment = ListAlignment(before: before, after: after, stored: stored, identities: identities)
            else { return after }
            hasMatched = true
            return after.indices.map { index in
                guard let pair = alignment.pairs[index] else { return after[index] }
                return value(before[pair.before], after[index], stored[pair.stored])
            }
        }
    }
}

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
            member.value.string != nil || member.value.number != nil ? Member(name: member.name, value: member.value) : nil
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
