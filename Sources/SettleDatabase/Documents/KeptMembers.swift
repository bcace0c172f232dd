/// Which members of a document its tombstone keeps.
///
///     try database.delete(note, keeping: ["owner", "folder"], onConflict: .fail)
///     try database.delete(note, keeping: .all, adding: ["deleted_by": "anna"], onConflict: .fail)
public struct KeptMembers: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The names; `nil` for all members.
    let names: Set<String>?

    /// All members.
    public static let all = KeptMembers(names: nil)

    /// Some top-level members, by name; members that a document does not have are ignored.
    public init(_ names: some Sequence<String>) { self.init(names: Set(names)) }

    /// Some top-level members, by name.
    public init(arrayLiteral names: String...) { self.init(names: Set(names)) }

    private init(names: Set<String>?) { self.names = names }

    /// The union of these and other members.
    func union(_ others: Set<String>) -> KeptMembers { names.map { KeptMembers($0.union(others)) } ?? .all }

    /// Whether a member is among them.
    func contains(_ name: String) -> Bool { names?.contains(name) ?? true }
}
