internal import Settle

/// A member that differs between a document and another one, such as its base.
struct MemberDifference: Equatable {
    /// The change of the member.
    enum Kind: String, CaseIterable { case changed, added, removed }

    /// The member's JSON Pointer.
    let path: String
    let kind: Kind

    /// The members that differ; members of objects in both documents are compared separately.
    static func between(_ before: Document, _ after: Document) -> [MemberDifference] {
        var found: [MemberDifference] = []
        collect(before.comparable, after.comparable, at: "", into: &found)
        return found
    }

    private static func collect(
        _ before: JSONObject, _ after: JSONObject, at path: String, into found: inout [MemberDifference]
    ) {
        for name in after.names + before.names.filter({ after[$0] == nil }) {
            let place = "\(path)/\(name.asPointerPart)"
            switch (before[name], after[name]) {
            case (nil, .some): found.append(MemberDifference(path: place, kind: .added))
            case (.some, nil): found.append(MemberDifference(path: place, kind: .removed))
            case (let old?, let new?) where old != new:
                if let old = old.object, let new = new.object {
                    collect(old, new, at: place, into: &found)
                } else {
                    found.append(MemberDifference(path: place, kind: .changed))
                }
            default: break
            }
        }
    }

    /// A short description of differences: `changed /count, /tags and 3 more; removed /note`.
    static func summary(_ differences: [MemberDifference], limit: Int = 4) -> String {
        if differences.isEmpty { return "no member" }
        var left = limit
        return Kind.allCases.compactMap { kind in
            let paths = differences.filter { $0.kind == kind }.map(\.path)
            let shown = paths.prefix(left)
            left -= shown.count
            let hidden = paths.count - shown.count
            if shown.isEmpty { return hidden > 0 ? "\(kind.rawValue) \(hidden) more" : nil }
            let more = hidden > 0 ? " and \(hidden) more" : ""
            return "\(kind.rawValue) \(shown.joined(separator: ", "))\(more)"
        }.joined(separator: "; ")
    }
}

extension String {
    /// The member's name as a JSON Pointer component (RFC 6901).
    var asPointerPart: String { replacing("~", with: "~0").replacing("/", with: "~1") }
}
