internal import SettleCore

/// The members of a tombstone: kept ones of the deleted document, and added ones.
struct TombstoneContent {
    private let kept: KeptMembers
    private let added: JSONObject

    /// - Throws: ``DatabaseError`` with code `invalid` for an added member that marks a closing tombstone.
    init(keeping kept: KeptMembers, adding: DocumentBody = .empty) throws {
        self.kept = kept
        added = adding.json.object ?? JSONObject()
        if let member = added.first(where: { ClosingTombstone.names.contains($0.name) }) {
            throw DatabaseError(
                .invalid,
                "a deletion can't add the member \"\(member.name)\": it says that a settled conflict closed a branch")
        }
    }

    /// The members of a tombstone, the kept ones first and in their order.
    func body(of document: DocumentBody?) throws -> DocumentBody {
        if kept == [], added.isEmpty { return .empty }
        var members = JSONObject()
        for member in document?.json.object ?? JSONObject()
        where kept.contains(member.name) && !ClosingTombstone.names.contains(member.name) {
            members[member.name] = member.value
        }
        for member in added { members[member.name] = member.value }
        return try DocumentBody(.object(members))
    }
}
