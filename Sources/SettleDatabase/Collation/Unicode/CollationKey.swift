/// Writes sort keys: bytes whose order is that of the strings.
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

    /// Appends the primaries. A first byte that is shared with the primary before is not written; where another one
    /// follows, 03 or FF stands between them for the order.
    ///
    /// Returns how many common weights the other levels have, nil where they have others too.
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
