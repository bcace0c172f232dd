internal import Synchronization

/// Whether the task was cancelled for which another thread works.
package final class Cancellation: Sendable {
    private let isCancelled = Atomic<Bool>(false)

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` if the task was cancelled.
    package func check() throws {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}
