import Foundation

/// The seeds that property tests run with: a fixed list, or the one in the environment variable `SETTLE_SEED`.
///
/// A failing case prints its seed as its argument; `SETTLE_SEED=17 swift test --filter SettleCoreTests` runs
/// only that case.
enum Seeds {
    static let all: [UInt64] = {
        if let text = ProcessInfo.processInfo.environment["SETTLE_SEED"] {
            guard let seed = UInt64(text) else { fatalError("SETTLE_SEED is not a number: \(text)") }
            return [seed]
        }
        return Array(1...40)
    }()
}
