/// Writes sort keys: bytes whose order is the order of the strings.
///
///     "Äa"    29 29            primaries, without their zero bytes
///             01 45 8A 06 …    secondaries after 01; runs of the common weight are one byte
///             01 DC …          tertiaries after 01, likewise
///
/// The bytes are those of ICU 72 for the root locale.
struct CollationKey {
    private let text: UnsafeBufferPointer<UInt8>
    private let table: CollationTable

    init(of text: UnsafeBufferPointer<UInt8>, in table: CollationTable) {
        self.text = text
        self.table = table
    }

    /// Appends the key, which contains no zero byte.
    func append(to bytes: inout [UInt8]) {
        let counts = appendPrimaries(to: &bytes)
        bytes.append(1)
        append(.secondary, commons: counts.secondary, to: &bytes)
        bytes.append(1)
        append(.tertiary, commons: counts.tertiary, to: &bytes)
    }

    /// Appends the primary weights. The first byte is omitted if the previous primary has the same one and it is
    /// shared. Where another first byte follows, 03 or FF comes between them to keep the order.
    ///
    /// Returns the number of common weights on each other level; `nil` for a level that also has other weights.
    private func appendPrimaries(to bytes: inout [UInt8]) -> (secondary: Int?, tertiary: Int?) {
        var elements = CollationElements(of: text, from: 0, in: table)
        var shared: UInt32 = 0
        var (secondary, tertiary) = (0, 0)
        var (isPlain, isLower) = (true, true)
        while case let element = elements.next(), element != 0 {
            switch element & 0xFFFF_0000 {
            case 0: break
            case 0x0500_0000: secondary += 1
            default: isPlain = false
            }
            switch element & 0xFFFF {
            case 0: break
            case 0x0500: tertiary += 1
            default: isLower = false
            }
            let primary = UInt32(element >> 32)
            guard primary > 0 else { continue }
            let first = UInt8(primary >> 24)
            let isShared = table.isShared[Int(first)]
            if !isShared || first != UInt8(shared >> 24) {
                if shared != 0 {
                    if primary > shared { bytes.append(0xFF) } else if first > 2 { bytes.append(3) }
                }
                bytes.append(first)
                shared = isShared ? primary : 0
            }
            var rest = primary << 8
            while rest != 0 {
                bytes.append(UInt8(rest >> 24))
                rest <<= 8
            }
        }
        return (isPlain ? secondary : nil, isLower ? tertiary : nil)
    }

    private func append(_ level: CollationLevel, commons: Int?, to bytes: inout [UInt8]) {
        if let commons { return level.append(commons: commons, isLower: true, to: &bytes) }
        var elements = CollationElements(of: text, from: 0, in: table)
        var run = 0
        while case let element = elements.next(), element != 0 {
            let weight = level.weight(of: element)
            if weight == 0 { continue }
            if weight == CollationLevel.common {
                run += 1
                continue
            }
            level.append(commons: run, isLower: weight < CollationLevel.common, to: &bytes)
            run = 0
            level.append(weight, to: &bytes)
        }
        level.append(commons: run, isLower: true, to: &bytes)
    }
}

// MARK: - CollationLevel

/// The way in which a sort key writes the weights of one level.
///
/// A run of the common weight is one byte, or several if it is long: from `low` upward if a lower weight or the end
/// follows, from `high` downward if a higher weight follows.
struct CollationLevel {
    static let secondary = CollationLevel(shift: 16, middle: 0x25, high: 0x45, longest: 0x21, lift: 0)
    /// Weights above the common one are moved beyond the bytes of its runs.
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

    /// An element's weight on this level; zero for none.
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
