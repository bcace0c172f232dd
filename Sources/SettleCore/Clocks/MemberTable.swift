/// The members of a body except its clocks, found by name.
struct MemberTable {
    private var members: [BodyWalk.Member] = []
    private var hashes: [UInt64] = []
    private var positions: [UInt64: Int] = [:]
    private var text = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The range of the clocks.
    private(set) var clocks: Range<Int>?
    /// Up to this number members are searched linearly.
    private static let searched = 24

    var count: Int { members.count }

    subscript(index: Int) -> BodyWalk.Member { members[index] }

    /// Reads a body; false if this needs the validating parser.
    mutating func read(_ walk: BodyWalk) -> Bool {
        var walk = walk
        text = walk.text
        guard let all = walk.members(), walk.offset == text.count else { return false }
        members.reserveCapacity(all.count)
        hashes.reserveCapacity(all.count)
        for member in all {
            let name = UnsafeBufferPointer(rebasing: text[member.name])
            if name.elementsEqual(ClockedDocument.memberName.utf8) {
                clocks = member.value
                continue
            }
            // Such names have another spelling in a JSON Pointer.
            guard !name.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "~") }) else { return false }
            members.append(member)
            hashes.append(Self.hash(name))
        }
        guard members.count > Self.searched else { return true }
        for (index, hash) in hashes.enumerated() where positions.updateValue(index, forKey: hash) != nil {
            return false
        }
        return true
    }

    private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> UInt64 { ValueDigest.hash(name, 0) }

    /// The index of the member with a name.
    func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        let hash = Self.hash(name)
        let index = positions.isEmpty ? hashes.firstIndex(of: hash) : positions[hash]
        guard let index, text[members[index].name].elementsEqual(name) else { return nil }
        return index
    }
}
