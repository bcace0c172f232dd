/// Stamps a body based on its bytes: a fast path with the same result as ``ClockedDocument``.
///
///     parent   {"name":"Milk","size":1,"$clocks":{"/name":"5-0-a …","/size":"5-0-a …"}}
///     body     {"name":"Milk","size":2}
///              └ same bytes ┘ └ other bytes
///     stamped  {"name":"Milk","size":2,"$clocks":{"/name":"5-0-a …","/size":"8-0-a …"}}
///
/// Entries of equal members are copied after their digests are checked. Changed members with simple values are
/// stamped here; members that are objects, before or after, are stamped by value. If a name needs an escape, or the
/// clocks are in another form than this code writes, the result is `nil`, and the whole document is stamped by
/// value.
struct ClockStamper {
    /// An entry of the parent's clocks.
    private struct Entry {
        var path: Range<Int>
        var text: Range<Int>
        /// The end of the path's first name.
        var nameEnd: Int
        var isWhole: Bool { nameEnd == path.upperBound }
    }

    private let new: BodyWalk
    private let old: BodyWalk
    private let clock: AttributeClock
    private let clockText: [UInt8]
    private var newMembers = MemberTable()
    private var oldMembers = MemberTable()
    private var entries: [Entry] = []
    /// For each member of the body and of the parent, the index of its first entry; for each entry the index of the
    /// next one. −1 for none.
    private var firstOfNew: [Int] = []
    private var firstOfOld: [Int] = []
    private var next: [Int] = []
    private var orphans: [Int] = []
    private var output: ClockEntries

    /// Reads both bodies.
    private init?(_ new: UnsafeBufferPointer<UInt8>, _ old: UnsafeBufferPointer<UInt8>, _ clock: AttributeClock) {
        self.new = BodyWalk(text: new)
        self.old = BodyWalk(text: old)
        self.clock = clock
        clockText = Array(clock.description.utf8)
        output = ClockEntries()
        guard newMembers.read(self.new), oldMembers.read(self.old), readEntries() else { return nil }
    }

    /// Stamps a body.
    ///
    /// - Parameters:
    ///   - body: The new members; clocks among them are ignored.
    ///   - parent: The former members; an empty body for a new document.
    ///   - clock: The time of the change.
    /// - Returns: The body with its clocks as the last member; `nil` if the fast path does not apply.
    static func stamp(_ body: DocumentBody, on parent: DocumentBody, at clock: AttributeClock) -> DocumentBody? {
        body.utf8.withUnsafeBufferPointer { new in
            parent.utf8.withUnsafeBufferPointer { old in
                guard var stamper = ClockStamper(new, old, clock), stamper.stampAll() else { return nil }
                return DocumentBody(unchecked: stamper.body())
            }
        }
    }

    private mutating func readEntries() -> Bool {
        firstOfNew = [Int](repeating: -1, count: newMembers.count)
        firstOfOld = [Int](repeating: -1, count: oldMembers.count)
        guard let clocks = oldMembers.clocks else { return true }
        var walk = old
        walk.offset = clocks.lowerBound
        guard let members = walk.members() else { return false }
        entries.reserveCapacity(members.count)
        next = [Int](repeating: -1, count: members.count)
        for member in members {
            let (path, value) = (member.name, member.value)
            guard path.count > 1, old.text[path.lowerBound] == UInt8(ascii: "/"), value.count >= 3,
                old.text[value.lowerBound] == UInt8(ascii: "\"")
            else { return false }
            let inside = old.text[path].dropFirst()
            guard !inside.contains(UInt8(ascii: "~")), !old.text[value].contains(UInt8(ascii: "\\")) else {
                return false
            }
            let nameEnd = inside.firstIndex(of: UInt8(ascii: "/")) ?? path.upperBound
            entries.append(Entry(path: path, text: value.lowerBound + 1..<value.upperBound - 1, nameEnd: nameEnd))
        }
        // In reverse, so that each member's entries end up in order.
        for index in entries.indices.reversed() {
            let name = UnsafeBufferPointer(
                rebasing: old.text[entries[index].path.lowerBound + 1..<entries[index].nameEnd])
            if let member = newMembers.index(of: name) {
                next[index] = firstOfNew[member]
                firstOfNew[member] = index
            } else if let member = oldMembers.index(of: name) {
                next[index] = firstOfOld[member]
                firstOfOld[member] = index
            } else {
                orphans.append(index)
            }
        }
        return true
    }

    private mutating func stampAll() -> Bool {
        for index in 0..<newMembers.count {
            let member = newMembers[index]
            let name = UnsafeBufferPointer(rebasing: new.text[member.name])
            let before = oldMembers.index(of: name).map { oldMembers[$0].value }
            guard stamp(name, to: member.value, from: before, firstOfNew[index]) else { return false }
        }
        for index in 0..<oldMembers.count {
            let name = UnsafeBufferPointer(rebasing: old.text[oldMembers[index].name])
            guard newMembers.index(of: name) == nil else { continue }
            guard stamp(name, to: nil, from: oldMembers[index].value, firstOfOld[index]) else { return false }
        }
        for index in orphans {
            // The entry of a member that was removed before.
            guard entries[index].isWhole, let entry = entry(index), entry.isTrace else { return false }
            copy(index)
        }
        return true
    }

    private func entry(_ index: Int) -> ClockNode.Entry? { ClockNode.Entry(bytes: old.text[entries[index].text]) }

    private mutating func copy(_ index: Int) {
        output.copy(old.text[entries[index].path], old.text[entries[index].text])
    }

    /// Stamps a member that is a new or unchanged object; for any other member returns false without an effect.
    private mutating func stampObject(
        _ name: UnsafeBufferPointer<UInt8>, _ value: Range<Int>?, from before: Range<Int>?, _ first: Int
    ) -> Bool {
        guard let value, before != nil || first < 0 else { return false }
        if let before, !new.text[value].elementsEqual(old.text[before]) { return false }
        if before != nil, first < 0 { return true }
        var walk = new
        walk.offset = value.lowerBound
        var leaves: [(path: [UInt8], digest: ValueDigest)] = []
        guard walk.leaves(at: [UInt8(ascii: "/")] + name, into: &leaves) else { return false }
        if before == nil {
            for leaf in leaves { output.add(leaf.path[1...], clockText, leaf.digest) }
            return true
        }
        // Each entry must match, and none may be older than the entry of an enclosing object: either all have the
        // same clock, or the inner ones have their own.
        var fitting: [Int] = []
        var (index, areOfOneMoment, areLeaves) = (first, true, true)
        while index >= 0 {
            let entry = entries[index]
            guard let leaf = leaves.first(where: { $0.path.elementsEqual(old.text[entry.path]) }),
                case .known(_, leaf.digest) = self.entry(index)
            else { return false }
            areLeaves = areLeaves && leaf.digest != .object
            let clock = old.text[entry.text].dropLast(8)
            areOfOneMoment = areOfOneMoment && clock.elementsEqual(old.text[entries[first].text].dropLast(8))
            fitting.append(index)
            index = next[index]
        }
        guard areLeaves || areOfOneMoment else { return false }
        for index in fitting { copy(index) }
        return true
    }

    private mutating func stamp(
        _ name: UnsafeBufferPointer<UInt8>, to value: Range<Int>?, from before: Range<Int>?, _ first: Int
    ) -> Bool {
        let isObject = value.map { new.text[$0.lowerBound] == UInt8(ascii: "{") } ?? false
        let wasObject = before.map { old.text[$0.lowerBound] == UInt8(ascii: "{") } ?? false
        if isObject || wasObject {
            if stampObject(name, value, from: before, first) { return true }
            return stampByValues(name, to: value, from: before, first)
        }
        guard let digest = digest(of: value, in: new) else { return false }
        if first >= 0, !entries[first].isWhole || next[first] >= 0 {
            return stampByValues(name, to: value, from: before, first)
        }
        let entry = first < 0 ? nil : entry(first)
        if first >= 0, entry == nil { return false }
        if let value, let before, new.text[value].elementsEqual(old.text[before]) {
            switch entry {
            case nil: return true
            case .known(_, digest), .unknown(after: _?): copy(first)
            default: return stampByValues(name, to: value, from: before, first)
            }
            return true
        }
        guard let digestBefore = self.digest(of: before, in: old) else { return false }
        // Values that differ only in spelling are compared by value.
        if digest == digestBefore { return stampByValues(name, to: value, from: before, first) }
        guard let latest = entry?.moment, latest >= clock else {
            output.add(name[...], clockText, digest)
            return true
        }
        guard let moment = ClockedAttribute.moment(clock, after: latest) else { return false }
        output.add(name[...], Array(moment.description.utf8), digest)
        return true
    }

    private func digest(of range: Range<Int>?, in walk: BodyWalk) -> ValueDigest? {
        guard let range else { return .nothing }
        var walk = walk
        walk.offset = range.lowerBound
        return walk.hash().map { ValueDigest(hash: $0) }
    }

    /// Stamps one member by its value.
    private mutating func stampByValues(
        _ name: UnsafeBufferPointer<UInt8>, to value: Range<Int>?, from before: Range<Int>?, _ first: Int
    ) -> Bool {
        var known: [(String, JSONValue)] = []
        var index = first
        while index >= 0 {
            let entry = entries[index]
            known.append(
                (
                    String(decoding: old.text[entry.path], as: UTF8.self),
                    .string(String(decoding: old.text[entry.text], as: UTF8.self))
                ))
            index = next[index]
        }
        guard let value = Self.json(value, in: new), let before = Self.json(before, in: old) else { return false }
        let text = String(decoding: name, as: UTF8.self)
        var member = ClockedAttribute.nothing
        if before.value != nil || !known.isEmpty {
            let node = ClockNode(JSONObject(known)).inside[ExactText(text)]
            member = ClockedAttribute(before.value, node, hasClocks: oldMembers.clocks != nil, depth: 1)
        }
        return output.add(member.stamped(to: value.value, at: clock, depth: 1), named: text)
    }

    private static func json(_ range: Range<Int>?, in walk: BodyWalk) -> (value: JSONValue?, ())? {
        guard let range else { return (nil, ()) }
        return (try? JSONValue(utf8: UnsafeBufferPointer(rebasing: walk.text[range]))).map { ($0, ()) }
    }

    /// The body's members, followed by its clocks.
    private mutating func body() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(new.text.count + output.count + 16)
        bytes.append(UInt8(ascii: "{"))
        for index in 0..<newMembers.count {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            let member = newMembers[index]
            bytes.append(contentsOf: new.text[member.name.lowerBound - 1..<member.value.upperBound])
        }
        if newMembers.count > 0 { bytes.append(UInt8(ascii: ",")) }
        output.write(to: &bytes)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

extension ClockNode.Entry {
    /// Whether it belongs to a removed member.
    fileprivate var isTrace: Bool {
        switch self {
        case .unknown: true
        case .known(_, let digest): digest == .nothing
        }
    }
}

// MARK: - MemberTable

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
