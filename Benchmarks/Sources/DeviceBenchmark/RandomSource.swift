import Foundation

/// Random numbers that are the same for the same seed (SplitMix64).
struct RandomSource: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mixed(state)
    }

    /// A number from 0 up to but not including 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// How long something takes that takes so long on average, and may end at any moment.
    mutating func duration(mean: Double) -> Double { -mean * log(1 - fraction()) }

    static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
