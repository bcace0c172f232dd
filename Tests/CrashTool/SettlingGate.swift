import Foundation

/// Lets threads change documents of their own concurrently, or one thread the documents of all.
///
/// Unchecked: the condition guards the mutable state.
final class SettlingGate: @unchecked Sendable {
    private let condition = NSCondition()
    private var sharing = 0
    private var waiting = 0
    private var isTaken = false

    /// Runs a closure that changes documents of its own thread.
    func shared(_ body: () throws -> Void) rethrows {
        condition.lock()
        while isTaken || waiting > 0 { condition.wait() }
        sharing += 1
        condition.unlock()
        defer {
            condition.lock()
            sharing -= 1
            condition.broadcast()
            condition.unlock()
        }
        try body()
    }

    /// Runs a closure that may change the documents of all threads.
    func alone(_ body: () throws -> Void) rethrows {
        condition.lock()
        waiting += 1
        while isTaken || sharing > 0 { condition.wait() }
        waiting -= 1
        isTaken = true
        condition.unlock()
        defer {
            condition.lock()
            isTaken = false
            condition.broadcast()
            condition.unlock()
        }
        try body()
    }
}
