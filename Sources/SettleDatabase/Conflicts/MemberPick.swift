package import SettleCore

/// A person's choice for one member of a conflict. It overrides the policy.
package struct MemberPick: Sendable {
    /// The source of the value.
    package enum Choice: Sendable {
        /// The value that the member has in a leaf; if it is absent there, the member is removed.
        case leaf(RevisionID)
        /// The value that the member has in the base; if it is absent there, the member is removed.
        case base
        /// The member is removed.
        case removed
        /// A new value.
        case value(JSONValue)
    }

    /// The member, as a JSON Pointer.
    package let path: String
    /// The source of its value.
    package let choice: Choice

    /// Makes a pick.
    package init(_ path: String, _ choice: Choice) { (self.path, self.choice) = (path, choice) }

    /// The names on the path to the member.
    private var names: [String] { path.pointerParts }
}

extension MemberPick {
    /// Applies the pick to a document.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for a revision that is not a leaf, a path through something that is not an object,
    ///   and a value for an attachment.
    func lay(over body: inout JSONObject, _ attachments: inout [DocumentAttachment], _ conflict: Conflict) throws {
        let names = names
        if names.first == WireAttachment.listName {
            guard names.count == 2 else { throw invalid("\(path) names no attachment") }
            let chosen = try attachment(names[1], conflict)
            attachments.removeAll { $0.isNamed(names[1]) }
            if let chosen { attachments.append(chosen) }
            attachments.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            return
        }
        var root: JSONValue = .object(body)
        try set(try value(conflict), at: names[...], in: &root)
        if let members = root.object { body = members }
    }

    /// The value of the member in a document; `nil` if it is absent.
    func value(in members: JSONObject) -> JSONValue? { members.value(at: path) }

    private func source(_ conflict: Conflict) throws -> Document? {
        switch choice {
        case .leaf(let revision):
            guard let leaf = conflict.leaf(revision) else {
                throw invalid("\(revision) is not a leaf of the conflict")
            }
            return leaf
        case .base:
            guard let base = conflict.base else { throw invalid("the conflict has no base to take \(path) from") }
            return base
        case .removed, .value: return nil
        }
    }

    private func attachment(_ name: String, _ conflict: Conflict) throws -> DocumentAttachment? {
        if case .value = choice { throw invalid("\(path) is an attachment: pick the one of a leaf") }
        return try source(conflict)?.attachments.first { $0.isNamed(name) }
    }

    private func value(_ conflict: Conflict) throws -> JSONValue? {
        if case .value(let value) = choice { return value }
        return try source(conflict).flatMap { value(in: $0.json.object ?? JSONObject()) }
    }

    private func set(_ value: JSONValue?, at names: ArraySlice<String>, in parent: inout JSONValue) throws {
        guard var members = parent.object, let name = names.first else {
            throw invalid("\(path) leads through a value that is not an object")
        }
        if names.count == 1 {
            members[name] = value
        } else {
            var inner = members[name] ?? .object(JSONObject())
            if value == nil, members[name] == nil { return }
            try set(value, at: names.dropFirst(), in: &inner)
            members[name] = inner
        }
        parent = .object(members)
    }

    private func invalid(_ reason: String) -> DatabaseError { DatabaseError(.invalid, reason) }
}

extension ConflictPolicy {
    /// The policy with picks applied to its result. A conflict that the policy leaves stays.
    package func laying(_ picks: [MemberPick]) -> ConflictPolicy {
        guard !picks.isEmpty else { return self }
        return ConflictPolicy(
            name, kinds: kinds, resolver: resolver,
            .now { conflict in
                var decision = try decideNow(conflict)
                let content: (body: DocumentBody, attachments: [DocumentAttachment])
                switch decision.resolution {
                case .merged(let body, let attachments): content = (body, attachments)
                case .keep(let revision):
                    guard let leaf = conflict.leaf(revision), !leaf.isDeleted else {
                        throw DatabaseError(.invalid, "nothing can be picked of a deletion")
                    }
                    content = (try leaf.body(), leaf.attachments)
                case .document(let document): content = (try document.body(), document.attachments)
                case .delete: throw DatabaseError(.invalid, "nothing can be picked where the document is deleted")
                case .leaveConflicted: return decision
                }
                var (members, attachments) = (content.body.json.object ?? JSONObject(), content.attachments)
                for pick in picks { try pick.lay(over: &members, &attachments, conflict) }
                decision.resolution = .merged(try DocumentBody(.object(members)), attachments: attachments)
                decision.attributes = decision.attributes.map { field in
                    guard let pick = picks.first(where: { $0.path.hasSameBytes(as: field.path) }) else { return field }
                    return AttributeDecision(field, picking: pick.value(in: members))
                }
                let decided = Set(decision.attributes.map { ExactText($0.path) })
                decision.attributes += picks.filter { !decided.contains(ExactText($0.path)) }.map { pick in
                    AttributeDecision(picking: pick.value(in: members), at: pick.path, of: conflict)
                }
                return decision
            })
    }
}

// MARK: - MemberDifference

/// A member that differs between two documents, such as a document and its base.
package struct MemberDifference: Equatable, Sendable {
    /// The change of the member.
    package enum Kind: String, CaseIterable, Sendable { case changed, added, removed }

    /// The member's JSON Pointer.
    package let path: String
    /// The kind of change.
    package let kind: Kind

    /// The members that differ. Members of objects in both documents are compared separately, attachments by their
    /// contents under `/_attachments`.
    package static func between(_ before: Document, _ after: Document) -> [MemberDifference] {
        var found: [MemberDifference] = []
        collect(before.comparedMembers, after.comparedMembers, at: "", into: &found)
        return found
    }

    private static func collect(
        _ before: JSONObject, _ after: JSONObject, at path: String, into found: inout [MemberDifference]
    ) {
        for name in after.names + before.names.filter({ after[$0] == nil }) {
            let place = MergePath.pointer(path, name)
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
    /// The names on the path of a JSON Pointer (RFC 6901).
    package var pointerParts: [String] {
        // By bytes, because a slash and a following combining mark are one character.
        let parts = utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.map { part in
            let name = Array(part).replacing("~1".utf8, with: "/".utf8).replacing("~0".utf8, with: "~".utf8)
            return String(decoding: name, as: UTF8.self)
        }
    }
}

extension JSONObject {
    /// The value of the member at a JSON Pointer, on a path of objects; `nil` if it is absent.
    package func value(at pointer: String) -> JSONValue? {
        pointer.pointerParts.reduce(JSONValue?.some(.object(self))) { $0?.object?[$1] }
    }
}
