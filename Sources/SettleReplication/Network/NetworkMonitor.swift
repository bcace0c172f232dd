internal import SettleDatabase
internal import SettlePlatform

/// Reports when the network of this machine changes: an address is added or removed, or the default route changes.
///
/// It does not report whether a server can be reached, which only a request can find out. It reports when retrying is
/// worthwhile, and when working connections may have broken.
///
/// One thread of the process listens, from the first listener on: to the kernel's messages on Linux, to `NWPathMonitor`
/// on Apple's systems. If neither is available, it compares the addresses every few seconds.
final class NetworkMonitor: Sendable {
    /// The monitor of the process.
    static let shared = NetworkMonitor()

    /// Receives changes until it is released.
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

    /// Calls a function after each change, on another thread, as long as the returned listener is kept. It must not
    /// block.
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

    /// How many listeners there are.
    var listenerCount: Int { state.withLock(\.listeners.count) }

    /// Notifies all listeners.
    func tell() { for body in state.withLock({ Array($0.listeners.values) }) { body() } }
}
