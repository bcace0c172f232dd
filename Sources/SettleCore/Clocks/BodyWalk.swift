/// Reads the bytes of a body, which is compact, valid JSON already.
///
/// Unexpected bytes end the walk with `nil`; the caller then uses the validating parser.
struct BodyWalk {
    let text: UnsafeBufferPointer<UInt8>
    var offset = 0

    /// A member of an object: its name without quotes, and its value.
    struct Member {
        var name: Range<Int>
        var value: Range<Int>
    }

    /// The maximum nesting of values.
    private static let depth = 64

    private var byte: UInt8 { offset < text.count ? text[offset] : 0 }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard self.byte == byte else { return false }
        offset += 1
        return true
    }

    /// The members of the object at the current position; `nil` for another value or a name with an escape.
    mutating func members() -> [Member]? {
        var members: [Member] = []
        members.reserveCapacity(16)
        let isObject: Void? = eachMember { walk, name in
            let start = walk.offset
            guard walk.skip() else { return nil }
            members.append(Member(name: name, value: start..<walk.offset))
            return ()
        }
        return isObject == nil ? nil : members
    }

    private mutating func eachMember(_ body: (inout BodyWalk, Range<Int>) -> Void?) -> Void? {
        guard consume(UInt8(ascii: "{")) else { return nil }
        if consume(UInt8(ascii: "}")) { return () }
        while true {
            guard let (name, hasEscapes) = string(), !hasEscapes, consume(UInt8(ascii: ":")), body(&self, name) != nil
            else {
                return nil
            }
            if consume(UInt8(ascii: ",")) { continue }
            return consume(UInt8(ascii: "}")) ? () : nil
        }
    }

    /// The string at the current position, without its quotes.
    private mutating func string() -> (range: Range<Int>, hasEscapes: Bool)? {
        guard consume(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        var structure = JSONStructure(isInString: true)
        guard structure.skipString(in: text, from: &offset) else { return nil }
        return (start..<offset - 1, structure.hasEscapes)
    }

    /// Skips the value at the current position.
    private mutating func skip() -> Bool {
        switch byte {
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            var structure = JSONStructure()
            while structure.next(in: text, from: &offset) != nil { if structure.depth == 0 { return true } }
            return false
        default:
            var structure = JSONStructure()
            guard structure.next(in: text, from: &offset) != nil else { return false }
            offset -= 1
            return true
        }
    }

    /// The hash of the value at the current position, as in ``ValueDigest``; advances past it.
    mutating func hash(depth: Int = 0) -> UInt64? {
        guard depth < Self.depth else { return nil }
        switch byte {
        case UInt8(ascii: "\""):
            guard let (range, hasEscapes) = string() else { return nil }
            return hash(of: range, hasEscapes, ValueDigest.hash(tag: 5))
        case UInt8(ascii: "["): return hashOfArray(depth)
        case UInt8(ascii: "{"):
            var sum = ValueDigest.hash(tag: 7)
            let isObject: Void? = eachMember { walk, name in
                guard let value = walk.hash(depth: depth + 1) else { return nil }
                sum &+= ValueDigest.mixed(walk.hash(of: name, false, ValueDigest.hash(tag: 8)), value)
                return ()
            }
            return isObject == nil ? nil : sum
        case UInt8(ascii: "n"): return literal(4, tag: 1)
        case UInt8(ascii: "t"): return literal(4, tag: 2)
        case UInt8(ascii: "f"): return literal(5, tag: 3)
        default:
            guard let base = text.baseAddress, offset < text.count else { return nil }
            var scanner = JSONNumberScanner(base: base, count: text.count, offset: offset)
            guard let token = scanner.scan() else { return nil }
            offset = token.end
            return ValueDigest.hash(JSONNumberConversion.double(token, in: text))
        }
    }

    /// Adds the entries of a value that was written as a whole: one for each value inside of objects, and one for
    /// each object except a non-empty one at the top. Returns false if this needs the validating parser.
    mutating func leaves(
        at path: [UInt8], into leaves: inout [(path: [UInt8], digest: ValueDigest)], depth: Int = 1
    ) -> Bool {
        guard byte == UInt8(ascii: "{") else {
            guard let hash = hash() else { return false }
            leaves.append((path, ValueDigest(hash: hash)))
            return true
        }
        guard depth < ClockedDocument.depth else { return false }
        let first = leaves.count
        var inside = leaves
        let isObject: Void? = eachMember { walk, name in
            let name = walk.text[name]
            guard !name.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "~") }) else { return nil }
            return walk.leaves(at: path + [UInt8(ascii: "/")] + name, into: &inside, depth: depth + 1) ? () : nil
        }
        leaves = inside
        if depth > 1 || leaves.count == first { leaves.append((path, .object)) }
        return isObject != nil
    }

    private mutating func literal(_ length: Int, tag: UInt8) -> UInt64? {
        offset += length
        return offset <= text.count ? ValueDigest.hash(tag: tag) : nil
    }

    private mutating func hashOfArray(_ depth: Int) -> UInt64? {
        offset += 1
        var hash = ValueDigest.hash(tag: 6)
        if consume(UInt8(ascii: "]")) { return hash }
        while true {
            guard let element = self.hash(depth: depth + 1) else { return nil }
            hash = ValueDigest.mixed(hash, element)
            if consume(UInt8(ascii: ",")) { continue }
            return consume(UInt8(ascii: "]")) ? hash : nil
        }
    }

    private func hash(of range: Range<Int>, _ hasEscapes: Bool, _ start: UInt64) -> UInt64 {
        let raw = UnsafeBufferPointer(rebasing: text[range])
        guard hasEscapes else { return ValueDigest.hash(raw, start) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(raw.count)
        JSONEscape.decode(raw) { decoded.append($0) }
        return ValueDigest.hash(decoded, start)
    }
}
