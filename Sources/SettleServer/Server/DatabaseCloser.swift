internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Closes databases off the way of requests: a thread of its own holds the last reference.
///
/// What waits is bounded: when too many databases do, the caller closes its own, and so waits for the disk as well.
final class DatabaseCloser: Sendable {
    private let queue = DispatchQueue(label: "settle.closing")
    private let waiting = Guarded(0)
    private static let limit = 64

    /// Releases databases, which close once nobody else uses them.
    func close(_ databases: consuming [Database]) {
        let count = databases.count
        guard count > 0 else { return }
        let isTaken = waiting.withLock { waiting in
            guard waiting < Self.limit else { return false }
            waiting += count
            return true
        }
        guard isTaken else { return }
        let released = Guarded(databases)
        queue.async { [waiting] in
            while released.withLock({ $0.popLast() }) != nil { waiting.withLock { $0 -= 1 } }
        }
    }

    /// Waits until those that were passed have been released.
    func wait() { queue.sync {} }
}
