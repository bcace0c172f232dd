internal import Settle
internal import SettleServer

/// Stores the files of a folder as a design document.
struct DesignPush {
    let invocation: Invocation
    let folder: DesignFolder

    /// Stores the changes, if they are valid.
    func run() throws {
        let arguments = invocation.arguments
        let name = arguments.text("--name").map(ViewName.designName) ?? ViewName.designName(folder.id)
        let id = try DocumentID(validating: "_design/" + name)
        try InProcessServer.check(designDocument: folder.members)
        if folder.members["language"] == "javascript" { try DesignScript.check(folder.scripts) }
        for file in folder.ignored { try invocation.console.printNote("\(file) is not part of the design document") }
        // Another client may store a revision meanwhile.
        try invocation.retrying(true) {
            try invocation.withClient { client in
                let stored = try client.document(id)
                let changes = DesignDifference(from: try stored?.body().json.object, to: folder.members)
                guard !changes.isEmpty || stored == nil else { return try report(id, stored?.revision, changes) }
                guard !arguments.flag("--dry-run") else { return try report(id, stored?.revision, changes) }
                let body = try DocumentBody(JSONValue.object(changes.members))
                try report(id, try client.save(id, body, on: stored), changes)
            }
        }
    }

    private func report(_ id: DocumentID, _ revision: RevisionID?, _ changes: DesignDifference) throws {
        func list(_ paths: [String]) -> JSONValue { .array(paths.map { .string($0) }) }
        let isTrial = invocation.arguments.flag("--dry-run")
        var json: JSONValue = ["ok": true, "id": .string(id.string)]
        json["rev"] = revision.map { .string($0.description) }
        if isTrial { json["dry_run"] = true }
        json["added"] = list(changes.added)
        json["changed"] = list(changes.changed)
        json["removed"] = list(changes.removed)
        if invocation.console.isJSON { return try invocation.console.print(json.description) }
        for (word, paths) in [("added", changes.added), ("changed", changes.changed), ("removed", changes.removed)] {
            for path in paths { try invocation.console.printNote("\(word.padding(8))\(path)") }
        }
        let revision = revision?.description ?? "not stored yet"
        let end = changes.isEmpty ? "up to date" : isTrial ? "would be changed" : "stored"
        try invocation.console.print("\(id)  \(invocation.console.styled(revision, .faint))  \(end)")
    }
}

extension String {
    /// The text padded with blanks to a width.
    fileprivate func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(width - count, 1)) }
}

// MARK: - DesignDifference

/// The differences between a folder and a stored design document.
///
/// Members keep their order. Texts that differ only in their trailing line ends are equal, so that an unchanged
/// folder changes nothing.
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
