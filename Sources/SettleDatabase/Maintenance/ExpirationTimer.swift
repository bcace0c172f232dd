internal import Dispatch
internal import Synchronization

/// Calls a closure at the time the next document expires.
final class ExpirationTimer: Sendable {
    /// The number of the time that was set last; an older one that comes is ignored.
    private let newest = Mutex(0)

    /// Sets the time, in milliseconds from now; the one that was set before is dropped.
    func set(after milliseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        let number = renumber()
        let bounded = Int(min(max(milliseconds, 0), 24 * 3_600_000))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(bounded)) { [weak self] in
            if self?.newest.withLock({ $0 }) == number { action() }
        }
    }

    func cancel() { _ = renumber() }

    private func renumber() -> Int {
        newest.withLock { newest in
            newest += 1
            return newest
        }
    }
}
