internal import SettleCore
internal import SettleDatabase

/// The top-level members of a document that are needed to follow some paths.
struct NeededMembers: Sendable {
    /// The names of the members; `nil` for the whole body.
    private let names: [String]?
    private let hasID: Bool
    private let hasRevision: Bool
    private let hasAttachments: Bool
    private let hasConflicts: Bool
    /// With more names than this the whole body is read.
    private static let mostNames = 32

    /// - Parameter paths: The paths; a path that names no member needs the whole document.
    init(_ paths: [String]) {
        var names: [String] = []
        var seen = Set<[UInt8]>()
        var isWhole = false
        for path in paths {
            // An invalid path needs nothing.
            guard let parts = SelectorPath(path).names else { continue }
            guard let first = parts.first else {
                isWhole = true
                continue
            }
            if seen.insert(Array(first.utf8)).inserted { names.append(first) }
        }
        // Each member of a document is compared with each name.
        isWhole = isWhole || names.count > Self.mostNames
        func has(_ name: String) -> Bool { isWhole || names.contains(name) }
        (hasID, hasRevision) = (has("_id"), has("_rev"))
        (hasAttachments, hasConflicts) = (has("_attachments"), has("_conflicts"))
        self.names = isWhole ? nil : names.filter { !$0.hasPrefix("_") }
    }

    /// These members of a document's winner; `nil` if there is no live winner.
    ///
    /// - Parameters:
    ///   - record: The document with its content.
    ///   - isWithConflicts: Whether a selector sees `_conflicts`.
    /// - Returns: An object.
    func json(of record: DocumentRecord, hasConflicts isWithConflicts: Bool) -> JSONValue? {
        guard let winner = record.tree.winner, !winner.isDeleted, let content = record.content else { return nil }
        var members: [(String, JSONValue)] = []
        if hasID { members.append(("_id", .string(record.id.string))) }
        if hasRevision { members.append(("_rev", .string(winner.revision.description))) }
        let body = names.map { $0.isEmpty ? JSONObject() : content.body.members(named: $0) }
        for member in body ?? content.body.json.object ?? JSONObject() { members.append((member.name, member.value)) }
        if isWithConflicts, hasConflicts {
            let conflicts = record.tree.leaves.count > 1 ? record.tree.conflicts : []
            if !conflicts.isEmpty {
                members.append(("_conflicts", .array(conflicts.map { .string($0.description) })))
            }
        }
        if hasAttachments, !content.attachments.isEmpty {
            members.append(("_attachments", Self.stubs(content.attachments)))
        }
        return .object(JSONObject(members))
    }

    private static func stubs(_ attachments: [DocumentAttachment]) -> JSONValue {
        .object(
            JSONObject(
                attachments.map { attachment in
                    (
                        attachment.name,
                        [
                            "content_type": .string(attachment.contentType),
                            "revpos": .number(JSONNumber(attachment.revpos)),
                            "digest": .string(attachment.digest.description),
                            "length": .number(JSONNumber(attachment.length)), "stub": true,
                        ]
                    )
                }))
    }
}
