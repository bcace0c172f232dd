/// How a sort key writes the weights of one level.
///
/// A run of the common weight is one byte, or some for a long one: `low` and up where a lower weight or the end follows,
/// `high` and down where a higher one does.
struct CollationLevel {
    static let secondary = CollationLevel(shift: 16, middle: 0x25, high: 0x45, longest: 0x21, lift: 0)
    /// Weights above the common one are lifted out of the bytes of its runs.
    static let tertiary = CollationLevel(shift: 0, middle: 0x65, high: 0xC5, longest: 0x61, lift: 0xC000)

    /// The weight of most elements.
    static let common: UInt64 = 0x500

    private let shift: UInt64
    private let low = 5
    private let middle: UInt8
    private let high: Int
    private let longest: Int
    private let lift: UInt64

    private init(shift: UInt64, middle: UInt8, high: Int, longest: Int, lift: UInt64) {
        (self.shift, self.middle, self.high, self.longest, self.lift) = (shift, middle, high, longest, lift)
    }

    /// An element's weight of this level; zero for none.
    @inline(__always)
    func weight(of element: UInt64) -> UInt64 { element >> shift & 0xFFFF }

    /// Appends a run of the common weight.
    func append(commons: Int, isLower: Bool, to bytes: inout [UInt8]) {
        guard commons > 0 else { return }
        let (whole, rest) = (commons - 1).quotientAndRemainder(dividingBy: longest)
        bytes.append(contentsOf: repeatElement(middle, count: whole))
        bytes.append(UInt8(isLower ? low + rest : high - rest))
    }

    /// Appends another weight.
    func append(_ weight: UInt64, to bytes: inout [UInt8]) {
        let written = weight > Self.common ? weight + lift : weight
        bytes.append(UInt8(truncatingIfNeeded: written >> 8))
        if written & 0xFF != 0 { bytes.append(UInt8(truncatingIfNeeded: written)) }
    }
}
