import Foundation
import SettlePlatform

@testable import SettlePostgres

/// A value that threads of a test change.
final class Log<Value: Sendable>: Sendable {
    private let guarded: Guarded<Value>

    init(_ value: Value) { guarded = Guarded(value) }

    var value: Value { guarded.withLock { $0 } }

    func update(_ body: @Sendable (inout Value) -> Void) { guarded.withLock { body(&$0) } }
}

/// A flag that one thread sets and others look at.
final class Flag: Sendable {
    private let guarded = Guarded(false)

    var isSet: Bool { guarded.withLock { $0 } }

    func set() { guarded.withLock { $0 = true } }
}

/// A connection that goes to another thread.
///
/// Unchecked, no lock: one thread makes it and one other uses it, after.
final class Lender: @unchecked Sendable {
    let value: PostgresConnection

    init(_ value: PostgresConnection) { self.value = value }
}

/// Runs a closure on so many threads at once, and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).compactMap { number in try? SystemThread { body(number) } }
    for thread in threads { thread.join() }
}
