import Foundation
import SettleTesting

extension SeededRandom {
    /// The seed of this run: from the environment, or a new one. `SETTLE_SEED=… swift test` repeats a failure.
    static let seed =
        ProcessInfo.processInfo.environment["SETTLE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
}
