import Foundation

/// Random numbers that a seed brings back: `SETTLE_SEED=… swift test` repeats a failure.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The seed of this run: given by the environment, or a new one.
    static let seed =
        ProcessInfo.processInfo.environment["SETTLE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
