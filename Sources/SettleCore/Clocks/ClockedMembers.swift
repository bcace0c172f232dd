/// The members of an object with their clocks, in order; names are compared byte by byte.
struct ClockedMembers: Hashable, Sendable {
    /// A name that is compared by its bytes, where Swift compares by canonical equivalence.
    struct Name: Hashable, Sendable {
        let text: String

        static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }

        func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
    }

    private(set) var names: [String] = []
    private(set) var members: [ClockedMember] = []
    private var positions: [Name: Int] = [:]
    /// Up to this number members are searched linearly.
    private static let searched = 16

    var isEmpty: Bool { members.isEmpty }

    subscript(name: String) -> ClockedMember? {
        if positions.isEmpty {
            for index in names.indices where names[index].hasSameBytes(as: name) { return members[index] }
            return nil
        }
        return positions[Name(text: name)].map { members[$0] }
    }

    /// Appends a member whose name is new.
    mutating func append(_ name: String, _ member: ClockedMember) {
        names.append(name)
        members.append(member)
        if !positions.isEmpty {
            positions[Name(text: name)] = names.count - 1
        } else if names.count > Self.searched {
            for (index, name) in names.enumerated() { positions[Name(text: name)] = index }
        }
    }

    /// Replaces the member with the name, or adds it.
    mutating func set(_ name: String, _ member: ClockedMember) {
        let position =
            positions.isEmpty ? names.firstIndex { $0.hasSameBytes(as: name) } : positions[Name(text: name)]
        if let position { members[position] = member } else { append(name, member) }
    }

    /// The existing members, as a value.
    var json: JSONValue {
        .object(JSONObject(zip(names, members).compactMap { name, member in member.value.map { (name, $0) } }))
    }

    /// The names of several objects: those of the first in order, then the other ones.
    static func names(of all: [ClockedMembers?]) -> [String] {
        var known = JSONObject()
        for members in all {
            for name in members?.names ?? [] where known[name] == nil { known[name] = .null }
        }
        return known.names
    }
}
