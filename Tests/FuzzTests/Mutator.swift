import SettleTesting

/// Changes bytes at random, from a seed: flips, new values, cuts, repeats, and pieces of another input.
struct Mutator {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func mutate(_ bytes: [UInt8], with other: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0...random.below(3) {
            guard !result.isEmpty else { return other }
            let position = random.below(result.count)
            switch random.below(6) {
            case 0: result[position] ^= 1 << UInt8(random.below(8))
            case 1: result[position] = [0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x5C, 0x7B][random.below(8)]
            case 2: result.remove(at: position)
            case 3: result.insert(UInt8(random.below(256)), at: position)
            case 4: result.removeSubrange(position..<min(position + random.below(16), result.count))
            default:
                guard !other.isEmpty else { continue }
                let start = random.below(other.count)
                result.insert(contentsOf: other[start..<min(start + 1 + random.below(16), other.count)], at: position)
            }
        }
        return result
    }
}
