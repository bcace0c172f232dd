import SettleTesting

extension SeededRandom {
    /// Spreads the bits of a number over all of its places.
    static func mix(_ number: UInt64) -> UInt64 {
        var random = SeededRandom(seed: number)
        return random.next()
    }

    /// Returns true with a probability in percent.
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
