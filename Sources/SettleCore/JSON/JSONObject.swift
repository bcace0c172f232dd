/// The members of a JSON object, in order.
///
/// Names are compared by their UTF-8 bytes. An existing member that is set keeps its place; a new one is appended.
/// Up to sixteen members are searched linearly; beyond that an index is used.
public struct JSONObject: Hashable, Sendable {
    /// One member.
    public struct Member: Hashable, Sendable {
        /// The member's name.
        public let name: String
        /// The member's value.
        public var value: JSONValue

        /// Whether both have the same name, byte by byte, and the same value.
        public static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }
    }

    private var members: [Member]
    private var positions: [ExactText: Int]?
    /// Hashing a name costs as much as about this number of comparisons.
    private static let searched = 16

    /// Creates an object without members.
    public init() { members = [] }

    /// Creates an object without members, with room for a number of them.
    package init(capacity: Int) {
        members = []
        members.reserveCapacity(capacity)
    }

    /// Creates an object from members; of duplicate names only the last is kept, at its own place, as in CouchDB.
    ///
    /// - Complexity: O(*n*).
    public init(_ elements: [(String, JSONValue)]) {
        self.init(lastOfEach: elements.map { Member(name: $0.0, value: $0.1) })
    }

    init(lastOfEach all: [Member]) {
        members = all
        if all.count > Self.searched {
            var positions = [ExactText: Int](minimumCapacity: all.count)
            var isDoubled = [Bool](repeating: false, count: all.count)
            for (index, member) in all.enumerated() {
                if let earlier = positions.updateValue(index, forKey: ExactText(member.name)) {
                    isDoubled[earlier] = true
                }
            }
            self.positions = positions
            if positions.count < all.count {
                members = all.indices.filter { !isDoubled[$0] }.map { all[$0] }
                reindex()
            }
        } else {
            for index in all.indices.reversed() {
                let later = all[(index + 1)...]
                if later.contains(where: { $0.name.hasSameBytes(as: all[index].name) }) {
                    members.remove(at: index)
                }
            }
        }
    }

    /// The names in order.
    public var names: [String] { members.map(\.name) }

    /// The number of members.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The value of a member, or `nil`; setting `nil` removes it.
    ///
    /// - Complexity: O(1) to read and to set, O(*n*) to remove.
    public subscript(name: String) -> JSONValue? {
        get { position(of: name).map { members[$0].value } }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): removeMember(at: position)
            case (nil, let value?): add(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    private mutating func add(_ member: Member) {
        members.append(member)
        if positions != nil {
            positions?[ExactText(member.name)] = members.count - 1
        } else if members.count > Self.searched {
            reindex()
        }
    }

    private mutating func removeMember(at position: Int) {
        members.remove(at: position)
        if positions != nil { reindex() }
    }

    private mutating func reindex() {
        positions = Dictionary(
            uniqueKeysWithValues: members.enumerated().map { (ExactText($0.element.name), $0.offset) })
    }

    private func position(of name: String) -> Int? {
        if let positions { return positions[ExactText(name)] }
        for index in members.indices where members[index].name.hasSameBytes(as: name) { return index }
        return nil
    }
}

extension JSONObject: RandomAccessCollection, ExpressibleByDictionaryLiteral {
    /// The position of the first member.
    public var startIndex: Int { 0 }
    /// The position after the last member.
    public var endIndex: Int { members.count }
    /// The member at a position.
    public subscript(position: Int) -> Member { members[position] }
    /// Creates an object from members; of duplicate names the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
    /// Whether both have the same members in the same order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool { left.members == right.members }
    /// Hashes the members in order.
    public func hash(into hasher: inout Hasher) { hasher.combine(members) }
}
