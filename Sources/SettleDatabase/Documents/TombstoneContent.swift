internal import SettleCore

/// The members of a tombstone: those kept from the deleted document, and added ones.
struct TombstoneContent {
    private let kept: KeptAttributes
    private let added: JSONObject

    /// - Throws: ``DatabaseError`` with code `invalid` for an added member that marks a closing tombstone.
    init(keeping kept: KeptAttributes, adding: DocumentBody = .empty) throws {
        self.kept = kept
        added = adding.json.object ?? JSONObject()
        if let member = added.first(where: { ClosingTombstone.names.contains($0.name) }) {
            throw DatabaseError(
                .invalid,
                "a deletion can't add the member \"\(member.name)\": it says that a settled conflict closed a branch")
        }
    }

    /// The members of a tombstone: first the kept ones in their order, then the added ones.
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

/// The members of a document that its tombstone keeps.
///
///     try database.delete(note, keeping: ["owner", "folder"], onConflict: .fail)
///     try database.delete(note, keeping: .all, adding: ["deleted_by": "anna"], onConflict: .fail)
public struct KeptAttributes: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The names; `nil` for all members.
    let names: Set<String>?

    /// All members.
    public static let all = KeptAttributes(names: nil)

    /// Some top-level members, by name; members that a document does not have are ignored.
    public init(_ names: some Sequence<String>) { self.init(names: Set(names)) }

    /// Some top-level members, by name.
    public init(arrayLiteral names: String...) { self.init(names: Set(names)) }

    private init(names: Set<String>?) { self.names = names }

    /// The union of these and other members.
    func union(_ others: Set<String>) -> KeptAttributes { names.map { KeptAttributes($0.union(others)) } ?? .all }

    /// Whether a member is kept.
    func contains(_ name: String) -> Bool { names?.contains(name) ?? true }
}
