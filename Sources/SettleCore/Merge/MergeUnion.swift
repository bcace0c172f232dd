/// Merges arrays as sets.
enum MergeUnion {
    /// The base without what any version removed, then what the versions added; each value once.
    ///
    /// - Complexity: O(*n*) in bytes.
    static func merge(_ member: MergeMember) throws(MergeMisfit) -> JSONValue {
        if member.isRemoved { throw .removed }
        guard let base = (member.base ?? []).array else { throw .notArrays }
        var versions: [[JSONValue]] = []
        for change in member.changes {
            guard let array = change?.array else { throw .notArrays }
            versions.append(array)
        }
        let sets = versions.map { Set($0) }
        var merged = base.filter { value in sets.allSatisfy { $0.contains(value) } }
        let known = Set(base)
        for version in versions { merged += version.filter { !known.contains($0) } }
        var seen: Set<JSONValue> = []
        return .array(merged.filter { seen.insert($0).inserted })
    }
}
