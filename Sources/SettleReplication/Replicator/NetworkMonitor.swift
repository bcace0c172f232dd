internal import SettleDatabase
internal import SettlePlatform

/// Reports when the network of this machine changes: an address is added or removed, or the default route changes.
///
/// It does not report whether a server can be reached, which only a request can find out. It reports when a retry
/// makes sense, and when working connections may have broken.
///
/// One thread of the process starts with the first listener. It listens to the kernel's messages on Linux, and to
/// `NWPathMonitor` on Apple's systems. If neither is available, it compares the addresses every few seconds.
final class NetworkMonitor: Sendable {
    /// The monitor of the process.
    static let shared = NetworkMonitor()

    /// A registration, which ends when it is released.
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
            let watch = NetworkWatch { [weak self] in self?.notify() }
            state.withLock { $0.watch = watch }
            watch.start()
        }
        return Listener(number, of: self)
    }

    private func forget(_ number: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: number) } }

    /// The number of listeners.
    var listenerCount: Int { state.withLock(\.listeners.count) }

    /// Notifies all listeners.
    func notify() { for body in state.withLock({ Array($0.listeners.values) }) { body() } }
}

// MARK: - NetworkAddresses

/// The addresses by which this machine communicates: those of running interfaces, without loopback and link-local ones.
struct NetworkAddresses: Hashable, Sendable {
    private static let isUp: UInt32 = 0x1
    private static let isLoopback: UInt32 = 0x8
    private static let isRunning: UInt32 = 0x40

    private let all: Set<[UInt8]>

    /// The current addresses; empty if they can't be listed.
    static func now() -> NetworkAddresses {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return NetworkAddresses(all: []) }
        defer { freeifaddrs(first) }
        var all: Set<[UInt8]> = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            let flags = entry.ifa_flags
            guard flags & isUp != 0, flags & isRunning != 0, flags & isLoopback == 0, let address = entry.ifa_addr,
                let bytes = bytes(of: address)
            else { continue }
            all.insert(Array(String(cString: entry.ifa_name).utf8) + [0] + bytes)
        }
        return NetworkAddresses(all: all)
    }

    private static func bytes(of address: UnsafeMutablePointer<sockaddr>) -> [UInt8]? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return Array(UnsafeRawBufferPointer(start: raw + 4, count: 4))
        case AF_INET6:
            let bytes = Array(UnsafeRawBufferPointer(start: raw + 8, count: 16))
            return bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 ? nil : bytes
        default: return nil
        }
    }
}
