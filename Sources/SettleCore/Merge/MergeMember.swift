/// A member with its values in the base and in all versions.
struct MergeMember {
    /// The path to the member.
    let path: MergePath
    /// The value in the base, `nil` if absent.
    let base: JSONValue?
    /// The value in each version, `nil` if absent.
    let versions: [JSONValue?]
    /// The base in slot 0, then the versions.
    let comparison: MergeComparison
    /// The versions that changed the member.
    let changed: [Int]

    /// Creates a member from the base's value and the versions' values.
    init(_ values: [JSONValue?], at path: MergePath) {
        self.init(values, MergeComparison(values, depth: path.depth), at: path)
    }

    private init(_ values: [JSONValue?], _ comparison: MergeComparison, at path: MergePath) {
        self.path = path
        base = values.first ?? nil
        versions = Array(values.dropFirst())
        self.comparison = comparison
        let classes = comparison.classes
        changed = classes.indices.dropFirst().filter { classes[$0] != classes[0] }.map { $0 - 1 }
    }

    /// The values of the versions that changed it; `nil` for a removal.
    var changes: [JSONValue?] { changed.map { versions[$0] } }

    /// Whether the member was changed to more than one value.
    var isClash: Bool {
        changed.contains { comparison.classes[$0 + 1] != comparison.classes[changed[0] + 1] }
    }

    /// Whether a version removed it.
    var isRemoved: Bool { changed.contains { versions[$0] == nil } }

    /// Whether it can be merged member by member.
    var areObjects: Bool { comparison.members != nil && !isRemoved }

    /// For each version, whether an earlier one has the same value.
    var repeats: [Bool] { versions.indices.map { comparison.classes[$0 + 1] < $0 + 1 && $0 > 0 } }

    /// The members inside: first those of the versions in order, then those only in the base.
    var inside: [(name: String, member: MergeMember)] {
        let objects = [base?.object] + versions.map { $0?.object }
        return (comparison.members ?? []).map { member in
            let values = objects.map { $0?[member.name] }
            return (member.name, MergeMember(values, member.comparison, at: path.member(member.name)))
        }
    }

    /// The member as if no version had removed it.
    var withoutRemovals: MergeMember { MergeMember([base] + versions.map { $0 ?? base }, at: path) }
}

// MARK: - MergeComparison

/// Groups equal values, for a whole tree of objects in one pass.
///
/// The values are in slots. Two slots have the same class if their values are equal; the class is the first such
/// slot. Objects are compared by their members, and the members' classes are kept, so that the merge can descend
/// into them:
///
///     slots     {"a": 1, "b": 2}   {"a": 1, "b": 3}   {"a": 1, "b": 3}
///     b              0                  1                  1
///     object         0                  1                  1
struct MergeComparison {
    /// A member of objects, and the comparison of its values.
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
        classes = Self.classes(of: Array(classes.indices)) { (left: Int, right: Int) -> Bool in
            before[left] == before[right] && member.classes[left] == member.classes[right]
        }
    }

    /// All names: first those of the versions in order, then those only in the base, which is in the first slot.
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
