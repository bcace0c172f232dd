internal import Settle

/// The differences between a folder and a stored design document.
///
/// Members keep their order, and texts that differ only in their trailing line ends are equal, so that an unchanged folder
/// changes nothing.
struct DesignDifference {
    /// The members to store.
    let members: JSONObject
    /// The added, changed and removed members, by path.
    private(set) var added: [String] = []
    private(set) var changed: [String] = []
    private(set) var removed: [String] = []

    init(from stored: JSONObject?, to given: JSONObject) {
        members = Self.merged(stored ?? JSONObject(), given)
        let (old, new) = (Self.leaves(.object(stored ?? JSONObject()), []), Self.leaves(.object(members), []))
        for (path, value) in new {
            guard let before = old.first(where: { $0.path == path }) else {
                added.append(path)
                continue
            }
            if before.value != value { changed.append(path) }
        }
        removed = old.map(\.path).filter { path in !new.contains { $0.path == path } }
    }

    /// Whether there is nothing to store.
    var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

    private static func merged(_ old: JSONObject, _ new: JSONObject) -> JSONObject {
        var result = JSONObject()
        for member in old {
            if let value = new[member.name] { result[member.name] = merged(member.value, value) }
        }
        for member in new where old[member.name] == nil { result[member.name] = member.value }
        return result
    }

    private static func merged(_ old: JSONValue, _ new: JSONValue) -> JSONValue {
        if let before = old.object, let after = new.object { return .object(merged(before, after)) }
        if let before = old.string, let after = new.string {
            return DesignFolder.trimmed(before) == DesignFolder.trimmed(after) ? old : new
        }
        return new
    }

    private static func leaves(_ value: JSONValue, _ path: [String]) -> [(path: String, value: JSONValue)] {
        guard let members = value.object, !members.isEmpty || path.isEmpty else {
            return [(path.joined(separator: "/"), value)]
        }
        return members.flatMap { leaves($0.value, path + [$0.name]) }
    }
}
