/// Unicode's root collation: the elements of code points and contractions, unpacked.
///
///     entry of a code point     0             a formula gives the element: Hangul, or a code point without weights
///                               pppppp FF     one element: primary pppppp00 and common weights
///                               oooooo fc     elements from o on, c of them in five bits, and three flags
///     element                   primary (32 bits), secondary (16), tertiary (16)
///
/// Entries stand in pages of 256 code points; equal empty pages are one.
// Unchecked, no lock: written by `init` alone and immutable since.
final class CollationTable: @unchecked Sendable {
    /// The table of the process, unpacked when it is first needed.
    static let shared = CollationTable(unpacking: CollationData.packed)

    /// The secondary and tertiary weight of most elements.
    static let common: UInt64 = 0x0500_0500
    /// The code point has an entry of its own.
    static let isKnown: UInt32 = 0x20
    /// Contractions begin with the code point, or the code point before it matters.
    static let hasContext: UInt32 = 0x40
    /// The code point may belong to the code points before it.
    static let isAttached: UInt32 = 0x80

    private let pages: UnsafeMutablePointer<UInt16>
    private let entries: UnsafeMutablePointer<UInt32>
    private let elements: UnsafeMutablePointer<UInt64>
    /// Contractions, as steps from one code point to the next.
    let contractions: CollationContractions
    /// Whether a primary's first byte is written once for neighbours that share it.
    let isShared: [Bool]

    init(unpacking packed: StaticString) {
        var reader = CollationReader(packed)
        let parts = CollationParts(&reader)
        pages = Self.allocate(parts.pages)
        entries = Self.allocate(parts.entries)
        elements = Self.allocate(parts.elements)
        contractions = parts.contractions
        isShared = parts.isShared
    }

    deinit {
        pages.deallocate()
        entries.deallocate()
        elements.deallocate()
    }

    private static func allocate<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeMutablePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: max(values.count, 1))
        memory.initialize(from: values, count: values.count)
        return memory
    }

    /// The entry of a code point.
    @inline(__always)
    func entry(of point: UInt32) -> UInt32 {
        entries[Int(pages[Int(point >> 8)]) << 8 | Int(point & 0xFF)]
    }

    /// The elements from a place on.
    @inline(__always)
    func elements(from place: UInt32) -> UnsafePointer<UInt64> { UnsafePointer(elements + Int(place)) }

    /// The element of a code point without weights of its own: after all others, in the order of code points.
    static func unassigned(_ point: UInt32) -> UInt64 {
        let low = (point + 1) % 18 * 14 + 2
        let rest = (point + 1) / 18
        let primary = 0xFE00_0000 | (rest / 254 + 4) << 16 | (rest % 254 + 2) << 8 | low
        return UInt64(primary) << 32 | common
    }
}
