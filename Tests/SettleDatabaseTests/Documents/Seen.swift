import Settle
import SettlePlatform

/// What closures have recorded, in order.
final class Seen: Sendable {
    private let words = Guarded<[String]>([])

    var all: [String] { words.withLock { $0 } }

    func note(_ word: String) { words.withLock { $0.append(word) } }
}
