/// The collation elements of a text in UTF-8, one after another.
struct CollationElements {
    let table: CollationTable
    let text: UnsafeBufferPointer<UInt8>
    /// Where the next code point begins.
    var place: Int
    /// Marks that a contraction passed over, which come before the rest of the text.
    var passed: ArraySlice<UInt32> = []
    private var run: UnsafePointer<UInt64>
    private var runCount = 0
    /// The Jamo of a syllable that are still to come, sixteen bits each.
    private var jamo: UInt64 = 0

    init(of text: UnsafeBufferPointer<UInt8>, from place: Int, in table: CollationTable) {
        self.text = text
        self.place = place
        self.table = table
        run = table.elements(from: 0)
    }

    /// The next element; zero at the end.
    @inline(__always)
    mutating func next() -> UInt64 {
        while runCount == 0 {
            guard let point = nextPoint() else { return 0 }
            let entry = table.entry(of: point)
            if entry & 0xFF == 0xFF { return UInt64(entry & 0xFFFF_FF00) << 32 | CollationTable.common }
            if entry & CollationTable.hasContext != 0 {
                takeContext(of: point, entry)
            } else if entry != 0 {
                take(CollationRun(place: entry >> 8, count: Int(entry & 31)))
            } else if point >= 0xAC00, point <= 0xD7A3 {
                takeHangul(point - 0xAC00)
            } else {
                return CollationTable.unassigned(point)
            }
        }
        runCount -= 1
        defer { run += 1 }
        return run.pointee
    }

    /// Continues with elements of the table.
    @inline(__always)
    mutating func take(_ new: CollationRun) {
        run = table.elements(from: new.place)
        runCount = new.count
    }

    @inline(__always)
    private mutating func nextPoint() -> UInt32? {
        if jamo != 0 {
            defer { jamo >>= 16 }
            return UInt32(jamo & 0xFFFF)
        }
        if !passed.isEmpty { return passed.removeFirst() }
        guard place < text.count else { return nil }
        return Self.point(of: text, at: &place)
    }

    /// A syllable has the elements of its two or three Jamo.
    private mutating func takeHangul(_ index: UInt32) {
        let last = index % 28 == 0 ? 0 : 0x11A7 + index % 28
        jamo = UInt64(0x1100 + index / 588) | UInt64(0x1161 + index % 588 / 28) << 16 | UInt64(last) << 32
    }

    /// The code point at a place, which moves behind it.
    @inline(__always)
    static func point(of text: UnsafeBufferPointer<UInt8>, at place: inout Int) -> UInt32 {
        let first = UInt32(text[place])
        if first < 0x80 {
            place += 1
            return first
        }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var point = first & (0x7F >> UInt32(length))
        for index in 1..<length { point = point << 6 | UInt32(text[place + index] & 0x3F) }
        place += length
        return point
    }
}
