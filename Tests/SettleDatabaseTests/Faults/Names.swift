import Settle
import SettlePlatform

/// A set of names that several threads add to.
final class Names: Sendable {
    private let names = Guarded<Set<String>>([])

    var all: Set<String> { names.withLock { $0 } }

    func add(_ name: String) { names.withLock { _ = $0.insert(name) } }
}
