/// Groups equal values, for a whole tree of objects in one pass.
///
/// The values are in slots. Two slots are of one class if their values are equal; the class is the first such slot.
/// Objects are compared by their members, and the members' classes are kept for the merge to descend into:
///
///     slots     {"a": 1, "b": 2}   {"a": 1, "b": 3}   {"a": 1, "b": 3}
///     b              0                  1                  1
///     object         0                  1                  1
struct MergeComparison {
    /// A member of objects, and how its values compare.
    struct Member {
        let name: String
        let comparison: MergeComparison
    }

    /// The class of each slot.
    private(set) var classes: [Int]
    /// The members, if all values are objects or absent, and not all are equal.
    private(set) var members: [Member]?

    /// Compares values at a nesting depth; values nested too deeply are compared as a whole.
    ///
    /// - Complexity: O(*n* · *k*) for *n* bytes in all and *k* classes.
    init(_ values: [JSONValue?], depth: Int) {
        let areObjects = depth < JSONLimits.depth && values.allSatisfy { $0 == nil || $0?.object != nil }
        guard areObjects else {
            classes = Self.classes(of: values, by: ==)
            return
        }
        let objects = values.map { $0?.object }
        classes = Self.classes(of: objects) { left, right in
            guard let left, let right else { return left == nil && right == nil }
            return left.count == right.count && zip(left, right).allSatisfy { $0.name.hasSameBytes(as: $1.name) }
        }
        var members: [Member] = []
        for name in Self.names(of: objects) {
            let comparison = MergeComparison(objects.map { $0?[name] }, depth: depth + 1)
            refine(by: comparison)
            members.append(Member(name: name, comparison: comparison))
        }
        if !areEqual { self.members = members }
    }

    /// Whether all values are equal.
    private var areEqual: Bool { classes.allSatisfy { $0 == 0 } }

    /// Splits classes whose slots differ in a member.
    private mutating func refine(by member: MergeComparison) {
        if member.areEqual { return }
        let before = classes
        classes = Self.classes(of: Array(classes.indices)) { left, right in
            before[left] == before[right] && member.classes[left] == member.classes[right]
        }
    }

    /// All names: those of the versions in order, then those only in the base, which is in the first slot.
    private static func names(of objects: [JSONObject?]) -> [String] {
        var known = JSONObject()
        for object in objects.dropFirst() + objects.prefix(1) {
            for (index, member) in (object ?? [:]).enumerated() {
                // Usually all have the same members in the same positions.
                if index < known.count, known[index].name.hasSameBytes(as: member.name) { continue }
                if known[member.name] == nil { known[member.name] = .null }
            }
        }
        return known.names
    }

    private static func classes<Value>(of values: [Value], by areEqual: (Value, Value) -> Bool) -> [Int] {
        var first: [Int] = []
        return values.indices.map { slot in
            if let known = first.first(where: { areEqual(values[$0], values[slot]) }) { return known }
            first.append(slot)
            return slot
        }
    }
}
