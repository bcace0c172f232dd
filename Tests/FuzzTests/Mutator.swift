/// Changes bytes at random, from a seed: flips, new values, cuts, repeats, and pieces of another input.
struct Mutator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func mutate(_ bytes: [UInt8], with other: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0...below(3) {
            guard !result.isEmpty else { return other }
            let position = below(result.count)
            switch below(6) {
            case 0: result[position] ^= 1 << UInt8(below(8))
            case 1: result[position] = [0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x5C, 0x7B][below(8)]
            case 2: result.remove(at: position)
            case 3: result.insert(UInt8(below(256)), at: position)
            case 4: result.removeSubrange(position..<min(position + below(16), result.count))
            default:
                guard !other.isEmpty else { continue }
                let start = below(other.count)
                result.insert(contentsOf: other[start..<min(start + 1 + below(16), other.count)], at: position)
            }
        }
        return result
    }

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(bound))
    }
}
