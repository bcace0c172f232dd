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

    /// Makes a member of the base's value and the versions' values.
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

    /// The values of the versions that changed it, `nil` for a removal.
    var changes: [JSONValue?] { changed.map { versions[$0] } }

    /// Whether the member was changed to more than one value.
    var isClash: Bool {
        changed.contains { comparison.classes[$0 + 1] != comparison.classes[changed[0] + 1] }
    }

    /// Whether a version removed it.
    var isRemoved: Bool { changed.contains { versions[$0] == nil } }

    /// Whether it can be merged member by member.
    var areObjects: Bool { comparison.members != nil && !isRemoved }

    /// For each version whether an earlier one has the same value.
    var repeats: [Bool] { versions.indices.map { comparison.classes[$0 + 1] < $0 + 1 && $0 > 0 } }

    /// The members inside; those of the versions in order, then those only in the base.
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
