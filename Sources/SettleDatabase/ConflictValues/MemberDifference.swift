internal import SettleCore

/// A member that differs between a document and another one, such as its base.
package struct MemberDifference: Equatable, Sendable {
    /// The change of the member.
    package enum Kind: String, CaseIterable, Sendable { case changed, added, removed }

    /// The member's JSON Pointer.
    package let path: String
    /// What has become of it.
    package let kind: Kind

    /// The members that differ; members of objects in both documents are compared separately, attachments by their contents
    /// under `/_attachments`.
    package static func between(_ before: Document, _ after: Document) -> [MemberDifference] {
        var found: [MemberDifference] = []
        collect(members(of: before), members(of: after), at: "", into: &found)
        return found
    }

    private static func members(of document: Document) -> JSONObject {
        var members = document.json.object ?? JSONObject()
        if !document.attachments.isEmpty {
            members["_attachments"] = .object(
                JSONObject(
                    document.attachments.map { ($0.name, .string("\($0.contentType) \($0.length) \($0.digest)")) }))
        }
        return members
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
}

extension String {
    /// The member's name as a JSON Pointer component (RFC 6901).
    package var asPointerPart: String { replacing("~", with: "~0").replacing("/", with: "~1") }
}
