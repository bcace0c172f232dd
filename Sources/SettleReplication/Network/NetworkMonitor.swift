internal import SettleDatabase
internal import SettlePlatform

/// Tells when the network of this machine changes: an address comes or goes, or the way out is another one.
///
/// It does not say whether a server can be reached, for nobody knows that but who tries; it says when trying again is
/// worth it, and when what seems to work may not work any more.
///
/// One thread of the process listens, from the first listener on: to the kernel's messages on Linux, to `NWPathMonitor` on
/// Apple's systems, and where neither is to be had it looks at the addresses every few seconds.
final class NetworkMonitor: Sendable {
    /// The process's.
    static let shared = NetworkMonitor()

    /// Hears of changes until it goes.
    final class Listener: Sendable {
        fileprivate let number: Int
        private let monitor: NetworkMonitor

        fileprivate init(_ number: Int, of monitor: NetworkMonitor) { (self.number, self.monitor) = (number, monitor) }

        deinit { monitor.forget(number) }
    }

    private struct State {
        var listeners: [Int: @Sendable () -> Void] = [:]
        var last = 0
        var watch: NetworkWatch?
    }

    private let state = Guarded(State())

    /// Has a function be called after each change, on another thread, as long as what is returned is kept. It must not wait.
    func listen(_ body: @escaping @Sendable () -> Void) -> Listener {
        let (number, isFirst) = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = body
            return (state.last, state.last == 1)
        }
        if isFirst {
            let watch = NetworkWatch { [weak self] in self?.tell() }
            state.withLock { $0.watch = watch }
            watch.start()
        }
        return Listener(number, of: self)
    }

    private func forget(_ number: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: number) } }

    /// How many listen.
    var listenerCount: Int { state.withLock(\.listeners.count) }

    /// Tells all who listen.
    func tell() { for body in state.withLock({ Array($0.listeners.values) }) { body() } }
}
