#if os(Linux)
internal import SettlePlatform

/// Watches the network on a separate thread.
final class NetworkWatch: Sendable {
    /// The polling interval in seconds, if no source of notifications is available.
    private static let pause: UInt32 = 5

    private let body: @Sendable () -> Void

    /// - Parameter body: Called after each change.
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Starts watching. If no thread can be created, nothing is ever reported.
    func start() {
        try? SystemThread.detach { self.run() }
    }

    private func run() {
        let socket = RouteSocket()
        var (known, isTold) = (NetworkAddresses.now(), socket != nil)
        while true {
            var hasOtherWay = false
            if isTold, let told = socket?.wait() {
                hasOtherWay = told
            } else {
                isTold = false
                sleep(Self.pause)
            }
            let now = NetworkAddresses.now()
            guard hasOtherWay || now != known else { continue }
            known = now
            body()
        }
    }
}
#elseif canImport(Network)
internal import Dispatch
internal import Network

/// Watches the network.
final class NetworkWatch: Sendable {
    private let body: @Sendable () -> Void
    private let monitor = NWPathMonitor()

    /// - Parameter body: Called after each change.
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Starts watching.
    func start() {
        monitor.pathUpdateHandler = { [body] _ in body() }
        monitor.start(queue: DispatchQueue(label: "settle.network"))
    }
}
#endif
