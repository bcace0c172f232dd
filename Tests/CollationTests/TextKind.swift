/// A kind of random strings.
enum TextKind: String, CaseIterable, Sendable {
    case ascii, nearASCII, latin, latinWithMarks, belowKana, hangul, han, kana, contractions, contractionsWithMarks
    case thai, anything, planeOne, middleDot, long

    /// Two strings, which often begin alike or differ in one code point.
    func pair(_ generator: inout some RandomNumberGenerator) -> (String, String) {
        let count =
            self == .long ? Int.random(in: 50...300, using: &generator) : Int.random(in: 0...12, using: &generator)
        let left = points(count, &generator)
        var right = left
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: right = points(Int.random(in: 0...12, using: &generator), &generator)
        case 1: right.insert(contentsOf: points(1, &generator), at: Int.random(in: 0...left.count, using: &generator))
        case 2 where !left.isEmpty: right.remove(at: Int.random(in: 0..<left.count, using: &generator))
        default:
            right = left.prefix(Int.random(in: 0...left.count, using: &generator)) + points(3, &generator)
        }
        return (Self.text(left), Self.text(right))
    }

    private static func text(_ points: [UInt32]) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: points.compactMap(Unicode.Scalar.init))
        return String(text)
    }

    private func points(_ count: Int, _ generator: inout some RandomNumberGenerator) -> [UInt32] {
        (0..<count).flatMap { _ in unit(&generator) }
    }

    /// One to four code points that belong together.
    private func unit(_ generator: inout some RandomNumberGenerator) -> [UInt32] {
        func any(_ ranges: ClosedRange<UInt32>...) -> UInt32 {
            let range = ranges[Int.random(in: 0..<ranges.count, using: &generator)]
            return UInt32.random(in: range, using: &generator)
        }
        switch self {
        case .ascii: return [any(0...0x7F, 0x61...0x7A)]
        case .nearASCII: return [any(0x61...0x64, 0x41...0x44, 0xE0...0xE9, 0x2D...0x30)]
        case .latin: return [any(0x41...0x17F, 0x180...0x24F, 0x1E00...0x1EFF)]
        case .latinWithMarks: return [any(0x61...0x7A, 0x300...0x345, 0x300...0x36F)]
        case .belowKana: return [any(0...0x2FFF)]
        case .hangul: return [any(0xAC00...0xD7A3, 0x1100...0x11FF, 0x300...0x310, 0xA960...0xA97F, 0xD7B0...0xD7FF)]
        case .han: return [any(0x4E00...0x9FFF, 0x3400...0x4DBF, 0x20000...0x323AF, 0xF900...0xFAFF, 0x2F800...0x2FA1F)]
        case .kana: return [any(0x3041...0x30FF, 0x3041...0x30FF, 0x3099...0x309E, 0xFF65...0xFF9F)]
        case .thai: return [any(0xE00...0xE4F, 0xE80...0xEDF, 0xAA80...0xAADF, 0x1980...0x19DF)]
        case .anything, .long: return [any(0...0x10FFFF)]
        case .planeOne: return [any(0x10000...0x1FFFF, 0x11000...0x11FFF, 0x1D000...0x1D7FF)]
        case .middleDot:
            return [[any(0x6C...0x6C, 0x4C...0x4C, 0xB7...0xB7, 0x387...0x387, 0x300...0x302, 0x61...0x62)][0]]
        case .contractions, .contractionsWithMarks:
            guard let contraction = Self.examples.randomElement(using: &generator) else { return [] }
            if self == .contractions { return Bool.random(using: &generator) ? contraction : [any(0...0x2FFF)] }
            return contraction.flatMap { point in
                let marks = (0..<Int.random(in: 0...2, using: &generator)).map { _ in Self.mark(&generator) }
                return [point] + marks
            }
        }
    }

    private static func mark(_ generator: inout some RandomNumberGenerator) -> UInt32 {
        marks.randomElement(using: &generator) ?? 0x300
    }

    /// Marks of many combining classes, and such as begin or end contractions.
    private static let marks: [UInt32] = [
        0x300, 0x301, 0x302, 0x304, 0x306, 0x308, 0x314, 0x323, 0x327, 0x328, 0x334, 0x338, 0x342, 0x344, 0x345, 0x5B0,
        0x64B, 0x653, 0x654, 0x655, 0x93C, 0x94D, 0x9BE, 0xE38, 0xE48, 0xF39, 0xF71, 0xF72, 0xF73, 0xF74, 0xF75, 0xF7A,
        0xF80, 0xF81, 0xF84, 0x3099, 0x302A, 0x11099, 0x110BA, 0x11127, 0x1D165, 0x1D16D, 0x1E8D0,
    ]

    /// Contractions of the root collation, of each script that has some.
    private static let examples: [[UInt32]] = [
        [0x438, 0x306], [0x418, 0x306], [0x433, 0x301], [0x43A, 0x301], [0x456, 0x308], [0x475, 0x30F], [0x627, 0x653],
        [0x627, 0x654], [0x627, 0x655], [0x648, 0x654], [0x64A, 0x654], [0x9C7, 0x9BE], [0x9C7, 0x9D7], [0xB47, 0xB56],
        [0xB92, 0xBD7], [0xBC6, 0xBBE], [0xBC6, 0xBD7], [0xC46, 0xC56], [0xCBF, 0xCD5], [0xCC6, 0xCC2],
        [0xCC6, 0xCC2, 0xCD5], [0xCC6, 0xCD5], [0xD46, 0xD3E], [0xD47, 0xD3E], [0xDD9, 0xDCA], [0xDD9, 0xDCF],
        [0xDD9, 0xDCF, 0xDCA], [0xDD9, 0xDDF], [0xE40, 0xE01], [0xE44, 0xE2E], [0xEC0, 0xE81], [0xF71, 0xF72],
        [0xF71, 0xF74], [0xF71, 0xF80], [0xFB2, 0xF71, 0xF80], [0xFB2, 0xF80], [0xFB2, 0xF81], [0xFB3, 0xF71, 0xF80],
        [0xFB3, 0xF80], [0x1025, 0x102E], [0x1B05, 0x1B35], [0x19B5, 0x1980], [0xAAB5, 0xAA80], [0x11131, 0x11127],
        [0x11347, 0x1133E], [0x114B9, 0x114BA], [0x115B8, 0x115AF], [0x11935, 0x11930],
    ]
}
