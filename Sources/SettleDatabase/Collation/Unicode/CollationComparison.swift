/// Compares two texts in UTF-8 without building their keys.
struct CollationComparison {
    let left: UnsafeBufferPointer<UInt8>
    let right: UnsafeBufferPointer<UInt8>
    let table: CollationTable

    /// Below zero if the left text comes first, zero if they compare as equal, above zero otherwise.
    func order() -> Int {
        let start = equalStart()
        if start == left.count, start == right.count { return 0 }
        for shift in [32, 16, 0] as [UInt64] {
            let order = order(from: start, shift: shift, mask: shift == 32 ? 0xFFFF_FFFF : 0xFFFF)
            if order != 0 { return order }
        }
        return 0
    }

    /// Compares the weights of one level.
    @inline(__always)
    private func order(from start: Int, shift: UInt64, mask: UInt64) -> Int {
        var lefts = CollationElements(of: left, from: start, in: table)
        var rights = CollationElements(of: right, from: start, in: table)
        while true {
            let leftWeight = lefts.nextWeight(shift, mask)
            let rightWeight = rights.nextWeight(shift, mask)
            if leftWeight != rightWeight { return leftWeight < rightWeight ? -1 : 1 }
            if leftWeight == 0 { return 0 }
        }
    }

    /// How many bytes at the start are equal and can be skipped, because nothing after them belongs to them.
    private func equalStart() -> Int {
        let shorter = min(left.count, right.count)
        var start = 0
        while start < shorter, left[start] == right[start] { start += 1 }
        while start > 0, isAttached(left, start) || isAttached(right, start) { start -= 1 }
        return start
    }

    /// Whether a place is inside of a code point or in front of one that may belong to what stands before it.
    private func isAttached(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        guard place < text.count else { return false }
        if text[place] & 0xC0 == 0x80 { return true }
        var place = place
        let entry = table.entry(of: CollationElements.point(of: text, at: &place))
        return entry & 0xFF != 0xFF && entry & CollationTable.isAttached != 0
    }
}

extension CollationElements {
    /// The next weight of a level that is not zero; zero at the end.
    @inline(__always)
    fileprivate mutating func nextWeight(_ shift: UInt64, _ mask: UInt64) -> UInt64 {
        while case let element = next(), element != 0 {
            let weight = element >> shift & mask
            if weight != 0 { return weight }
        }
        return 0
    }
}
