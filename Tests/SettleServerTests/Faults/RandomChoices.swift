/// Pseudo-random choices that a seed reproduces (SplitMix64).
struct RandomChoices {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }

    /// Returns true once in `count` times on average.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }

    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }
}
